import {jsonIn} from '../../../ground/json.ts';
import {isPartOfLine, LinePrefixes, pastKnown} from './line-prefixes.ts';
import {CONTROL} from './separators.ts';
import {slashesBefore} from './structure.ts';

/** Fields of an event that hold no message, and so no secret. */
const FIELD = String.raw`"(?:stream|@?time(?:stamp)?|ts|@?level|lvl|severity|logger(?:_name)?|@?module|caller|type)": ?(?:"[\w.:+ /-]{0,64}"|[\d.]{1,20})`;
const FIELDS = new RegExp(
  String.raw`^\{ ?(?:${FIELD}, ?){0,8}"\w{0,12}": ?"\0"(?:, ?${FIELD}){0,8} ?\}\r?$`,
);
/** Before the message of an event of JSON, and of logfmt. */
const IN_JSON = /[{,] ?"(?:log|@?message|MESSAGE|msg|event|line|text)": ?"/g;
const IN_LOGFMT = / (?:msg|message|event)="/g;
/** What structlog writes before a message on a console, and its fields behind it. */
const LEVEL = /\[[a-z]{4,9} *\] $/;
const FIELDS_BEHIND = / +(?:[a-z_]\w*=(?:'[^'\n]*'|[^\s']+) ?){1,12}\r?$/;

/** Longer lines are read unchanged. Container runtimes split lines at 16 KiB, and prefix each part with a timestamp and a stream. */
const LONGEST_LINE = 17 * 1024;
/** A control sequence that the end of a chunk may have cut. */
const MOST_CUT = 48;
const MOST_REMEMBERED = 2000;
/** Stands for a message. */
const PLACE = '\0';
const NEWLINE = 10;
const NONE = Buffer.alloc(0);

/** Bytes that are not part of the text, and where in the text they belong. */
export interface RemovedBytes {
  at: number;
  source: Buffer;
  start: number;
  end: number;
}

interface Line {
  from: number;
  end: number;
}

/**
 * Takes from a log what stands around its text: colors, times, levels, what each of its lines begins with, and the JSON or logfmt of an event.
 * Rules then read what the tool wrote; what was taken is put back when the text is written, without its secrets. The result does not depend
 * on the chunks.
 */
export class Wrappers {
  /** What was removed and not yet put back, in order. */
  readonly removed: RemovedBytes[] = [];
  readonly #prefixes = new LinePrefixes();
  readonly #redact: (text: string) => string;
  /** What was redacted around messages before: logs repeat it. */
  readonly #around = new Map<string, string>();
  #pending: Buffer = NONE;
  /** Reused for the text of a chunk; it is read before the next one. */
  #room = NONE;
  /** Length of the text so far. */
  #length = 0;
  #isInLongLine = false;

  constructor(redact: (text: string) => string) {
    this.#redact = redact;
  }

  push(chunk: Buffer): Buffer {
    // A copy, because the caller may reuse the chunk.
    const all = Buffer.concat([this.#pending, chunk]);
    const last = all.lastIndexOf(NEWLINE);
    // The prefix of a line depends on the next one.
    let end = last < 1 ? 0 : all.lastIndexOf(NEWLINE, last - 1) + 1;
    // The cut sequence stays behind.
    if (all.length - last > LONGEST_LINE) end = Math.max(last + 1, all.length - MOST_CUT);
    this.#pending = all.subarray(end);
    return end === 0 ? NONE : this.#text(all, end);
  }

  end(): Buffer {
    const rest = this.#pending;
    this.#pending = this.#room = NONE;
    return this.#text(rest, rest.length);
  }

  /** The text of the lines before `limit`; the next line is only looked at. */
  #text(bytes: Buffer, limit: number): Buffer {
    const text = bytes.toString('latin1');
    if (this.#room.length < limit) this.#room = Buffer.allocUnsafeSlow(limit);
    const chunk = new ChunkRemover(bytes.subarray(0, limit), text, {
      kept: this.#room,
      base: this.#length,
    });
    for (let from = 0; from < limit; ) {
      const newline = text.indexOf('\n', from);
      const end = Math.min(newline === -1 ? limit : newline, limit);
      const isLong = end - from > LONGEST_LINE;
      if (isLong || this.#isInLongLine) chunk.removeControls(from, end);
      else this.#removeAround(chunk, text, {from, end});
      this.#isInLongLine = newline === -1 && isLong;
      from = end + 1;
    }
    const kept = chunk.end(this.removed);
    this.#length += kept.length;
    return kept;
  }

  /** Removes what stands around the text of a line, without the secrets in it. */
  #removeAround(chunk: ChunkRemover, text: string, {from, end}: Line): void {
    const known = pastKnown(text, from);
    const start = this.#prefixes.endOf(text, from, end + 1);
    const hasFields = LEVEL.test(text.slice(known - 12, known));
    const message = messageIn(text.slice(start, end), hasFields);
    const line = {from: start + message.from, end: start + message.end};
    const head = text.slice(known, line.from);
    const tail = text.slice(line.end, end);
    const [before, behind] = this.#redacted(head + PLACE + tail);
    if (behind === undefined) chunk.removeControls(from, end);
    else {
      const isContinued = end < text.length && isPartOfLine(text, from);
      chunk.remove(from, known);
      chunk.remove(known, line.from, before === head ? undefined : before);
      chunk.removeControls(from, line.end);
      chunk.remove(line.end, end, behind === tail ? undefined : behind);
      if (isContinued) chunk.remove(end, end + 1);
    }
  }

  /** What stands before and behind a message. There is only one part if a secret holds the place of the message. */
  #redacted(around: string): string[] {
    if (around.length === 1 || FIELDS.test(around)) return around.split(PLACE);
    const before = this.#around.get(around);
    const redacted = before ?? this.#redact(around);
    if (this.#around.size > MOST_REMEMBERED) this.#around.clear();
    if (before === undefined) this.#around.set(around, redacted);
    return redacted.split(PLACE);
  }
}

/** The longest message of an event, or the whole line; without the line break at its end. */
function messageIn(line: string, hasFields: boolean): Line {
  let longest: Line | undefined;
  for (const {0: opening, index} of openingsIn(line)) {
    const from = index + opening.length;
    const end = closingQuote(line, from);
    if (end !== undefined && end - from > (longest?.end ?? 0) - (longest?.from ?? 1))
      longest = {from, end};
  }
  const fields = hasFields ? FIELDS_BEHIND.exec(line) : null;
  if (longest === undefined) return {from: 0, end: fields?.index ?? line.length};
  const {from, end} = longest;
  const [lineBreak = ''] = /(?:\\r)?(?:\\n)?$/.exec(line.slice(Math.max(from, end - 4), end)) ?? [];
  return {from, end: end - lineBreak.length};
}

function openingsIn(line: string): Iterable<RegExpExecArray> {
  if (line.startsWith('{')) return jsonIn(line) === undefined ? [] : line.matchAll(IN_JSON);
  return /^[\w.]+=/.test(line) ? line.matchAll(IN_LOGFMT) : [];
}

function closingQuote(line: string, from: number): number | undefined {
  let quote = line.indexOf('"', from);
  while (quote !== -1 && slashesBefore(line, quote) % 2 === 1) quote = line.indexOf('"', quote + 1);
  return quote === -1 ? undefined : quote;
}

/** Copies a chunk without what is removed. */
class ChunkRemover {
  readonly #bytes: Buffer;
  readonly #kept: Buffer;
  /** Length of the text before this chunk. */
  readonly #base: number;
  readonly #controls: Iterator<RegExpExecArray, undefined>;
  #control: RegExpExecArray | undefined;
  readonly #removed: RemovedBytes[] = [];
  /** End of the copied part of the chunk, and its length in the text. */
  #done = 0;
  #length = 0;

  constructor(bytes: Buffer, text: string, {kept, base}: {kept: Buffer; base: number}) {
    this.#bytes = bytes;
    this.#kept = kept;
    this.#base = base;
    this.#controls = text.matchAll(CONTROL);
    this.#control = this.#controls.next().value;
  }

  /** Removes a part of the chunk; when the text is written, `instead` is put back. */
  remove(start: number, end: number, instead?: string): void {
    if (start >= end) return;
    this.#length += this.#bytes.copy(this.#kept, this.#length, this.#done, start);
    const at = this.#base + this.#length;
    if (instead === undefined) this.#removed.push({at, source: this.#bytes, start, end});
    else {
      const source = Buffer.from(instead, 'latin1');
      this.#removed.push({at, source, start: 0, end: source.length});
    }
    this.#done = end;
  }

  removeControls(from: number, end: number): void {
    while (this.#control !== undefined && this.#control.index < end) {
      const {index, 0: sequence} = this.#control;
      const past = Math.min(index + sequence.length, this.#bytes.length);
      if (index >= Math.max(from, this.#done)) this.remove(index, past);
      this.#control = this.#controls.next().value;
    }
  }

  /** The text, with what was removed added to `removed`. */
  end(removed: RemovedBytes[]): Buffer {
    if (this.#done === 0) return this.#bytes;
    for (const each of this.#removed) removed.push(each);
    this.#length += this.#bytes.copy(this.#kept, this.#length, this.#done);
    return this.#kept.subarray(0, this.#length);
  }
}
