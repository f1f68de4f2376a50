import {isHarmless, isHclReference, isObjectName, isPlace, isProse, KEY_ANCHORS, keyAround, keyHolds} from './looks-secret.ts';
import {COLOUR, ESCAPE, type Extent, LIMITS, matchAt, NOTHING, type Rule, run} from './rule.ts';

/** Characters between a key and its value: quotes at any JSON nesting depth, brackets, spaces. */
const SIGN = String.raw`(\\*["'\`]?)\]?${COLOUR}{0,4}[ \t]{0,256}(:=|=>|=(?!=)|:(?![:=])|(?<=<[\w.:-]{1,64})>|%3[ad])`;
const FLAG = String.raw`(?<=(?:^|[\s"'=,([])--?[\w-]{2,64})(?:(?=[ \t])|\\*["'],(?= ?\\*["']))`;
const SEPARATOR = new RegExp(`(?:${SIGN}|${FLAG})(?:[ \\t,+]|${COLOUR}){0,256}(?:\\[(?=\\\\*["']))?`, 'iy');
/** Prefix of bytes in Python. */
const OPENING = /(?:[bru](?=["']))?(\\*)(["'])/y;
/** No value after the key: the line or the surrounding string ends. */
const ENDS = /\\+[nr]|\\*["'](?:[,;}\])]|\s|$)/y;
const SCHEME = /(?:(?:bearer|basic|token|digest|negotiate|apikey|aws4-hmac-sha256)(?:[ \t]+|%20))/iy;
const CHANGED_TO = /\\*"[ \t]*->[ \t]*(\\*)"/y;

/** Values of keys that look secret, in YAML, JSON at any escaping depth, variables, flags and Terraform. */
export const keyRule: Rule = {
  name: 'key',
  anchors: KEY_ANCHORS,
  onlyOutside: true,
  find(text, start, end) {
    const key = keyAround(text, start, end);
    const separator = key === undefined ? undefined : matchAt(SEPARATOR, text, key.end);
    if (key === undefined || separator === undefined) return NOTHING;
    const before = text.slice(Math.max(0, key.start - 10), key.start);
    // A placeholder already names its kind; redacting it again would change the name.
    if (before.endsWith('[redacted:') && /^:[0-9a-f]{8}\]/.test(text.slice(key.end, key.end + 10))) return NOTHING;
    // Parts of AWS names are not keys, and neither is `checksum/secret` of helm.
    if (before.endsWith('checksum/') || (before.endsWith(':') && separator[0] === ':')) return NOTHING;
    const place: KeyPosition = {
      at: key.end + separator[0].length,
      key: key.text,
      keyStart: key.start,
      keyQuoted: (separator[1] ?? '') !== '',
      beginsLine: beginsLine(text.slice(Math.max(0, key.start - 80), key.start)),
      separator: separator[2] ?? ' ',
    };
    return valueAt(text, place).filter(({start: from, end: to}) => isSecret(text, from, to, place, key.holds));
  },
};

const BEGINS_LINE = /(^|\n|\\n)(?:\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)[ \t])?[ \t]*(?:[-+~<>*] +)?(?:export +)?["']?$/;
const beginsLine = (before: string): KeyPosition['beginsLine'] => {
  const found = BEGINS_LINE.exec(before);
  return found?.[1] === '\\n' ? 'escaped' : found !== null;
};

/** Range of the value at this position, in every notation; two ranges for a change in Terraform. */
export function valueAt(text: string, place: KeyPosition): readonly Extent[] {
  if (text.startsWith('(sensitive', place.at) || text.startsWith('(known after', place.at)) return NOTHING;
  const blocked = block(text, place);
  if (blocked !== undefined) return [blocked];
  if (!place.keyQuoted && matchAt(ENDS, text, place.at) !== undefined) return NOTHING;
  const opening = matchAt(OPENING, text, place.at);
  if (opening === undefined) return [bare(text, {...place, at: afterScheme(text, place.at)})];
  const depth = (opening[1] as string).length;
  const found = quoted(text, afterScheme(text, place.at + opening[0].length), depth, opening[2] as string);
  const end = found.at(-1)?.end ?? place.at;
  const change = matchAt(CHANGED_TO, text, end);
  return change === undefined ? found : [...found, ...quoted(text, end + change[0].length, (change[1] as string).length, '"')];
}

const afterScheme = (text: string, at: number): number => at + (matchAt(SCHEME, text, at)?.[0].length ?? 0);

function isSecret(text: string, start: number, end: number, {key, keyQuoted, beginsLine, separator}: KeyPosition, holds: string): boolean {
  const value = text.slice(start, end).replace(/^`|[`,;]+$/g, '');
  const first = text.charAt(start - 1);
  if (/^\d+ bytes\b/.test(text.slice(start, end + 7))) return false;
  const isBare = first !== '"' && first !== "'";
  if (isHarmless(value) || (holds === 'name' && isObjectName(value))) return false;
  if (holds === 'word' && separator !== '=' && isProse(value)) return false;
  if (isPlace(key, value)) return false;
  if (/dsn$/i.test(key) && /^https?:\/\/\w+@/.test(value)) return false;
  if (!isBare) return true;
  if (holds === 'word' && separator !== '=') return false;
  if (/^[[{]/.test(value) || (separator === '>' && !text.startsWith('</', end))) return false;
  if (isHclReference(value) && (separator === '=' || text.charAt(start - 1) === ' ')) return false;
  return keyQuoted || beginsLine !== false || separator === '=' || !isProse(value);
}

/** Between `name: X` and `value: Y`: line ends with timestamps, indentation, commas, plan symbols. */
const GAP = String.raw`(?:[\s,+~-]|\\+[nrt]|\d{4}-\d\d-\d\dT[\d:.]{8,20}Z ){1,120}`;
const ASSIGNMENT = String.raw`\\*["']?[ \t]*(?:[:=]|=>)[ \t]*`;
const VALUE_FOLLOWS = new RegExp(String.raw`\\*["']?${GAP}?\\*["']?value${ASSIGNMENT}`, 'iy');
const NAME_FOLLOWS = new RegExp(String.raw`\\*["']?${GAP}?\\*["']?(?:name|key)${ASSIGNMENT}\\*["']?([\w.-]{1,128})`, 'iy');
const NAMES = new RegExp(`(?:name|key)${ASSIGNMENT}\\\\*["']?$`, 'i');
/** A list continues: the following text belongs to another variable. */
const NEXT_ITEM = /-[ \t]+\\*["']?(?:value|name|key)\\*["']?[ \t]*:/i;
const IS_VALUE = /[:=>][ \t]*\\*["']?$/;

/** `name: DB_PASSWORD` and then `value: …`, as Kubernetes writes variables. */
export const nameThenValue: Rule = {
  name: 'variable',
  anchors: KEY_ANCHORS,
  onlyOutside: true,
  find(text, start, end) {
    const name = keyAround(text, start, end);
    if (name?.holds !== 'secret' || !IS_VALUE.test(text.slice(Math.max(0, name.start - 12), name.start))) return NOTHING;
    const between = matchAt(VALUE_FOLLOWS, text, name.end);
    if (between === undefined || NEXT_ITEM.test(between[0])) return NOTHING;
    if (!NAMES.test(text.slice(Math.max(0, name.start - 40), name.start))) return NOTHING;
    return secretOnes(text, valueBehind(text, name.end + between[0].length));
  },
};

/** The same with the value first, for keys in reverse order. */
export const valueThenName: Rule = {
  name: 'variable',
  anchors: ['value'],
  onlyOutside: true,
  find(text, start, end) {
    const separator = matchAt(VALUE_SEPARATOR, text, end);
    if (separator === undefined || KEY_BEFORE.test(text.charAt(start - 1))) return NOTHING;
    const found = valueBehind(text, end + separator[0].length);
    const name = matchAt(NAME_FOLLOWS, text, found.at(-1)?.end ?? end);
    if (name === undefined || NEXT_ITEM.test(name[0])) return NOTHING;
    return keyHolds(name[1] as string) === 'secret' ? secretOnes(text, found) : NOTHING;
  },
};

const VALUE_SEPARATOR = new RegExp(ASSIGNMENT, 'y');
const KEY_BEFORE = /[\w.-]/;

const valueBehind = (text: string, at: number): readonly Extent[] =>
  valueAt(text, {at, key: 'value', keyStart: at, keyQuoted: /["']/.test(text.slice(at - 3, at)), beginsLine: true, separator: ':'});

const secretOnes = (text: string, found: readonly Extent[]): readonly Extent[] =>
  found.filter(({start, end}) => !isHarmless(text.slice(start, end)));

/** Position of a value: its key, and the notation of the key. */
export interface KeyPosition {
  /** Start of the value. */
  at: number;
  key: string;
  keyStart: number;
  keyQuoted: boolean;
  /** The key starts its line, as in YAML and env files; `escaped` for a line inside a string. */
  beginsLine: boolean | 'escaped';
  separator: string;
}

const NEXT_PAIR = /[,;&|][ \t]*[\w.-]{1,64}\\*["']?[=:]/y;
const CONTINUED = /\r?\n(?:\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)[ \t])?([^\s"',{}]{1,4096})/y;

const LINE = new RegExp(`[^\\r\\n${ESCAPE}]*`, 'y');
const LINE_END = new RegExp(`[\\r\\n${ESCAPE}]`, 'g');

/** A quoted value, after the opening quote. Escaped as deeply as the opening quote, and wrapped at most once. */
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

/** An unquoted value, up to its end in a log line, a URL, an env file or YAML. */
export function bare(text: string, {at, key, keyQuoted, beginsLine, separator}: KeyPosition): Extent {
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

/** Text without whitespace; punctuation ends it only before a new word. */
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

/** Without surrounding punctuation, but with brackets that it opened itself. */
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

/** The lines below a key with deeper indentation, or those of a heredoc. */
export function block(text: string, {at, keyStart}: KeyPosition): Extent | undefined {
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
