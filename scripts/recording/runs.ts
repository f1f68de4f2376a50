import type {IBufferCell, IBufferLine} from '@xterm/headless';

/** Neighboring characters that look alike. */
export interface Run {
  column: number;
  text: string;
  /** CSS classes: `b` bold, `d` dim, `c1` and so on a color of the palette. */
  style: string;
}

/** Gaps begin a new run, and so does the character behind a symbol: fonts do not agree on how wide those are. */
export function runsOf(line: IBufferLine | undefined): Run[] {
  const runs: Run[] = [];
  let gap = Number.POSITIVE_INFINITY;
  for (let column = 0; column < (line?.length ?? 0); column++) {
    const cell = line?.getCell(column);
    const text = cell?.getChars() ?? '';
    if (cell === undefined || text.trim() === '') {
      gap++;
      continue;
    }
    const last = runs.at(-1);
    const style = styleOf(cell);
    const isPlain = /^[ -~]*$/.test(`${last?.text.at(-1)}${text}`);
    if (last !== undefined && gap < 2 && last.style === style && isPlain)
      last.text += `${' '.repeat(gap)}${text}`;
    else runs.push({column, text, style});
    gap = 0;
  }
  return runs;
}

const styleOf = (cell: IBufferCell): string =>
  [
    cell.isBold() ? 'b' : '',
    cell.isDim() ? 'd' : '',
    cell.isFgPalette() ? `c${cell.getFgColor()}` : '',
  ]
    .filter(Boolean)
    .join(' ');
