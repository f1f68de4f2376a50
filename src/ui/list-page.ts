import width from 'fast-string-width';

/** The visible part of a list. */
export interface ListPage {
  text: string;
  /** Number of rows above and below it. */
  above: number;
  below: number;
}

/** The rows that fit into `lines`, with the active row in the middle if possible. A row may have several lines. */
export function pageOf(rows: readonly string[], active: number, {lines, columns}: {lines: number; columns: number}): ListPage {
  const heightOf = (index: number): number =>
    rows[index]?.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(width(line) / columns)), 0) ?? Number.POSITIVE_INFINITY;
  const middle = Math.max(active, 0);
  let [first, last] = [middle, middle];
  let left = lines - heightOf(middle);
  for (;;) {
    const [fitsAbove, fitsBelow] = [heightOf(first - 1) <= left, heightOf(last + 1) <= left];
    if (!fitsAbove && !fitsBelow) break;
    if (fitsAbove && (!fitsBelow || middle - first < last - middle)) left -= heightOf(--first);
    else left -= heightOf(++last);
  }
  const text = rows.slice(first, last + 1).join('\n');
  return {text: text.split('\n').slice(0, lines).join('\n'), above: first, below: Math.max(0, rows.length - 1 - last)};
}
