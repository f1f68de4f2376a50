import {isErrorText, isHarmless, isProse, looksChosen} from './harmless.ts';
import type {Key} from './key-names.ts';
import {type Extent, LIMITS, NOTHING} from './rule.ts';

const MOST_ROWS = 200;
/** What separates the cells of a row. In a table of columns, a cell begins where its heading begins. */
const SEPARATORS = [
  /[ \t]*(?:\||\u00e2\u0094\u0082)[ \t]*/g,
  /\t|\\t/g,
  /[ \t]*,[ \t]*/g,
  /;/g,
  /[ \t]{2,}/g,
];
const HEADING = /^["'`]?[A-Za-z][\w .-]{0,40}["'`]?$/;
const RULER = /^[\s|+=:\u0080-\u00e2-]+$/;
/** The names of columns in SQL, and the rows of values. */
const INSERT = /\binto\s[^()\n]{1,200}\(([^()\n]{0,400})$/i;
const VALUES = /\)\s*values\s*/iy;
const TUPLE = /\((?:'(?:[^'\n]|'')*'|[^()'\n]){1,2000}\)[\s,]*/y;
const CELL = /[ \t]*(?:'((?:[^'\n]|'')*)'|([^,()'\n]*))[ \t]*[,)]/y;

interface Cell extends Extent {
  text: string;
}

/** The values below the heading of a column that is the name of a secret, in CSV, Markdown, psql, columns of kubectl, and SQL. */
export function secretsOfColumn(text: string, key: Key, before: string): readonly Extent[] {
  const isHidden = ({text: value}: Cell): boolean =>
    value.length > 2 &&
    !isHarmless(value) &&
    (/pass|pw/i.test(key.text) ? !isErrorText(value) : looksChosen(value) || !isProse(value));
  const names = INSERT.exec(before)?.[1];
  if (names !== undefined)
    return valuesOfInsert(text, key.end, names.split(',').length - 1).filter(isHidden);
  const start = text.lastIndexOf('\n', key.start) + 1;
  if (key.start - start > 400) return NOTHING;
  for (const separator of SEPARATORS) {
    const cells = cellsOf(text, start, separator);
    const column = cells.findIndex((cell) => cell.start <= key.start && key.end <= cell.end);
    const isTable =
      cells.length > 1 &&
      cells[column]?.text.replace(/["'`]/g, '').toLowerCase() === key.text.toLowerCase() &&
      cells.every(({text: heading}) => heading === '' || HEADING.test(heading));
    if (isTable) return columnBelow(text, cells, column, separator).filter(isHidden);
  }
  return NOTHING;
}

function cellsOf(text: string, start: number, separator: RegExp): Cell[] {
  const newline = text.indexOf('\n', start);
  const line = text.slice(start, newline === -1 ? text.length : newline).replace(/\r$/, '');
  const cells: Cell[] = [];
  let from = 0;
  for (const {0: gap, index} of [...line.matchAll(separator), {0: '', index: line.length}]) {
    const content = line.slice(from, index);
    const [, indent = '', value = ''] = /^([\s"']*)(.*?)["'\s]*$/.exec(content) ?? [];
    const at = start + from + indent.length;
    cells.push({start: at, end: at + value.length, text: value});
    from = index + gap.length;
  }
  return cells;
}

function columnBelow(
  text: string,
  headings: readonly Cell[],
  column: number,
  separator: RegExp,
): Cell[] {
  const found: Cell[] = [];
  const isAligned = separator === SEPARATORS.at(-1);
  const heading = headings[column] as Cell;
  const offset = heading.start - (text.lastIndexOf('\n', heading.start) + 1);
  let start = text.indexOf('\n', heading.end) + 1;
  for (
    let row = 0;
    row < MOST_ROWS && start > 0 && start - heading.end < LIMITS.ahead / 2;
    row += 1
  ) {
    const cells = cellsOf(text, start, separator);
    const isRuler = RULER.test(text.slice(start, cells.at(-1)?.end));
    const isRow = cells.length === headings.length;
    const cell =
      isAligned && !isRow ? cells.find((each) => each.start === start + offset) : cells[column];
    if (!isRuler && (cell === undefined || (!isAligned && !isRow))) break;
    if (!isRuler && cell !== undefined) found.push(cell);
    start = text.indexOf('\n', start) + 1;
  }
  return found;
}

function valuesOfInsert(text: string, end: number, column: number): Cell[] {
  const found: Cell[] = [];
  const close = text.indexOf(')', end);
  VALUES.lastIndex = close;
  const values = close === -1 ? null : VALUES.exec(text);
  TUPLE.lastIndex = values === null ? text.length : close + values[0].length;
  for (let tuple = TUPLE.exec(text); tuple !== null; tuple = TUPLE.exec(text)) {
    CELL.lastIndex = tuple.index + 1;
    let cell: RegExpExecArray | null = null;
    for (let at = 0; at <= column; at += 1) cell = CELL.exec(text);
    const value = cell?.[1] ?? cell?.[2] ?? '';
    const start = cell === null ? 0 : cell.index + cell[0].indexOf(value);
    found.push({start, end: start + value.length, text: value});
  }
  return found;
}
