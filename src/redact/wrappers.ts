import {matchAt} from './rule.ts';
import {slashesBefore} from './structure.ts';

const ESCAPE = String.fromCharCode(27);
/** A color or another control sequence of a terminal, plain or in a string. */
const CONTROL = new RegExp(String.raw`(?:${ESCAPE}|(?<!\\)\\{1,8}(?:u001[bB]|x1[bB]|033|e))\[[\d;:]{0,24}[A-Za-z]`, 'g');
const TIME = String.raw`\d{4}-\d\d-\d\dT[\d:.]{8,20}(?:Z|[+-]\d\d:?\d\d)[ \t]`;
/** What a kubelet, a container runtime, klog or hclog writes before a line. `P` is a part of a line, which continues in the next one. */
const PREFIX = new RegExp(
  String.raw`(?:${TIME})?(?:std(?:out|err) (?:F|(P)) )?(?:(?:${TIME})?\[[A-Z]{4,5}\][ \t]{1,3}|[IWEF]\d{4} [\d:.]{8,20}[ \t]{1,8}\d{1,8} [\w./-]{1,64}:\d{1,6}\] )?`,
  'y',
);
/** Fields of an event that hold no message, and so no secret. */
const FIELD = String.raw`"(?:stream|@?time(?:stamp)?|ts|@?level|lvl|severity|logger(?:_name)?|@?module|caller|type)": ?(?:"[\w.:+ /-]{0,64}"|[\d.]{1,20})`;
/** A line of JSON with one message. */
const OPENING = new RegExp(String.raw`\{ ?(?:${FIELD}, ?){0,8}"(?:log|@?message|msg|event|line)": ?"`, 'y');
const CLOSING = new RegExp(String.raw`"(?:, ?${FIELD}){0,8} ?\}\r?(?=\n|$)`, 'y');

/** Longer lines are read as they are. */
const LONGEST_LINE = 16_384;
/** A control sequence that the end of a chunk may have cut. */
const MOST_CUT = 48;
const NEWLINE = 10;
const NONE = Buffer.alloc(0);

/** Bytes that are not part of the text, and where in the text they belong. */
export interface Removed {
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
  readonly removed: Removed[] = [];
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
    const kept = this.#room;
    const base = this.#length;
    let [done, length] = [0, 0];
    const remove = (start: number, end: number): void => {
      if (start >= end) return;
      length += bytes.copy(kept, length, done, start);
      this.removed.push({at: base + length, source: bytes, start, end});
      done = end;
    };
    CONTROL.lastIndex = 0;
    let control = CONTROL.exec(text);
    const removeControls = (from: number, end: number): void => {
      for (; control !== null && control.index < end; control = CONTROL.exec(text)) {
        if (control.index >= from) remove(control.index, control.index + control[0].length);
      }
    };
    for (let from = 0; from < text.length; ) {
      const newline = text.indexOf('\n', from);
      const isWhole = newline !== -1 || text.length - from <= LONGEST_LINE;
      let end = newline === -1 ? text.length : newline;
      const next = end + 1;
      if (!this.#isInLongLine && end - from <= LONGEST_LINE && isWhole) {
        const prefix = matchAt(PREFIX, text, from) as RegExpExecArray;
        const start = from + prefix[0].length;
        const opening = text.charCodeAt(start) === 123 ? matchAt(OPENING, text, start) : undefined;
        const content = start + (opening?.[0].length ?? 0);
        let quote = opening === undefined ? -1 : text.indexOf('"', content);
        while (quote !== -1 && slashesBefore(text, quote) % 2 === 1) quote = text.indexOf('"', quote + 1);
        const isMessage = quote !== -1 && quote < end && matchAt(CLOSING, text, quote) !== undefined;
        remove(from, isMessage ? content : start);
        const past = prefix[1] === undefined || newline === -1 ? end : next;
        if (isMessage) end = quote - (/(?:\\r)?\\n$/.exec(text.slice(Math.max(content, quote - 4), quote))?.[0].length ?? 0);
        removeControls(Math.max(done, from), end);
        remove(end, past);
      } else removeControls(from, end);
      this.#isInLongLine = newline === -1 && !isWhole;
      from = next;
    }
    if (done === 0) {
      this.#length += bytes.length;
      return bytes;
    }
    length += bytes.copy(kept, length, done);
    this.#length += length;
    return kept.subarray(0, length);
  }
}
