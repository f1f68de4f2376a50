import width from 'fast-string-width';

interface Rows {
  rows: string[];
  /** Where the cursor is in them. */
  row: number;
  column: number;
}

/** A text in rows of that width, broken anywhere, and where its character number `cursor` stands. */
export function rowsOf(text: string, cursor: number, columns: number): Rows {
  const rows = [''];
  let [used, at] = [0, 0];
  let place = {row: 0, column: 0};
  for (const sign of shownSafely(text)) {
    const wide = width(sign);
    if (used + wide > columns) {
      rows.push('');
      used = 0;
    }
    if (at <= cursor) place = {row: rows.length - 1, column: used};
    rows[rows.length - 1] += sign;
    used += wide;
    at += sign.length;
  }
  if (at <= cursor) {
    if (used === columns) rows.push('');
    place = {row: rows.length - 1, column: used === columns ? 0 : used};
  }
  return {rows, ...place};
}

/** A pasted tab or escape sequence moves no cursor. */
const shownSafely = (text: string): string => text.replace(/\p{Cc}/gu, ' ');

const MOST = 4;

/** The rows around the cursor, where there are more than a screen has room for. */
export function fewRows({rows, row, column}: Rows): Rows {
  const start = Math.max(0, row - MOST + 1);
  return {rows: rows.slice(start, start + MOST), row: row - start, column};
}
