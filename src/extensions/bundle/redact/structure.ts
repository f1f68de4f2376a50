import {matchAt} from '../../../ground/token-shapes.ts';
import {type Extent, isSpent, LIMITS, spend} from './rule.ts';

/*
 * A reader of what stands in brackets: JSON at any depth of strings, blocks and maps of Terraform, dictionaries of Python, structs of Go.
 * It survives damage: a text that was cut ends there, and what it cannot read it skips.
 */

/** A text or number in a structure. `path` has the keys from the outer bracket to it; items of a list have numbers. */
export interface Scalar extends Extent {
  path: readonly string[];
  value: string;
}

/** Maximum distance to the start of a structure, and from there to its end. */
const REACH = {behind: LIMITS.behind, ahead: LIMITS.ahead - 512};
const DEEPEST = 16;
/** What is read when too much was read before. */
const NEAR = 256;
const BACKSLASH = 92;

/** Backslashes before a quote: the string nesting depth. */
export function slashesBefore(text: string, quote: number): number {
  let position = quote;
  while (position > 0 && text.charCodeAt(position - 1) === BACKSLASH) position -= 1;
  return quote - position;
}

/** Whether a quote starts or ends a string at this nesting depth. */
const isDelimiter = (slashes: number, depth: number): boolean =>
  slashes >= depth && Math.floor(slashes / (depth + 1)) % 2 === 0;

/** Start of the innermost open bracket `{` before a position, at this string nesting depth. */
export function openingBefore(
  text: string,
  at: number,
  depth: number,
  reach: number = REACH.behind,
): number | undefined {
  let level = 0;
  const floor = Math.max(0, at - (isSpent() ? NEAR : reach));
  const found = (position: number, open: number | undefined): number | undefined => {
    spend(at - position);
    return open;
  };
  for (let position = at - 1; position >= floor; position -= 1) {
    const one = text.charCodeAt(position);
    if (one === 34) {
      if (slashesBefore(text, position) < depth) return found(position, undefined);
      do position = text.lastIndexOf('"', position - 1);
      while (position > floor && !isDelimiter(slashesBefore(text, position), depth));
      if (position <= floor) return found(floor, undefined);
    } else if (one === 125 || one === 93) level += 1;
    else if (one === 123 || one === 91) {
      if (level === 0) return found(position, one === 123 ? position : undefined);
      level -= 1;
    }
  }
  return found(floor, undefined);
}

/** From an opening quote: end of the content, and of the string. A string without an end in reach ends there. */
function stringAt(text: string, quote: number, most: number): {end: number; past: number} {
  const depth = slashesBefore(text, quote);
  const sign = text.charAt(quote);
  const limit = Math.min(text.length, quote + LIMITS.value, most);
  for (
    let position = text.indexOf(sign, quote + 1);
    position !== -1 && position < limit;
    position = text.indexOf(sign, position + 1)
  ) {
    const slashes = slashesBefore(text, position);
    if (slashes < depth) return {end: position, past: position};
    if (isDelimiter(slashes, depth)) return {end: position - depth, past: position + 1};
  }
  return {end: limit, past: limit};
}

const SKIPPED = /(?:[\s,+~;-]|\\+[nrt]|#[^\n\\"]*|\/\/[^\n\\"]*)+/y;
const WORD = /(?:[^\s,:={}[\]"'\\]|:(?![\s"'\\{[]|\w+:)|=(?=[=\w]*["\s,)]))+/y;
const ASSIGNS = /\\*["']?[ \t]*(?:=>|:=|->|[:=])(?!\/\/)[ \t]*/y;
const NAME = /[^\s,:={}[\]"'\\()]+(?=\\*["']?[ \t]*(?:=>|[:=])(?!\/\/|[:=]))/y;

/** After the last character of a word: a bracket, or another name and a bracket. */
const HEAD_OF_BLOCK = /^\(|^.[ \t]*(?:\\*["'][\w-]+\\*["'][ \t]*)*[{[(\\"']/;

/** Every scalar of the structure that opens at this position. */
export function scalarsOf(text: string, open: number): Scalar[] {
  const scalars: Scalar[] = [];
  const path: string[] = [];
  const counts: number[] = [];
  const isMap: boolean[] = [];
  let key: string | undefined;
  const most = Math.min(text.length, open + (isSpent() ? NEAR : REACH.ahead));
  const add = (start: number, end: number): void => {
    const own = key ?? String((counts[counts.length - 1] as number)++);
    scalars.push({path: [...path.slice(1), own], start, end, value: text.slice(start, end)});
  };
  let at = open;
  while (at < most && scalars.length < 2000) {
    const one = text.charAt(at);
    if (one === '[' && text.startsWith('[redacted', at)) {
      at = Math.max(at, text.indexOf(']', at)) + 1;
      key = undefined;
    } else if (one === '{' || one === '[') {
      if (counts.length >= DEEPEST) break;
      const isFirst = counts.length === 0;
      path.push(key ?? (isFirst ? '' : String((counts[counts.length - 1] as number)++)));
      counts.push(0);
      isMap.push(one === '{');
      key = undefined;
      at += 1;
    } else if (one === '}' || one === ']') {
      path.pop();
      counts.pop();
      isMap.pop();
      key = undefined;
      at += 1;
      if (counts.length === 0) break;
    } else if (one === '"' || one === "'") {
      const {end, past} = stringAt(text, at, most);
      const assigns = matchAt(ASSIGNS, text, past)?.[0] ?? '';
      const isChange = assigns.includes('->');
      if (assigns !== '' && !isChange && key === undefined) {
        key = text.slice(at + 1, end);
        at = past + assigns.length;
      } else {
        const isBlock = key === undefined && /^ \{| "/.test(text.slice(past, past + 2));
        if (isBlock) key = text.slice(at + 1, end);
        else add(at + 1, end);
        at = Math.max(past, at + 1) + (isChange ? assigns.length : 0);
        // Both sides of a change have the same key.
        if (!isBlock && !isChange) key = undefined;
      }
    } else {
      const skipped = matchAt(SKIPPED, text, at)?.[0];
      if (skipped !== undefined) {
        if (key !== undefined && /\n|\\n/.test(skipped)) key = undefined;
        at += skipped.length;
        continue;
      }
      const name = key === undefined ? matchAt(NAME, text, at)?.[0] : undefined;
      if (name !== undefined) {
        key = name;
        at += name.length + (matchAt(ASSIGNS, text, at + name.length)?.[0].length ?? 1);
        continue;
      }
      const word = matchAt(WORD, text, at)?.[0] ?? one;
      // A word before a bracket or another text is the name of a block, or a call.
      if (
        /\w/.test(word) &&
        HEAD_OF_BLOCK.test(text.slice(at + word.length - 1, at + word.length + 200))
      ) {
        key ??= word;
      } else if (/\w/.test(word)) {
        // Words without a key are a sentence, unless they are a list on one line.
        if (
          key === undefined &&
          (isMap.at(-1) || !/^[^\]\n]{0,1000}\]/.test(text.slice(at, at + 1002)))
        )
          break;
        add(at, at + word.length);
        key = undefined;
      }
      at += word.length;
    }
  }
  spend(at - open);
  return scalars;
}

const ESCAPE = String.fromCharCode(27);
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
    let done = 0;
    let length = 0;
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
        while (quote !== -1 && slashesBefore(text, quote) % 2 === 1)
          quote = text.indexOf('"', quote + 1);
        const isMessage =
          quote !== -1 && quote < end && matchAt(CLOSING, text, quote) !== undefined;
        remove(from, isMessage ? content : start);
        const past = prefix[1] === undefined || newline === -1 ? end : next;
        if (isMessage)
          end =
            quote -
            (/(?:\\r)?\\n$/.exec(text.slice(Math.max(content, quote - 4), quote))?.[0].length ?? 0);
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
