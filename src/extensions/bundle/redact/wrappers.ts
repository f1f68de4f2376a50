import {matchAt} from '../../../ground/token-shapes.ts';
import {ESCAPE} from './rule.ts';
import {slashesBefore} from './structure.ts';

/** A color or another control sequence of a terminal, plain or in a string. */
const CONTROL = new RegExp(
  String.raw`(?:${ESCAPE}|(?<!\\)\\{1,8}(?:u001[bB]|x1[bB]|033|e))\[[\d;:]{0,24}[A-Za-z]`,
  'g',
);
const TIME = String.raw`\d{4}-\d\d-\d\dT[\d:.]{8,20}(?:Z|[+-]\d\d:?\d\d)[ \t]`;
/** What a kubelet, a container runtime, klog or hclog writes before a line. `P` is a part of a line, which continues in the next one. */
const PREFIX = new RegExp(
  String.raw`(?:${TIME})?(?:std(?:out|err) (?:F|(P)) )?(?:(?:${TIME})?\[[A-Z]{4,5}\][ \t]{1,3}|[IWEF]\d{4} [\d:.]{8,20}[ \t]{1,8}\d{1,8} [\w./-]{1,64}:\d{1,6}\] )?`,
  'y',
);
/** Fields of an event that hold no message, and so no secret. */
const FIELD = String.raw`"(?:stream|@?time(?:stamp)?|ts|@?level|lvl|severity|logger(?:_name)?|@?module|caller|type)": ?(?:"[\w.:+ /-]{0,64}"|[\d.]{1,20})`;
/** A line of JSON with one message. */
const OPENING = new RegExp(
  String.raw`\{ ?(?:${FIELD}, ?){0,8}"(?:log|@?message|msg|event|line)": ?"`,
  'y',
);
const CLOSING = new RegExp(String.raw`"(?:, ?${FIELD}){0,8} ?\}\r?(?=\n|$)`, 'y');

/** Longer lines are read as they are. */
const LONGEST_LINE = 16_384;
/** A control sequence that the end of a chunk may have cut. */
const MOST_CUT = 48;
const NEWLINE = 10;
const NONE = Buffer.alloc(0);

/** Bytes that are not part of the text, and where in the text they belong. */
export interface RemovedBytes {
  at: number;
  source: Buffer;
  start: number;
  end: number;
}

/**
 * Takes from a log what stands around its text: colors, times, levels, and the JSON of an event with one message. Rules then read what the
 * tool wrote; what was taken is put back when the text is written. The result does not depend on the chunks.
 */
export class Wrappers {
  /** What was removed and not yet put back, in order. */
  readonly removed: RemovedBytes[] = [];
  #pending: Buffer = NONE;
  /** Reused for the text of a chunk; it is read before the next one. */
  #room = NONE;
  /** Length of the text so far. */
  #length = 0;
  #isInLongLine = false;

  push(chunk: Buffer): Buffer {
    // A copy, because the caller may reuse the chunk.
    const all = Buffer.concat([this.#pending, chunk]);
    let end = all.lastIndexOf(NEWLINE) + 1;
    // The cut sequence stays behind.
    if (all.length - end > LONGEST_LINE) end = Math.max(end, all.length - MOST_CUT);
    this.#pending = all.subarray(end);
    return this.#text(all.subarray(0, end));
  }

  end(): Buffer {
    const rest = this.#pending;
    this.#pending = this.#room = NONE;
    return this.#text(rest);
  }

  #text(bytes: Buffer): Buffer {
    const text = bytes.toString('latin1');
    if (this.#room.length < bytes.length) this.#room = Buffer.allocUnsafeSlow(bytes.length);
    const chunk = new ChunkRemover(bytes, text, {kept: this.#room, base: this.#length});
    for (let from = 0; from < text.length; ) {
      const newline = text.indexOf('\n', from);
      const end = newline === -1 ? text.length : newline;
      const isLong = end - from > LONGEST_LINE;
      if (isLong || this.#isInLongLine) chunk.removeControls(from, end);
      else removeAround(chunk, text, {from, end});
      this.#isInLongLine = newline === -1 && isLong;
      from = end + 1;
    }
    const kept = chunk.end(this.removed);
    this.#length += kept.length;
    return kept;
  }
}

/** Removes what stands around the text of a line. */
function removeAround(chunk: ChunkRemover, text: string, {from, end}: Line): void {
  const prefix = matchAt(PREFIX, text, from) as RegExpExecArray;
  const start = from + prefix[0].length;
  const message = messageIn(text, {from: start, end});
  const isContinued = prefix[1] !== undefined && end < text.length;
  chunk.remove(from, message?.from ?? start);
  chunk.removeControls(from, message?.end ?? end);
  chunk.remove(message?.end ?? end, isContinued ? end + 1 : end);
}

interface Line {
  from: number;
  end: number;
}

/** The text of the message, if a line is JSON with one message; without the line break at its end. */
function messageIn(text: string, {from, end}: Line): Line | undefined {
  const opening = text.charAt(from) === '{' ? matchAt(OPENING, text, from) : undefined;
  if (opening === undefined) return undefined;
  const start = from + opening[0].length;
  let quote = text.indexOf('"', start);
  while (quote !== -1 && slashesBefore(text, quote) % 2 === 1) quote = text.indexOf('"', quote + 1);
  if (quote === -1 || quote >= end || matchAt(CLOSING, text, quote) === undefined) return undefined;
  const [lineBreak = ''] = /(?:\\r)?\\n$/.exec(text.slice(Math.max(start, quote - 4), quote)) ?? [];
  return {from: start, end: quote - lineBreak.length};
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

  remove(start: number, end: number): void {
    if (start >= end) return;
    this.#length += this.#bytes.copy(this.#kept, this.#length, this.#done, start);
    this.#removed.push({at: this.#base + this.#length, source: this.#bytes, start, end});
    this.#done = end;
  }

  removeControls(from: number, end: number): void {
    while (this.#control !== undefined && this.#control.index < end) {
      const {index, 0: sequence} = this.#control;
      if (index >= Math.max(from, this.#done)) this.remove(index, index + sequence.length);
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
