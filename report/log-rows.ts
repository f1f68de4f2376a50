import type {BundleData} from './bundle-data.ts';
import {ABSENT, type LogIndex} from './log-index.ts';

export interface LogFilter {
  /** Lowest level. */
  level: number;
  /** Milliseconds. */
  from: number;
  to: number;
  /** Only lines that match the search. */
  isOnlyMatches: boolean;
}

/** Lines to show, in order; of lines that only the zip has, the first stands for all. */
export function rowsOf(
  index: LogIndex,
  {level, from, to, isOnlyMatches}: LogFilter,
  matches: Matches | undefined,
): Uint32Array {
  const {times, levels} = index;
  const source = index.logs.length > 1 ? index.order : undefined;
  const rows = new Uint32Array(times.length);
  let count = 0;
  for (let place = 0; place < times.length; place += 1) {
    const id = source === undefined ? place : (source[place] as number);
    const time = times[id] as number;
    if (time < from || time > to) continue;
    if (levels[id] === ABSENT) {
      if (level > 0 || isOnlyMatches || (place > 0 && levels[id - 1] === ABSENT)) continue;
    } else if ((levels[id] as number) < level || (isOnlyMatches && matches?.flags[id] !== 1))
      continue;
    rows[count] = id;
    count += 1;
  }
  return rows.subarray(0, count);
}

/** Lines that match a search. */
export interface Matches {
  flags: Uint8Array;
  count: number;
  isComplete: boolean;
}

/** A pattern as it was typed; a text that is no regular expression is searched as text. */
export function patternOf(query: string): RegExp | undefined {
  if (query === '') return undefined;
  const flags = query === query.toLowerCase() ? 'gi' : 'g';
  try {
    return new RegExp(query, flags);
  } catch {
    return new RegExp(query.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), flags);
  }
}

/** Milliseconds between two reports. */
const REPORT_MS = 60;

/** Searches all lines, and reports matches while it goes on. */
export async function search(
  {data, index}: {data: BundleData; index: LogIndex},
  pattern: RegExp,
  signal: AbortSignal,
  report: (matches: Matches) => void,
): Promise<void> {
  const flags = new Uint8Array(index.times.length);
  const test = new RegExp(pattern.source, pattern.flags.replace('g', ''));
  let count = 0;
  let reported = performance.now();
  for (const {file, start} of index.logs) {
    let id = start;
    for (const block of file.blocks) {
      const lines = await data.linesOnce(block);
      if (signal.aborted) return;
      for (let row = 0; row < lines.length; row += 1) {
        if (!isMatch(test, lines[row] as string)) continue;
        flags[id + row] = 1;
        count += 1;
      }
      id += block.lines;
      if (performance.now() - reported > REPORT_MS) {
        report({flags, count, isComplete: false});
        await new Promise((resolve) => setTimeout(resolve));
        reported = performance.now();
      }
    }
  }
  report({flags, count, isComplete: true});
}

/** Characters that a pattern sees at once, because patterns such as \w+Error take the square of the time; and overlap of two parts. */
const PART = 1024;
const OVERLAP = 256;

function isMatch(test: RegExp, line: string): boolean {
  for (let start = 0; start === 0 || start + OVERLAP < line.length; start += PART - OVERLAP) {
    if (test.test(line.slice(start, start + PART))) return true;
  }
  return false;
}

/** First row at or after a time; rows without filter are nearly in order. */
export function rowAt(index: LogIndex, rows: Uint32Array, time: number): number {
  const found = rows.findIndex((id) => (index.times[id] as number) >= time);
  return found === -1 ? rows.length - 1 : found;
}
