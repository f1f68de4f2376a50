import {type Screen, theme} from './theme.ts';

/** Rows in columns, as kubectl prints tables; the first one is the heading. */
export function columnsText(rows: readonly (readonly string[])[], screen: Screen): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length))) ?? [];
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('   ')
      .trimEnd(),
  );
  return lines.map((line, index) => `${index === 0 ? theme(screen).bold(line) : line}\n`).join('');
}
