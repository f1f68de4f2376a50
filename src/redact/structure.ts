import {type Extent, isSpent, LIMITS, matchAt, spend} from './rule.ts';

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
const isDelimiter = (slashes: number, depth: number): boolean => slashes >= depth && Math.floor(slashes / (depth + 1)) % 2 === 0;

/** Start of the innermost open bracket `{` before a position, at this string nesting depth. */
export function openingBefore(text: string, at: number, depth: number, reach: number = REACH.behind): number | undefined {
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
export function stringAt(text: string, quote: number, most: number): {end: number; past: number} {
  const depth = slashesBefore(text, quote);
  const sign = text.charAt(quote);
  const limit = Math.min(text.length, quote + LIMITS.value, most);
  for (let position = text.indexOf(sign, quote + 1); position !== -1 && position < limit; position = text.indexOf(sign, position + 1)) {
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
      if (/\w/.test(word) && HEAD_OF_BLOCK.test(text.slice(at + word.length - 1, at + word.length + 200))) {
        key ??= word;
      } else if (/\w/.test(word)) {
        // Words without a key are a sentence, unless they are a list on one line.
        if (key === undefined && (isMap.at(-1) || !/^[^\]\n]{0,1000}\]/.test(text.slice(at, at + 1002)))) break;
        add(at, at + word.length);
        key = undefined;
      }
      at += word.length;
    }
  }
  spend(at - open);
  return scalars;
}
