import {LIMITS} from './rule.ts';
import type {Found, Scanner} from './scanner.ts';

const NONE = Buffer.alloc(0);

/**
 * Redacts one file as a stream. It holds back bytes that can be part of an unfinished secret, at most
 * MOST_HELD bytes. The result does not depend on chunk boundaries. Positions are offsets in the file.
 */
export class FileRedactor {
  readonly counts: Record<string, number> = {};
  /** Number of scanned bytes, to test that no input is scanned repeatedly. */
  work = 0;
  readonly #scanner: Scanner;
  readonly #stretches = new Stretches();
  /** Reused buffer for held bytes, to avoid a new buffer per batch. */
  #room = NONE;
  /** Text that is scanned; `#base` is its offset, `#written` the end of the written part. */
  #held = NONE;
  /** Bytes at its end that were not scanned. */
  #gathered = 0;
  #base = 0;
  #written = 0;
  #scanned = 0;
  #state = 0;
  #last = {end: -1, instead: ''};
  /** Set while a value of unlimited length is skipped: the characters that end it. */
  #swallowing: RegExp | undefined;

  constructor(scanner: Scanner) {
    this.#scanner = scanner;
  }

  get heldBytes(): number {
    return this.#held.length;
  }

  push(chunk: Buffer): Buffer {
    const written: Buffer[] = [];
    for (let from = 0; from < chunk.length; from += LIMITS.batch) {
      // A copy, because the caller may reuse the chunk.
      this.#hold(chunk.subarray(from, from + LIMITS.batch));
      if (this.#gathered >= LIMITS.batch) written.push(this.#advance(false));
    }
    return written.length === 1 ? (written[0] as Buffer) : Buffer.concat(written);
  }

  /** Releases the buffer: a bundle has thousands of files. */
  end(): Buffer {
    const written = this.#advance(true);
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
    const length = this.#held.length;
    if (this.#swallowing === undefined || this.#swallow(0)) this.#scan(last ? length : length - LIMITS.ahead);
    const scanned = this.#base + (last ? length : Math.max(0, this.#scanned - this.#base - LIMITS.behind));
    const ready = this.#swallowing === undefined ? this.#stretches.safe(scanned) : this.#base + length;
    const written = this.#write(Math.max(this.#written, ready));
    // Rules look back at written text.
    const keep = Math.max(this.#base, Math.min(this.#written, this.#scanned - LIMITS.behind));
    this.#room.copyWithin(0, keep - this.#base, length);
    this.#held = this.#room.subarray(0, length - (keep - this.#base));
    this.#base = keep;
    return written;
  }

  #scan(limit: number): void {
    const bytes = this.#held;
    const {
      automaton: {table, classes, accepting},
      look,
    } = this.#scanner;
    const covered = (place: number): boolean => this.#stretches.covers(this.#base + place);
    let text = '';
    let state = this.#state;
    let place = this.#scanned - this.#base;
    this.work += Math.max(0, limit - place);
    while (place < limit) {
      state = table[state + (classes[bytes[place] as number] as number)] as number;
      place += 1;
      if (state < accepting) continue;
      text ||= bytes.toString('latin1');
      for (const found of look(text, state, place, covered)) {
        this.work += found.end - found.start;
        this.#add(found);
        if (found.unended === undefined) continue;
        this.#swallowing = found.unended;
        if (!this.#swallow(found.end)) return;
        [place, state] = [this.#scanned - this.#base, 0];
        break;
      }
    }
    this.#state = state;
    this.#scanned = this.#base + Math.max(place, this.#scanned - this.#base);
  }

  #add({start, end, rule, instead, known}: Found): void {
    const from = Math.max(this.#base + start, this.#written);
    if (this.#base + end > from) this.#stretches.add({start: from, end: this.#base + end, rule, instead, known});
  }

  /** Skips a value of unlimited length; true at its end. */
  #swallow(from: number): boolean {
    const text = this.#held.toString('latin1', from);
    const stop = this.#swallowing as RegExp;
    stop.lastIndex = 0;
    const found = stop.exec(text);
    const end = this.#base + from + (found?.index ?? text.length);
    if (end > this.#base + from) this.#stretches.add({start: this.#base + from, end, rule: '', instead: '', known: false});
    [this.#scanned, this.#state] = [end, 0];
    if (found !== null) this.#swallowing = undefined;
    return found !== null;
  }

  #write(end: number): Buffer {
    const out: Buffer[] = [];
    for (const stretch of this.#stretches.take(end)) {
      out.push(this.#held.subarray(this.#written - this.#base, stretch.start - this.#base), this.#say(stretch));
      this.#written = stretch.end;
    }
    out.push(this.#held.subarray(this.#written - this.#base, end - this.#base));
    this.#written = end;
    return Buffer.concat(out);
  }

  /** Adjacent parts of one value are merged. */
  #say({start, end, rule, instead}: Stretch): Buffer {
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
export interface Stretch {
  start: number;
  end: number;
  rule: string;
  instead: string;
  /** Whether the value is a known secret, which is more specific than any rule. */
  known: boolean;
}

const longer = (one: Stretch, other: Stretch): Stretch => (other.end - other.start > one.end - one.start ? other : one);

/** Ranges in order; overlapping ones are merged, and known values define the name. */
export class Stretches {
  readonly #all: Stretch[] = [];

  add(added: Stretch): void {
    let stretch = added;
    for (let last = this.#all.at(-1); last !== undefined && last.end > stretch.start; last = this.#all.at(-1)) {
      this.#all.pop();
      // Ends before the other one starts.
      if (last.start >= stretch.end) {
        this.add(stretch);
        this.#all.push(last);
        return;
      }
      const better = last.known === stretch.known ? longer(last, stretch) : last.known ? last : stretch;
      stretch = {...better, start: Math.min(last.start, stretch.start), end: Math.max(last.end, stretch.end)};
    }
    this.#all.push(stretch);
  }

  covers(place: number): boolean {
    const last = this.#all.at(-1);
    return last !== undefined && last.start <= place && place < last.end;
  }

  /** The file can be written up to here: not into a range that can still grow, unless it exceeds the longest value. */
  safe(end: number): number {
    const open = this.#all.find((each) => each.start < end && each.end > end);
    return open === undefined || end - open.start > 2 * LIMITS.ahead ? end : open.start;
  }

  /** Removes ranges that start before `end`; the rest of a longer one remains and is not reported again. */
  take(end: number): Stretch[] {
    const taken: Stretch[] = [];
    while (this.#all[0] !== undefined && this.#all[0].start < end) {
      const first = this.#all.shift() as Stretch;
      taken.push({...first, end: Math.min(first.end, end)});
      if (first.end > end) this.#all.unshift({...first, start: end, instead: '', rule: ''});
      if (first.end > end) break;
    }
    return taken;
  }
}
