import {LIMITS} from './rule.ts';

/** A redacted range: offsets from `start` to `end` in the file, and its replacement. */
export interface RedactedRange {
  start: number;
  end: number;
  rule: string;
  instead: string;
  /** Whether the value is a known secret, which is more specific than any rule. */
  known: boolean;
}

/** The longer range gives its name; the rest of a value has none. */
const longer = (one: RedactedRange, other: RedactedRange): RedactedRange =>
  one.instead === '' || (other.instead !== '' && other.end - other.start > one.end - one.start)
    ? other
    : one;

/** A known value gives the name of two ranges that overlap. */
function better(before: RedactedRange, range: RedactedRange): RedactedRange {
  if (before.known === range.known) return longer(before, range);
  return before.known ? before : range;
}

/** Ranges in order; overlapping ones are merged, and known values define the name. */
export class Ranges {
  #all: RedactedRange[] = [];
  #last = {start: 0, end: 0};

  add(range: RedactedRange): void {
    this.#all.push(range);
    if (!range.known && range.end > this.#last.end) this.#last = range;
  }

  /** Whether the last range of a rule holds this place. */
  covers(position: number): boolean {
    return this.#last.start <= position && position < this.#last.end;
  }

  /** Merges ranges, and returns how far the file can be written: not into a range that can still grow, unless it is too long. */
  settle(end: number): number {
    const merged: RedactedRange[] = [];
    for (const range of this.#all.toSorted((one, other) => one.start - other.start)) {
      const before = merged.at(-1);
      if (before === undefined || before.end <= range.start) merged.push(range);
      else {
        merged[merged.length - 1] = {
          ...better(before, range),
          start: before.start,
          end: Math.max(before.end, range.end),
        };
      }
    }
    this.#all = merged;
    const open = merged.find((each) => each.start < end && each.end > end);
    return open === undefined || end - open.start > 2 * LIMITS.ahead ? end : open.start;
  }

  /** Removes ranges that start before `end`; the rest of a longer one remains and is not reported again. */
  take(end: number): RedactedRange[] {
    const taken = this.#all.filter(({start}) => start < end);
    const rest = taken.at(-1);
    this.#all = this.#all.slice(taken.length);
    if (rest !== undefined && rest.end > end)
      this.#all.unshift({...rest, start: end, instead: '', rule: ''});
    return taken.map((each) => ({...each, end: Math.min(each.end, end)}));
  }
}
