/** A text with this many blanks less at the start of its lines. */
export const dedent = (text: string, column: number): string => text.replaceAll(new RegExp(`(?<=^|\\n) {0,${column}}`, 'g'), '');

/** A text with this many blanks more at the start of its filled lines. */
export const indent = (text: string, column: number): string => text.trimEnd().replaceAll(/(?<=^|\n)(?=[^\n])/g, ' '.repeat(column));

/** The smallest indentation of a text. */
export const columnOf = (text: string): number => {
  const columns = text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.search(/\S/)]));
  return columns.length > 0 ? Math.min(...columns) : 0;
};
