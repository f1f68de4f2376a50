import {LIMITS} from './rule.ts';
import type {Found, Scanner} from './scanner.ts';

const NONE = Buffer.alloc(0);

/**
 * One file on its way into the bundle. It holds back what a secret that has not ended could be part of, never more than
 * MOST_HELD bytes, and says the same wherever the chunks end. Positions are counted from the beginning of the file.
 */
export class FileRedactor {
  readonly counts: Record<string, number> = {};
  /** Bytes looked at, for the test that no input makes it look at them over and over. */
  work = 0;
  readonly #scanner: Scanner;
  readonly #stretches = new Stretches();
  /** Where what is held lies, at its beginning; used again and again, or every batch would leave a buffer to be swept up. */
  #room = NONE;
  /** What was scanned or is about to be; `#base` is where it begins, `#written` up to where the file is written. */
  #held = NONE;
  /** Bytes at its end that no scan has seen. */
  #gathered = 0;
  #base = 0;
  #written = 0;
  #scanned = 0;
  #state = 0;
  #said = {end: -1, instead: ''};
  /** Set while a value longer than any is let go: what will end it. */
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
      // A copy: the chunk is the caller's, who may fill it again.
      this.#hold(chunk.subarray(from, from + LIMITS.batch));
      if (this.#gathered >= LIMITS.batch) written.push(this.#advance(false));
    }
    return written.length === 1 ? (written[0] as Buffer) : Buffer.concat(written);
  }

  /** Nothing is held afterwards: a bundle has thousands of files. */
  end(): Buffer {
    const written = this.#advance(true);
    this.#room = this.#held = NONE;
    return written;
  }

  /** What stands in place of a value that was found without its text, in an object that is yet to be written. */
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
    // Rules look back at what is written already.
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

  /** Lets go what belongs to a value without end; true once that has come. */
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

  /** Pieces of one value that stand side by side are one value. */
  #say({start, end, rule, instead}: Stretch): Buffer {
    const again = instead === '' || (this.#said.end === start && this.#said.instead === instead);
    this.#said = {end, instead: again ? this.#said.instead : instead};
    if (again) return NONE;
    this.#count(rule);
    return Buffer.from(instead, 'latin1');
  }

  #count(rule: string): void {
    this.counts[rule] = (this.counts[rule] ?? 0) + 1;
  }
}

/** What goes out of a file: from `start` to `end`, counted from the beginning of the file, with what stands there instead. */
export interface Stretch {
  start: number;
  end: number;
  rule: string;
  instead: string;
  /** Whether the value was known beforehand, which says more of it than any rule. */
  known: boolean;
}

const longer = (one: Stretch, other: Stretch): Stretch => (other.end - other.start > one.end - one.start ? other : one);

/** Stretches in order; those that overlap become one, which is named after the value that was known. */
export class Stretches {
  readonly #all: Stretch[] = [];

  add(added: Stretch): void {
    let stretch = added;
    for (let last = this.#all.at(-1); last !== undefined && last.end > stretch.start; last = this.#all.at(-1)) {
      this.#all.pop();
      // What is before the other one is not touched by it.
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

  /** Where a file may be written up to: not into a stretch that could still grow, unless it is longer than any value. */
  safe(end: number): number {
    const open = this.#all.find((each) => each.start < end && each.end > end);
    return open === undefined || end - open.start > 2 * LIMITS.ahead ? end : open.start;
  }

  /** Those that begin before `end`, taken out; the remainder of one that goes on stays and is not said again. */
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
