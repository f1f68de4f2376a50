import {LIMITS} from './limits.ts';
import {ESCAPE, type Extent, matchAt, run} from './rule.ts';

/** Where a value stands: behind which key, and how that was written. */
export interface Place {
  /** Where the value begins. */
  at: number;
  key: string;
  keyStart: number;
  keyQuoted: boolean;
  /** The key begins its line, as in YAML and files of variables; `escaped` where that is a line of a string. */
  beginsLine: boolean | 'escaped';
  separator: string;
}

const NEXT_PAIR = /[,;&|][ \t]*[\w.-]{1,64}\\*["']?[=:]/y;
const CONTINUED = /\r?\n(?:\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)[ \t])?([^\s"',{}]{1,4096})/y;

const LINE = new RegExp(`[^\\r\\n${ESCAPE}]*`, 'y');
const LINE_END = new RegExp(`[\\r\\n${ESCAPE}]`, 'g');

/** A value in quotes, from behind the opening one. Escaped as deeply as the opening quote is, and wrapped at most once. */
export function quoted(text: string, start: number, depth: number, quote: string): readonly Extent[] {
  const most = Math.min(text.length, start + LIMITS.value);
  let slashes = 0;
  for (let place = start; place < most; place += 1) {
    const one = text.charAt(place);
    if (one === '\\') slashes += 1;
    else if (one === quote && (slashes < depth || Math.floor(slashes / (depth + 1)) % 2 === 0)) {
      if (quote !== "'" || slashes > 0 || text.charAt(place + 1) !== "'") return [{start, end: place - Math.min(slashes, depth)}];
      place += 1;
      slashes = 0;
    } else if (one === '\n') {
      const rest = matchAt(CONTINUED, text, place);
      const end = place + (rest?.[0].length ?? 0);
      const line = {start, end: text.charAt(place - 1) === '\r' ? place - 1 : place};
      if (rest === undefined || text.charAt(end) !== quote) return [line];
      return [line, {start: end - (rest[1] as string).length, end: trimSlashes(text, end, depth)}];
    } else slashes = 0;
  }
  return [most - start < LIMITS.value ? {start, end: most} : run(start, most, quote === '"' ? /["\n]/g : /['\n]/g)];
}

const trimSlashes = (text: string, end: number, depth: number): number => {
  let place = end;
  while (place > end - depth && text.charAt(place - 1) === '\\') place -= 1;
  return place;
};

/** A value without quotes, up to what ends it in a line of a log, a URL, a file of variables or YAML. */
export function bare(text: string, {at, key, keyQuoted, beginsLine, separator}: Place): Extent {
  if (keyQuoted) return upTo(text, at, /[^,}\]\s"'\\]*/y, /[,}\]\s"'\\]/g);
  if (separator === '>') return upTo(text, at, /[^<\n]*/y, /[<\n]/g);
  const header = /^(?:authorization|(?:set-)?cookie)$/i.test(key) && (beginsLine || /^[A-Z]/.test(key) || text.charAt(at - 1) !== ' ');
  const ofYaml = beginsLine && separator === ':' && text.charAt(at - 1) === ' ';
  const ofVariables = beginsLine && separator === '=' && /^[A-Z0-9_]+$/.test(key);
  if (!header && !ofYaml && !ofVariables) return word(text, at);
  const line = upTo(text, at, LINE, LINE_END);
  const content = text.slice(at, line.end);
  if (header || beginsLine === 'escaped') return {...line, end: at + (/^(?:\\(?!\\*["'nr])|[^"'\\])*/.exec(content)?.[0].length ?? 0)};
  if (ofVariables && /[ \t][\w.]+=/.test(content)) return word(text, at);
  return line.unended ? line : {...line, end: at + content.replace(/[ \t]+#.*$|[ \t]+$/, '').length};
}

/** A run without blanks; punctuation ends it only where something follows that begins anew. */
function word(text: string, at: number): Extent {
  const most = Math.min(text.length, at + LIMITS.value);
  let end = at;
  for (; end < most; end += 1) {
    const one = text.charAt(end);
    if (' \t\r\n<>`\u001b'.includes(one)) break;
    if ((one === '"' || one === "'") && /^$|^[\\\s,;:}\])&|`]/.test(text.charAt(end + 1))) break;
    if (one === '\\' && /^\\+["'nrt]/.test(text.slice(end, end + 18))) break;
    if (',;&|'.includes(one) && matchAt(NEXT_PAIR, text, end) !== undefined) break;
  }
  if (end - at >= LIMITS.value) return run(at, end, /[ \t\r\n<>`"']/g);
  return {start: at, end: at + withoutClosing(text.slice(at, end)).length};
}

/** Without the punctuation of the sentence or list around it, but with brackets that it opened itself. */
function withoutClosing(value: string, most = 8): string {
  const last = value.at(-1) ?? '';
  const opening = {')': '(', '}': '{', ']': '['}[last];
  const cut = ',;.'.includes(last) || (opening !== undefined && !value.includes(opening));
  return cut && most > 0 ? withoutClosing(value.slice(0, -1), most - 1) : value;
}

function upTo(text: string, at: number, expression: RegExp, stop: RegExp): Extent {
  const length = Math.min(matchAt(expression, text.slice(0, at + LIMITS.value), at)?.[0].length ?? 0, LIMITS.value);
  return run(at, at + length, stop);
}

/** The lines below a key that are indented deeper, or those of a heredoc. */
export function block(text: string, {at, keyStart}: Place): Extent | undefined {
  const heredoc = text.charAt(at) !== '<' ? undefined : matchAt(/<<[-~]?"?(\w{1,32})"?[ \t]*\r?\n/y, text, at);
  if (heredoc !== undefined) {
    const start = at + heredoc[0].length;
    const end = new RegExp(`\\n[ \\t]*${heredoc[1]}\\b`).exec(text.slice(start, start + LIMITS.value));
    return {start, end: end === null ? Math.min(text.length, start + LIMITS.value) : start + end.index};
  }
  const first = text.charAt(at);
  const scalar = first !== '|' && first !== '>' ? undefined : matchAt(/[|>][-+0-9]{0,2}[ \t]*(?:#[^\n]*)?\r?\n([ \t]+)(?=\S)/y, text, at);
  if (scalar === undefined) return undefined;
  const indent = scalar[1] as string;
  const column = keyStart - (text.lastIndexOf('\n', keyStart - 1) + 1);
  if (indent.length <= column && !/^[ \t-]*$/.test(text.slice(keyStart - column, keyStart))) return undefined;
  const start = at + scalar[0].length;
  const lines = matchAt(
    new RegExp(`[^\\n]*(?:\\n(?:${indent}[^\\n]*|[ \\t\\r]*(?=\\n)))*`, 'y'),
    text.slice(0, start + LIMITS.value),
    start,
  );
  return {start, end: start + (lines?.[0].trimEnd().length ?? 0)};
}
