import {matchAt} from '../../../ground/token-shapes.ts';
import type {KnownMatch, KnownValueSearch} from './known-value-search.ts';
import type {LearnedValues} from './learned-values.ts';
import {isInPath} from './paths.ts';
import {randomStrings} from './random-strings.ts';
import {Ranges, type RedactedRange} from './ranges.ts';
import {Budget, type Extent, LIMITS, type RedactionPass} from './rule.ts';
import type {FoundSecret, RuleScanner} from './scanner.ts';
import {shapeOf} from './shapes.ts';
import {restOfToken} from './wrapped-values.ts';
import {type RemovedBytes, Wrappers} from './wrappers.ts';

const NONE = Buffer.alloc(0);

/** What finds secrets, and how they are named. The same for all files of a bundle. */
export interface SecretSearch {
  isStrict: boolean;
  rules: RuleScanner;
  knownValues: KnownValueSearch;
  learnedValues: LearnedValues;
  pseudonymOf: (value: string) => string;
}

/** Learns what rules find, and what the table of verdicts decides. */
export interface Observer {
  onSecret?: (secret: FoundSecret, value: string) => void;
  onVerdict?: RedactionPass['onVerdict'];
}

/**
 * Redacts one file as a stream. It holds back bytes that can be part of an unfinished secret, at most MOST_HELD bytes. It scans at fixed
 * offsets of the file, so the result does not depend on chunk boundaries.
 */
export class FileRedactor {
  readonly counts: Record<string, number> = {};
  /** Scanned bytes, to test that none is scanned repeatedly. */
  work = 0;
  readonly #search: SecretSearch;
  readonly #observer: Observer;
  readonly #ranges = new Ranges();
  readonly #wrappers = new Wrappers((text) => this.#redactAround(text));
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
  readonly #keyKinds: RedactionPass['keyKinds'] = new Map();
  #last = {end: -1, instead: ''};
  /** Set while a value of unlimited length is skipped: the characters that end it. */
  #skipping: RegExp | undefined;

  constructor(search: SecretSearch, observer: Observer = {}) {
    this.#search = search;
    this.#observer = observer;
  }

  get heldBytes(): number {
    return this.#held.length;
  }

  push(chunk: Buffer): Buffer {
    return this.#gather(this.#wrappers.push(chunk));
  }

  /** What stands around a message, without secrets. */
  #redactAround(text: string): string {
    const around = new FileRedactor(this.#search, this.#observer);
    const written = Buffer.concat([
      around.#gather(Buffer.from(text, 'latin1')),
      around.#advance(true),
    ]);
    for (const [rule, count] of Object.entries(around.counts))
      this.counts[rule] = (this.counts[rule] ?? 0) + count;
    return written.toString('latin1');
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
    return this.#search.pseudonymOf(Buffer.from(value, 'utf8').toString('latin1'));
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
    const text = this.#held.toString('latin1');
    const limit = last ? length : length - LIMITS.ahead;
    const {knownValues, learnedValues} = this.#search;
    this.#addMatches(knownValues.matchesIn(this.#held, this.#firstHeld(), limit), true);
    const {isStrict} = this.#search;
    const {onVerdict} = this.#observer;
    const pass = {isStrict, budget: new Budget(), keyKinds: this.#keyKinds, onVerdict};
    while (this.#skipping === undefined || this.#skip(text)) {
      this.#scan(text, limit, pass);
      if (this.#skipping === undefined) break;
    }
    this.#addMatches(learnedValues.matchesIn(this.#held, this.#firstHeld(), limit), false);
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

  /** Place of the first byte that is not written. */
  #firstHeld(): number {
    return this.#written - this.#base;
  }

  #addMatches(matches: readonly KnownMatch[], isKnown: boolean): void {
    const rule = isKnown ? 'known value' : 'repeated value';
    for (const {start, end, known} of matches) {
      const instead = this.#search.pseudonymOf(known.whole);
      this.#add({start, end, rule, instead, known: isKnown});
    }
  }

  /** Finds the anchors of rules and random strings up to `limit`; stops at a value of unlimited length. */
  #scan(text: string, limit: number, pass: RedactionPass): void {
    const {rules, isStrict} = this.#search;
    const isCovered = (position: number): boolean => this.#ranges.covers(this.#base + position);
    const from = this.#scanned - this.#base;
    const cursor = {position: from, state: this.#state};
    this.work += Math.max(0, limit - from);
    while (this.#skipping === undefined && rules.anchors.advance(this.#held, cursor, limit)) {
      for (const secret of rules.secretsAt(text, cursor, pass, isCovered)) {
        const value = valueIn(text, secret);
        if (isInPath(text, secret) && shapeOf(value) === undefined) continue;
        this.#observer.onSecret?.(secret, value);
        this.#search.learnedValues.learn(value, secret.rule);
        this.#addSecret(text, secret);
        for (const rest of restOfToken(text, secret))
          this.#addSecret(text, {...rest, rule: secret.rule});
      }
    }
    for (const extent of randomStrings(
      this.#held,
      text,
      {start: from, end: cursor.position},
      isStrict,
    ))
      if (!isInPath(text, extent)) this.#addSecret(text, {...extent, rule: 'random string'});
    this.#state = cursor.state;
    if (this.#skipping === undefined) this.#scanned = this.#base + Math.max(cursor.position, from);
  }

  #addSecret(text: string, secret: FoundSecret): void {
    const {start, end, rule, unended} = secret;
    const instead = this.#search.pseudonymOf(valueIn(text, secret));
    this.#add({start, end, rule, instead, known: false});
    if (unended === undefined) return;
    this.#skipping = unended;
    this.#scanned = this.#base + end;
  }

  /** Adds a range of the held text, as far as it is not written yet. */
  #add(range: RedactedRange): void {
    this.work += range.end - range.start;
    const start = Math.max(this.#base + range.start, this.#written);
    const end = this.#base + range.end;
    if (end > start) this.#ranges.add({...range, start, end});
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
    for (; count < removed.length && (removed[count] as RemovedBytes).at <= end; count += 1) {
      size += (removed[count] as RemovedBytes).end - (removed[count] as RemovedBytes).start;
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
  #placeholder({start, end, rule, instead}: RedactedRange): Buffer {
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

/** The text of a secret, as far as it decides about its pseudonym. */
const valueIn = (text: string, {start, end}: Extent): string =>
  text.slice(start, Math.min(end, start + LIMITS.ahead));
