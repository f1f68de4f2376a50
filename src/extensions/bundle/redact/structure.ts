import {matchAt} from '../../../ground/token-shapes.ts';
import {type Budget, type Extent, LIMITS} from './rule.ts';

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
  budget: Budget,
): number | undefined {
  const floor = Math.max(0, at - (budget.isSpent ? NEAR : REACH.behind));
  const opening = bracketBefore(text, at, {depth, floor});
  budget.spend(at - opening.position);
  return opening.isMap ? opening.position : undefined;
}

/** Where reading back ends: at an open bracket, at the start of the surrounding string, or at the floor. */
function bracketBefore(
  text: string,
  at: number,
  {depth, floor}: {depth: number; floor: number},
): {position: number; isMap: boolean} {
  let level = 0;
  for (let position = at - 1; position >= floor; position -= 1) {
    const one = text.charAt(position);
    if (one === '"') {
      if (slashesBefore(text, position) < depth) return {position, isMap: false};
      position = stringBefore(text, position, {depth, floor});
      if (position <= floor) break;
    } else if (one === '}' || one === ']') level += 1;
    else if (one === '{' || one === '[') {
      if (level === 0) return {position, isMap: one === '{'};
      level -= 1;
    }
  }
  return {position: floor, isMap: false};
}

/** Opening quote of the string that ends with this quote. */
function stringBefore(
  text: string,
  quote: number,
  {depth, floor}: {depth: number; floor: number},
): number {
  let position = quote;
  do position = text.lastIndexOf('"', position - 1);
  while (position > floor && !isDelimiter(slashesBefore(text, position), depth));
  return position;
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
/** What Terraform writes for a value, such as `(known after apply)`, or a word. */
const WORD = /\([a-z ]{1,40}\)|(?:[^\s,:={}[\]"'\\]|:(?![\s"'\\{[]|\w+:)|=(?=[=\w]*["\s,)]))+/y;
const ASSIGNS = /\\*["']?[ \t]*(?:=>|:=|->|[:=])(?!\/\/)[ \t]*/y;
const CHANGES = /[ \t]*->[ \t]*/y;
const NAME = /[^\s,:={}[\]"'\\()]+(?=\\*["']?[ \t]*(?:=>|[:=])(?!\/\/|[:=]))/y;

/** After the last character of a word: a bracket, or another name and a bracket. */
const HEAD_OF_BLOCK = /^\(|^.[ \t]*(?:\\*["'][\w-]+\\*["'][ \t]*)*[{[(\\"']/;

/** Every scalar of the structure that opens at this position. */
export function scalarsOf(text: string, open: number, budget: Budget): Scalar[] {
  const most = open + (budget.isSpent ? NEAR : REACH.ahead);
  const reader = new ScalarReader(text, open, Math.min(text.length, most));
  const end = reader.read();
  budget.spend(end - open);
  return reader.scalars;
}

/** Scalars of one structure that are read. */
const MOST_SCALARS = 2000;

/** An open bracket. */
interface Level {
  name: string;
  isMap: boolean;
  /** Items without a key so far. */
  items: number;
}

class ScalarReader {
  readonly scalars: Scalar[] = [];
  readonly #text: string;
  readonly #most: number;
  readonly #levels: Level[] = [];
  #at: number;
  /** Key of the next value. */
  #key: string | undefined;

  constructor(text: string, open: number, most: number) {
    this.#text = text;
    this.#at = open;
    this.#most = most;
  }

  /** Reads to the closing bracket, or as far as the text can be read. Returns the place. */
  read(): number {
    while (this.#at < this.#most && this.scalars.length < MOST_SCALARS && this.#readPart());
    return this.#at;
  }

  /** False at the end of the structure. */
  #readPart(): boolean {
    const one = this.#text.charAt(this.#at);
    if (one === '[' && this.#text.startsWith('[redacted', this.#at)) return this.#skipPlaceholder();
    if (one === '{' || one === '[') return this.#open(one === '{');
    if (one === '}' || one === ']') return this.#close();
    if (one === '"' || one === "'") return this.#readString();
    return this.#skipSpace() || this.#readName() || this.#readWord();
  }

  #skipPlaceholder(): boolean {
    this.#at = Math.max(this.#at, this.#text.indexOf(']', this.#at)) + 1;
    this.#key = undefined;
    return true;
  }

  #open(isMap: boolean): boolean {
    if (this.#levels.length >= DEEPEST) return false;
    this.#levels.push({name: this.#takeKey(), isMap, items: 0});
    this.#at += 1;
    return true;
  }

  #close(): boolean {
    this.#levels.pop();
    this.#key = undefined;
    this.#at += 1;
    return this.#levels.length > 0;
  }

  /** Key of a value; items of a list have numbers. */
  #takeKey(): string {
    const level = this.#levels.at(-1);
    const key = this.#key ?? (level === undefined ? '' : String(level.items++));
    this.#key = undefined;
    return key;
  }

  #add(start: number, end: number): void {
    const outer = this.#levels.slice(1).map(({name}) => name);
    const path = [...outer, this.#takeKey()];
    this.scalars.push({path, start, end, value: this.#text.slice(start, end)});
  }

  #readString(): boolean {
    const start = this.#at + 1;
    const {end, past} = stringAt(this.#text, this.#at, this.#most);
    const assigns = matchAt(ASSIGNS, this.#text, past)?.[0] ?? '';
    this.#at = Math.max(past, start) + assigns.length;
    const key = this.#key;
    // Both sides of a change have the same key.
    if (assigns.includes('->')) {
      this.#add(start, end);
      this.#key = key;
    } else if (assigns !== '' && key === undefined) this.#key = this.#text.slice(start, end);
    else {
      this.#at = Math.max(past, start);
      if (key === undefined && this.#isBlock(past)) this.#key = this.#text.slice(start, end);
      else this.#add(start, end);
    }
    return true;
  }

  /** Whether a string is the label of a block: a bracket or another label follows. */
  #isBlock = (past: number): boolean => /^ \{| "/.test(this.#text.slice(past, past + 2));

  #skipSpace(): boolean {
    const [skipped = ''] = matchAt(SKIPPED, this.#text, this.#at) ?? [];
    if (/\n|\\n/.test(skipped)) this.#key = undefined;
    this.#at += skipped.length;
    return skipped !== '';
  }

  #readName(): boolean {
    const name = this.#key === undefined ? matchAt(NAME, this.#text, this.#at)?.[0] : undefined;
    if (name === undefined) return false;
    this.#key = name;
    this.#at += name.length;
    this.#at += matchAt(ASSIGNS, this.#text, this.#at)?.[0].length ?? 1;
    return true;
  }

  #readWord(): boolean {
    const start = this.#at;
    const [word = this.#text.charAt(start)] = matchAt(WORD, this.#text, start) ?? [];
    const end = start + word.length;
    this.#at = end;
    if (!/\w/.test(word)) return true;
    // The name of a block, or a call.
    if (HEAD_OF_BLOCK.test(this.#text.slice(end - 1, end + 200))) this.#key ??= word;
    else if (this.#isSentence(start)) {
      this.#at = start;
      return false;
    } else {
      const key = this.#key;
      this.#add(start, end);
      // Both sides of a change have the same key.
      const change = matchAt(CHANGES, this.#text, end)?.[0];
      if (change !== undefined) {
        this.#at += change.length;
        this.#key = key;
      }
    }
    return true;
  }

  /** Words without a key are a sentence, unless they are a list on one line. */
  #isSentence(at: number): boolean {
    if (this.#key !== undefined) return false;
    const isList = /^[^\]\n]{0,1000}\]/.test(this.#text.slice(at, at + 1002));
    return this.#levels.at(-1)?.isMap === true || !isList;
  }
}
