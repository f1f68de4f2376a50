/** A table; what stands in a cell has no line breaks. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map(cell).join(' | ')} |`)
    .join('\n');

const cell = (text: string): string => safe(text).replaceAll('|', '\\|').replaceAll('\n', ' ');

/** A text in which `<account>` is no element of HTML; code and addresses stay. */
export const safe = (text: string): string =>
  text.replaceAll(/(`[^`]*`)|<(?!https?:)/g, (_, code?: string) => code ?? '&lt;');
