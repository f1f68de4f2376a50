export interface Shape {
  class: string;
  /** Lines with placeholders: `{password}`, a second one `{password#2}`, in another form `{password|url}`. */
  template: string;
  /** Nothing tells that the value is a secret. */
  limit: boolean;
}

const LIMIT = '(limit) ';

/** One shape a line; `⏎` is a line break and `⇥` a tab in it. */
export function shapes(name: string, table: string): Shape[] {
  const rows = table.split('\n').filter((row) => row.trim());
  return rows.map((row) => ({
    class: name,
    template: (row.startsWith(LIMIT) ? row.slice(LIMIT.length) : row)
      .replaceAll('⏎', '\n')
      .replaceAll('⇥', '\t'),
    limit: row.startsWith(LIMIT),
  }));
}
