import type {Block, BundleData, BundleFile} from './bundle-data.ts';

/** Levels of lines in ascending order; `absent` marks lines that only the zip has. */
export const LEVELS = ['none', 'debug', 'info', 'warning', 'error', 'absent'] as const;
export const [NONE, DEBUG, INFO, WARNING, ERROR, ABSENT] = [0, 1, 2, 3, 4, 5] as const;

/** A log with its place among all lines. */
export interface IndexedLog {
  file: BundleFile;
  /** Number of its first line among all lines. */
  start: number;
}

export interface LinePlace {
  log: IndexedLog;
  block: Block;
  /** In the block. */
  row: number;
  /** 1-based in the file. */
  line: number;
}

/** Time and level of every line of several files. */
export class LogIndex {
  readonly logs: readonly IndexedLog[];
  readonly times: Float64Array;
  readonly levels: Uint8Array;
  #order: Uint32Array | undefined;

  constructor(files: readonly BundleFile[]) {
    let total = 0;
    this.logs = files.map((file) => {
      const start = total;
      total += file.lines;
      return {file, start};
    });
    this.times = new Float64Array(total).fill(Number.NaN);
    this.levels = new Uint8Array(total);
  }

  placeOf(id: number): LinePlace {
    let low = 0;
    let high = this.logs.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.logs[middle] as IndexedLog).start <= id) low = middle;
      else high = middle - 1;
    }
    const log = this.logs[low] as IndexedLog;
    let row = id - log.start;
    const block = log.file.blocks.find(({lines}) => {
      if (row < lines) return true;
      row -= lines;
      return false;
    }) as Block;
    return {log, block, row, line: id - log.start + 1};
  }

  /** All lines by time; lines without time stay behind the line before them. */
  get order(): Uint32Array {
    if (this.#order !== undefined) return this.#order;
    const {times} = this;
    this.#order = new Uint32Array(times.length);
    for (let id = 0; id < times.length; id += 1) this.#order[id] = id;
    this.#order.sort(
      (one, other) => (times[one] as number) - (times[other] as number) || one - other,
    );
    return this.#order;
  }
}

/** Reads time and level of all lines. */
export async function indexOf(
  data: BundleData,
  files: readonly BundleFile[],
  onProgress: (done: number, all: number) => void = () => undefined,
): Promise<LogIndex> {
  const index = new LogIndex(files);
  const {times, levels} = index;
  let shown = performance.now();
  for (const {file, start} of index.logs) {
    let id = start;
    let time = 0;
    for (const block of file.blocks) {
      const lines = await data.linesOnce(block);
      if (block.packed === undefined) levels.fill(ABSENT, id, id + block.lines);
      for (let row = 0; row < block.lines; row += 1) {
        const text = lines[row] ?? '';
        time = timeOf(text) ?? time;
        times[id + row] = time;
        if (block.packed !== undefined) levels[id + row] = levelOf(text);
      }
      id += block.lines;
      if (performance.now() - shown > 100) {
        onProgress(id, times.length);
        await new Promise((resolve) => setTimeout(resolve));
        shown = performance.now();
      }
    }
    firstTimes(times, start, start + file.lines);
  }
  return index;
}

/** Lines before the first time have that time. */
function firstTimes(times: Float64Array, from: number, to: number): void {
  let first = from;
  while (first < to && times[first] === 0) first += 1;
  times.fill(first < to ? (times[first] as number) : 0, from, first);
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)/;
let lastSecond = '';
let lastTime = 0;

/** Milliseconds; undefined if the line does not start with a time. */
export function timeOf(text: string): number | undefined {
  // Lines of one second are parsed once: a log has a million lines.
  const second = text.slice(0, 19);
  if (second !== lastSecond) {
    const parsed = TIME.test(text) ? Date.parse(`${second}Z`) : Number.NaN;
    if (Number.isNaN(parsed)) return undefined;
    [lastSecond, lastTime] = [second, parsed];
  }
  const rest = text.charCodeAt(19);
  if (rest === 0x5a) return lastTime;
  if (rest !== 0x2e)
    return TIME.test(text) ? Date.parse((TIME.exec(text) as RegExpExecArray)[0]) : undefined;
  return lastTime + Number(`0${/^\.\d+/.exec(text.slice(19, 30))?.[0]}`) * 1000;
}

/** Text after the time that the kubelet, Docker or the journal adds. */
export const withoutTime = (text: string): string => {
  const found = TIME.exec(text);
  return found === null ? text : text.slice(found[0].length).replace(/^ /, '');
};

const LEVEL =
  /"level(?:name)?":\s*"(\w+)"|\b(FATAL|CRITICAL|PANIC|ERROR|WARN|WARNING|INFO|DEBUG|TRACE)\b|\blevel=(\w+)|\b(Traceback) \(|\w(Error|Exception): |^\S+ ([EWIF])\d{4} |^(panic): /;
const RANKS: Readonly<Record<string, number>> = {
  fatal: ERROR,
  critical: ERROR,
  panic: ERROR,
  error: ERROR,
  traceback: ERROR,
  exception: ERROR,
  e: ERROR,
  f: ERROR,
  warn: WARNING,
  warning: WARNING,
  w: WARNING,
  info: INFO,
  i: INFO,
  debug: DEBUG,
  trace: DEBUG,
};
/** The level of a line is near its start. */
const HEAD = 400;

export function levelOf(text: string): number {
  const found = LEVEL.exec(text.length > HEAD ? text.slice(0, HEAD) : text);
  const word = found?.slice(1).find((each) => each !== undefined);
  return word === undefined ? NONE : (RANKS[word.toLowerCase()] ?? NONE);
}
