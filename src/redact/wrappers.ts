const ESCAPE = String.fromCharCode(27);
/** A color or another control sequence of a terminal, plain or in a string. */
const CONTROL = new RegExp(String.raw`(?:${ESCAPE}|(?<!\\)\\{1,8}(?:u001[bB]|x1[bB]|033|e))\[[\d;:]{0,24}[A-Za-z]`, 'g');
const TIME = String.raw`\d{4}-\d\d-\d\dT[\d:.]{8,20}(?:Z|[+-]\d\d:?\d\d)[ \t]`;
/** What a kubelet, a container runtime, klog or hclog writes before a line. `P` is a part of a line, which continues in the next one. */
const PREFIX = new RegExp(
  String.raw`(?:${TIME})?(?:std(?:out|err) (?:F|(P)) )?(?:${TIME}\[[A-Z]{4,5}\][ \t]{1,3}|[IWEF]\d{4} [\d:.]{8,20}[ \t]{1,8}\d{1,8} [\w./-]{1,64}:\d{1,6}\] )?`,
  'y',
);
/** Fields of an event that hold no message, and so no secret. */
const FIELD = String.raw`"(?:stream|@?time(?:stamp)?|ts|@?level|lvl|severity|logger(?:_name)?|@?module|caller|type)": ?(?:"[\w.:+ /-]{0,64}"|[\d.]{1,20})`;
/** A line of JSON with one message. */
const OPENING = new RegExp(String.raw`\{ ?(?:${FIELD}, ?){0,8}"(?:log|@?message|msg|event|line)": ?"`, 'y');
const CLOSING = new RegExp(String.raw`(?:(?:\\r)?\\n)?"(?:, ?${FIELD}){0,8} ?\}\r?$`);

/** Longer lines are read as they are. */
const LONGEST_LINE = 16_384;
/** A control sequence that the end of a chunk may have cut. */
const MOST_CUT = 48;
const NEWLINE = 10;

/** Bytes that are not part of the text, and where in the text they belong. */
export interface Removed {
  at: number;
  bytes: Buffer;
}

/**
 * Takes from a log what stands around its text: colors, times, levels, and the JSON of an event with one message. Rules then read what the
 * tool wrote; what was taken is put back when the text is written. The result does not depend on the chunks.
 */
export class Wrappers {
  /** What was removed and not yet put back, in order. */
  readonly removed: Removed[] = [];
  #pending = Buffer.alloc(0);
  /** Length of the text so far. */
  #length = 0;
  #isInLongLine = false;

  push(chunk: Buffer): Buffer {
    const all = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    let end = all.lastIndexOf(NEWLINE) + 1;
    // The cut sequence stays behind.
    if (all.length - end > LONGEST_LINE) end = Math.max(end, all.length - MOST_CUT);
    // A copy, because the caller may reuse the chunk.
    this.#pending = Buffer.from(all.subarray(end));
    return this.#text(all.subarray(0, end));
  }

  end(): Buffer {
    const rest = this.#pending;
    this.#pending = Buffer.alloc(0);
    return this.#text(rest);
  }

  #text(bytes: Buffer): Buffer {
    const text = bytes.toString('latin1');
    const kept: Buffer[] = [];
    let done = 0;
    const remove = (start: number, end: number): void => {
      if (start >= end) return;
      kept.push(bytes.subarray(done, start));
      this.#length += start - done;
      this.removed.push({at: this.#length, bytes: Buffer.from(bytes.subarray(start, end))});
      done = end;
    };
    for (let from = 0; from < text.length; ) {
      const newline = text.indexOf('\n', from);
      const isWhole = newline !== -1 || text.length - from <= LONGEST_LINE;
      let end = newline === -1 ? text.length : newline;
      const next = end + 1;
      if (!this.#isInLongLine && end - from <= LONGEST_LINE && isWhole) {
        PREFIX.lastIndex = from;
        const prefix = PREFIX.exec(text) as RegExpExecArray;
        const start = from + prefix[0].length;
        OPENING.lastIndex = start;
        const opening = text.charCodeAt(start) === 123 ? OPENING.exec(text) : null;
        const closing = opening === null ? null : CLOSING.exec(text.slice(Math.max(start + opening[0].length, end - 512), end));
        remove(from, closing === null ? start : start + (opening?.[0].length ?? 0));
        const past = prefix[1] === undefined || newline === -1 ? end : next;
        if (closing !== null) end -= closing[0].length;
        this.#removeControls(text, done > from ? done : from, end, remove);
        remove(end, past);
      } else this.#removeControls(text, from, end, remove);
      this.#isInLongLine = newline === -1 && !isWhole;
      from = next;
    }
    kept.push(bytes.subarray(done));
    this.#length += bytes.length - done;
    return kept.length === 1 ? (kept[0] as Buffer) : Buffer.concat(kept);
  }

  #removeControls(text: string, from: number, end: number, remove: (start: number, end: number) => void): void {
    CONTROL.lastIndex = from;
    for (let found = CONTROL.exec(text); found !== null && found.index < end; found = CONTROL.exec(text)) {
      remove(found.index, found.index + found[0].length);
    }
  }
}
