import {matchAt} from '../../../ground/token-shapes.ts';
import {randomStrings} from './harmless.ts';
import {LIMITS, startBatch} from './rule.ts';
import type {FoundSecret, Scanner} from './scanner.ts';
import {type Removed, Wrappers} from './structure.ts';

const NONE = Buffer.alloc(0);

/**
 * Redacts one file as a stream. It holds back bytes that can be part of an unfinished secret, at most MOST_HELD bytes. It scans at fixed
 * offsets of the file, so the result does not depend on chunk boundaries.
 */
export class FileRedactor {
  readonly counts: Record<string, number> = {};
  /** Scanned bytes, to test that none is scanned repeatedly. */
  work = 0;
  readonly #scanner: Scanner;
  readonly #ranges = new Ranges();
  readonly #wrappers = new Wrappers();
  /** Reused buffer for held bytes, to avoid a new buffer per batch. */
  #room = NONE;
  /** Text that is scanned; `#base` is its offset in the file, `#written` the end of the written part. */
  #held = NONE;
  /** Bytes at its end that were not scanned. */
  #gathered = 0;
  #base = 0;
  #written = 0;
  #scanned = 0;
  #state = 0;
  #last = {end: -1, instead: ''};
  /** Set while a value of unlimited length is skipped: the characters that end it. */
  #skipping: RegExp | undefined;

  constructor(scanner: Scanner) {
    this.#scanner = scanner;
  }

  get heldBytes(): number {
    return this.#held.length;
  }

  push(chunk: Buffer): Buffer {
    return this.#gather(this.#wrappers.push(chunk));
  }

  #gather(chunk: Buffer): Buffer {
    const written: Buffer[] = [];
    for (let from = 0; from < chunk.length; ) {
      const part = chunk.subarray(from, from + LIMITS.batch - this.#gathered);
      // A copy, because the caller may reuse the chunk.
      this.#hold(part);
      from += part.length;
      if (this.#gathered === LIMITS.batch) written.push(this.#advance(false));
    }
    return written.length === 1 ? (written[0] as Buffer) : Buffer.concat(written);
  }

  /** Releases the buffer: a bundle has thousands of files. */
  end(): Buffer {
    const written = Buffer.concat([this.#gather(this.#wrappers.end()), this.#advance(true)]);
    this.#room = this.#held = NONE;
    return written;
  }

  /** Placeholder of a value in an object that is not written yet. */
  readonly hide = (value: string): string => {
    this.#count('variable');
    return this.#scanner.nameOf(Buffer.from(value, 'utf8').toString('latin1'));
  };

  #hold(part: Buffer): void {
    const length = this.#held.length + part.length;
    if (length > this.#room.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#room.length));
      this.#held.copy(larger);
      this.#room = larger;
    }
    part.copy(this.#room, this.#held.length);
    this.#held = this.#room.subarray(0, length);
    this.#gathered += part.length;
  }

  #advance(last: boolean): Buffer {
    this.#gathered = 0;
    startBatch();
    const length = this.#held.length;
    const text = this.#held.toString('latin1');
    const limit = last ? length : length - LIMITS.ahead;
    this.#findKnown(limit);
    while (this.#skipping === undefined || this.#skip(text)) {
      this.#scan(text, limit);
      if (this.#skipping === undefined) break;
    }
    const scanned =
      this.#base + (last ? length : Math.max(0, this.#scanned - this.#base - LIMITS.behind));
    const ready = this.#ranges.settle(this.#skipping === undefined ? scanned : this.#base + length);
    const written = this.#write(Math.max(this.#written, ready));
    // Rules look back at written text.
    const keep = Math.max(this.#base, Math.min(this.#written, this.#scanned - LIMITS.behind));
    this.#room.copyWithin(0, keep - this.#base, length);
    this.#held = this.#room.subarray(0, length - (keep - this.#base));
    this.#base = keep;
    return written;
  }

  #findKnown(limit: number): void {
    this.#scanner.findKnown(this.#held, this.#written - this.#base, limit, (found) =>
      this.#add(found),
    );
  }

  /** Finds the anchors of rules and random strings up to `limit`; stops at a value of unlimited length. */
  #scan(text: string, limit: number): void {
    const bytes = this.#held;
    const {automaton, rulesAt, isStrict, nameOf} = this.#scanner;
    const {table, classes, accepting} = automaton;
    const covered = (position: number): boolean => this.#ranges.covers(this.#base + position);
    const from = this.#scanned - this.#base;
    let state = this.#state;
    let position = from;
    this.work += Math.max(0, limit - from);
    while (position < limit && this.#skipping === undefined) {
      state = table[state + (classes[bytes[position] as number] as number)] as number;
      position += 1;
      if (state < accepting) continue;
      for (const found of rulesAt(text, state, position, covered)) this.#add(found);
    }
    for (const extent of randomStrings(bytes, text, from, position, isStrict)) {
      const {start, end} = extent;
      this.#add({
        ...extent,
        rule: 'random string',
        instead: nameOf(text.slice(start, end)),
        known: false,
      });
    }
    this.#state = state;
    if (this.#skipping === undefined) this.#scanned = this.#base + Math.max(position, from);
  }

  #add({start, end, rule, instead, known, unended}: FoundSecret): void {
    this.work += end - start;
    const from = Math.max(this.#base + start, this.#written);
    if (this.#base + end > from)
      this.#ranges.add({start: from, end: this.#base + end, rule, instead, known});
    if (unended === undefined) return;
    this.#skipping = unended;
    [this.#scanned, this.#state] = [this.#base + end, 0];
  }

  /** Skips a value of unlimited length; true at its end. */
  #skip(text: string): boolean {
    const found = matchAt(this.#skipping as RegExp, text, this.#scanned - this.#base);
    const end = this.#base + (found?.index ?? text.length);
    if (end > this.#scanned)
      this.#ranges.add({start: this.#scanned, end, rule: '', instead: '', known: false});
    this.#scanned = end;
    if (found !== undefined) this.#skipping = undefined;
    return found !== undefined;
  }

  #write(end: number): Buffer {
    const out: Buffer[] = [];
    for (const range of this.#ranges.take(end)) {
      this.#writePlain(range.start, out);
      out.push(this.#placeholder(range));
      this.#written = range.end;
      // Colors and times inside of a secret are gone with it.
      const {removed} = this.#wrappers;
      const next = removed.findIndex(({at}) => at >= range.end);
      removed.splice(0, next === -1 ? removed.length : next);
    }
    this.#writePlain(end, out);
    return Buffer.concat(out);
  }

  /** Writes text that is no secret, with what was removed from it. */
  #writePlain(end: number, out: Buffer[]): void {
    const {removed} = this.#wrappers;
    let count = 0;
    let size = end - this.#written;
    for (; count < removed.length && (removed[count] as Removed).at <= end; count += 1) {
      size += (removed[count] as Removed).end - (removed[count] as Removed).start;
    }
    const part = Buffer.allocUnsafe(size);
    let length = 0;
    for (const {at, source, start, end: to} of removed.splice(0, count)) {
      length += this.#held.copy(
        part,
        length,
        this.#written - this.#base,
        Math.max(this.#written, at) - this.#base,
      );
      length += source.copy(part, length, start, to);
      this.#written = Math.max(this.#written, at);
    }
    this.#held.copy(part, length, this.#written - this.#base, end - this.#base);
    this.#written = end;
    out.push(part);
  }

  /** Adjacent parts of one value are merged. */
  #placeholder({start, end, rule, instead}: Range): Buffer {
    const again = instead === '' || (this.#last.end === start && this.#last.instead === instead);
    this.#last = {end, instead: again ? this.#last.instead : instead};
    if (again) return NONE;
    this.#count(rule);
    return Buffer.from(instead, 'latin1');
  }

  #count(rule: string): void {
    this.counts[rule] = (this.counts[rule] ?? 0) + 1;
  }
}

/** A redacted range: offsets from `start` to `end` in the file, and its replacement. */
interface Range {
  start: number;
  end: number;
  rule: string;
  instead: string;
  /** Whether the value is a known secret, which is more specific than any rule. */
  known: boolean;
}

/** The longer range gives its name; the rest of a value has none. */
const longer = (one: Range, other: Range): Range =>
  one.instead === '' || (other.instead !== '' && other.end - other.start > one.end - one.start)
    ? other
    : one;

/** A known value gives the name of two ranges that overlap. */
function better(before: Range, range: Range): Range {
  if (before.known === range.known) return longer(before, range);
  return before.known ? before : range;
}

/** Ranges in order; overlapping ones are merged, and known values define the name. */
class Ranges {
  #all: Range[] = [];
  #last = {start: 0, end: 0};

  add(range: Range): void {
    this.#all.push(range);
    if (!range.known && range.end > this.#last.end) this.#last = range;
  }

  /** Whether the last range of a rule holds this place. */
  covers(position: number): boolean {
    return this.#last.start <= position && position < this.#last.end;
  }

  /** Merges ranges, and returns how far the file can be written: not into a range that can still grow, unless it is too long. */
  settle(end: number): number {
    const merged: Range[] = [];
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
  take(end: number): Range[] {
    const taken = this.#all.filter(({start}) => start < end);
    const rest = taken.at(-1);
    this.#all = this.#all.slice(taken.length);
    if (rest !== undefined && rest.end > end)
      this.#all.unshift({...rest, start: end, instead: '', rule: ''});
    return taken.map((each) => ({...each, end: Math.min(each.end, end)}));
  }
}
