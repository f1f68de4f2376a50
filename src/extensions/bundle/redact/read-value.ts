import {matchAt} from '../../../ground/token-shapes.ts';
import {looksMemorable} from './harmless.ts';
import {type Budget, type Extent, LIMITS, NOTHING, run} from './rule.ts';
import {COLOR, ESCAPE, NEXT_LINE} from './separators.ts';

/** Position of a value: its key, and the notation of the key. */
export interface KeyPosition {
  /** Start of the value. */
  at: number;
  key: string;
  keyStart: number;
  keyQuoted: boolean;
  /** The key starts its line, as in YAML and env files; `escaped` for a line inside a string. */
  beginsLine: boolean | 'escaped';
  /** As written; `%3D` and `\u003d` belong to a URL in a string. */
  separator: string;
}

/** A quote, also escaped for XML, JSON and URLs. */
export const QUOTE = String.raw`(?:\\*["'\`]|&quot;|&#3[49];|\\+u002[27]|%2[27])`;
/** What stands before a quoted text in code: types, calls, tags of YAML, prefixes of Python. */
const WRAPPER = `(?:${[
  String.raw`!!?\w{1,16}[ \t]+`,
  String.raw`(?:new )?(?!\w*(?:get|env|read|load|look|fetch|find|prompt|input|path|open|file))[A-Za-z_][\w.:]{0,40}[(<]`,
  String.raw`\[\][a-z]{1,12}[{(]`,
  String.raw`\[`,
  '<<',
  String.raw`\((?:len=\d+|[\w.*]{1,40})\) ?`,
  String.raw`(?:(?:${NEXT_LINE})[ \t]*)?string\(\d+\) `,
  String.raw`0x[0-9a-f]{1,16}[ \t]+`,
  String.raw`[bBuUrRfFNn$@](?=\\*["'])`,
].join('|')}){0,3}`;
const OPENING = new RegExp(`${WRAPPER}(${QUOTE})`, 'iy');
/**
 * What stands before a quoted text further behind: the first of a pair, `('bob', '…')`, a type, `: string = '…'`, or what it replaces,
 * `process.env.PW || '…'`; and a call of PowerShell.
 */
const SECOND = new RegExp(
  `(?:${[
    String.raw`[\w.]{0,40}\((?:[bu]?\\*["'][^"'\\\n]{1,128}\\*["']|[\w.]{1,64})[ \t]*,[ \t]*[bu]?`,
    String.raw`\(?ConvertTo-SecureString(?:[ \t]+-String)?[ \t]+`,
    String.raw`[\w.]{1,60}(?:[([][^()[\]\n]{0,60}[)\]])?[ \t]*(?:\|\||\?\?|\?:|or\b|=(?!=))[ \t]*`,
  ].join('|')})(\\\\*["'])`,
  'iy',
);
/** No value after the key: the line or the surrounding string ends. */
const ENDS = /\\+[nr]|\\*["'](?:[,;}\])]{1,4}(?:[\s"'\\{]|$)|\s|$)/y;
const ENDS_LINE = /[ \t]*\r?\n|\\+[nr]/y;
const SCHEME =
  /(?:(?:bearer|basic|token|digest|negotiate|apikey|aws4-hmac-sha256)(?:[ \t]+|%20))/iy;
const CHANGED_TO = /\\*"[ \t]*[-=]>[ \t]*(\\*")/y;

/** Range of the value at this position, in every notation; two ranges for a change in Terraform. */
export function valueExtents(text: string, place: KeyPosition, budget: Budget): readonly Extent[] {
  if (text.startsWith('(sensitive', place.at) || text.startsWith('(known after', place.at))
    return NOTHING;
  const blocked = blockAt(text, place);
  if (blocked !== undefined) return [blocked];
  if (place.separator === ':' && matchAt(ENDS_LINE, text, place.at) !== undefined)
    return onlyWordBelow(text, place.at);
  if (!place.keyQuoted && matchAt(ENDS, text, place.at) !== undefined) return NOTHING;
  // ODBC writes every password in braces.
  const braced = /^pwd$/i.test(place.key)
    ? matchAt(/\{([^}\n]{1,256})\}/y, text, place.at)
    : undefined;
  if (braced !== undefined) return [{start: place.at + 1, end: place.at + braced[0].length - 1}];
  const second = matchAt(SECOND, text, place.at);
  if (second !== undefined) return quoted(text, place.at + second[0].length, second[1] as string);
  const opening = matchAt(OPENING, text, place.at);
  if (opening === undefined) return bareExtents(text, place, budget);
  const found = quoted(text, afterScheme(text, place.at + opening[0].length), opening[1] as string);
  const end = found.at(-1)?.end ?? place.at;
  const change = matchAt(CHANGED_TO, text, end);
  return change === undefined
    ? found
    : [...found, ...quoted(text, end + change[0].length, change[1] as string)];
}

/** A change of a number, or from `null`. */
const BARE_CHANGED_TO = /[ \t]+->[ \t]+(?!\()(\\*")?/y;

function bareExtents(text: string, place: KeyPosition, budget: Budget): readonly Extent[] {
  const found = bare(text, {...place, at: afterScheme(text, place.at)}, budget);
  const change = matchAt(BARE_CHANGED_TO, text, found.end);
  if (change === undefined) return [found];
  const at = found.end + change[0].length;
  const [, quote] = change;
  return [
    found,
    ...(quote === undefined ? [bare(text, {...place, at}, budget)] : quoted(text, at, quote)),
  ];
}

const LONE = new RegExp(
  `[ \\t]*(?:(?:${NEXT_LINE})[ \\t]*){1,2}(?:\\\\*["'])?([^\\s"'\\\\]{6,256})(?:\\\\*["'])?[ \\t]*(?=\\r?\\n|\\\\+n|\\\\*"|$)`,
  'dy',
);

/** The only word on the line below a key, if it looks like a password. */
export function onlyWordBelow(text: string, at: number): readonly Extent[] {
  const [start = 0, end = 0] = matchAt(LONE, text, at)?.indices?.[1] ?? [];
  return looksMemorable(text.slice(start, end)) ? [{start, end}] : NOTHING;
}

export const afterScheme = (text: string, at: number): number =>
  at + (matchAt(SCHEME, text, at)?.[0].length ?? 0);

const CONTINUED = new RegExp(String.raw`${NEXT_LINE}[ \t]*([^\s"',{}]{1,4096})`, 'y');

/** A quoted value, after the opening quote. Escaped as deeply as the opening quote, and wrapped at most once. */
export function quoted(text: string, start: number, opening: string): readonly Extent[] {
  const most = Math.min(text.length, start + LIMITS.value);
  const quote = opening.slice(-1);
  if (quote === ';' || /[27]$/.test(opening)) {
    const end = text
      .slice(start, most)
      .search(new RegExp(`${opening.replaceAll('\\', '\\\\')}|\\n`, 'i'));
    return [{start, end: end === -1 ? most : start + end}];
  }
  const depth = opening.length - 1;
  let slashes = 0;
  for (let position = start; position < most; position += 1) {
    const one = text.charAt(position);
    if (one === '\\') slashes += 1;
    else if (one === quote && (slashes < depth || Math.floor(slashes / (depth + 1)) % 2 === 0)) {
      if (quote !== "'" || slashes > 0 || text.charAt(position + 1) !== "'")
        return [{start, end: position - Math.min(slashes, depth)}];
      position += 1;
      slashes = 0;
    } else if (one === '\n') {
      const rest = matchAt(CONTINUED, text, position);
      const end = position + (rest?.[0].length ?? 0);
      const line = {start, end: text.charAt(position - 1) === '\r' ? position - 1 : position};
      if (rest === undefined || text.charAt(end) !== quote) return [line];
      return [line, {start: end - (rest[1] as string).length, end: trimSlashes(text, end, depth)}];
    } else slashes = 0;
  }
  return [
    most - start < LIMITS.value
      ? {start, end: most}
      : run(start, most, quote === '"' ? /["\n]/g : /['\n]/g),
  ];
}

const trimSlashes = (text: string, end: number, depth: number): number => {
  let position = end;
  while (position > end - depth && text.charAt(position - 1) === '\\') position -= 1;
  return position;
};

/** Up to the end of the string around it; parameters of a header can be quoted. */
const IN_STRING = /^(?:=\\*"[^"\\\n]*\\*"|\\(?!\\*["'nr])|[^"'\\])*/;
const LINE = new RegExp(`[^\\r\\n${ESCAPE}]*`, 'y');
const LINE_END = new RegExp(`[\\r\\n${ESCAPE}]`, 'g');
/** `{User:bob Password:a b Host:db}`, as Go prints a struct or a map. */
const isInBraces = (before: string): boolean =>
  Math.max(before.lastIndexOf('{'), before.lastIndexOf('[')) >
  Math.max(before.lastIndexOf('\n'), before.lastIndexOf('}'));
const FIELD =
  /\[?([^\n]{1,256}?)(?=[}\]]*(?:[ \t]+\{?[\w./-]{1,64}:|[}\]]+(?:[\s"',)}\]\\]|$)|\n|\\+[n"]|$))/y;

/** An unquoted value, up to its end in a log line, a URL, an env file or YAML. */
export function bare(
  text: string,
  {at, key, keyStart, keyQuoted, beginsLine, separator}: KeyPosition,
  budget: Budget,
): Extent {
  if (keyQuoted) return upTo(text, at, /[^,}\]\s"'\\]*/y, /[,}\]\s"'\\]/g);
  if (/^(?:%|\\)/.test(separator))
    return upTo(
      text,
      at,
      /(?:(?!%2[26]|%7d|\\+(?:u0026|u0022|["'nrt]))[^\s"'&<>`])*/iy,
      /[\s"'&]/g,
    );
  const [login = ''] = /^-*(?:cred|auth$|basic)/i.test(key)
    ? (matchAt(/[\w.@-]{1,64} ?[/:|] ?(?=[^\s/])/y, text, at) ?? [])
    : [];
  if (login !== '') return word(text, at + login.length, budget);
  const isTight = separator === ':' && text.charAt(at - 1) === ':';
  if (isTight && isInBraces(text.slice(Math.max(0, keyStart - 400), keyStart))) {
    const field = matchAt(FIELD, text, at);
    if (field !== undefined)
      return {start: at + field[0].length - (field[1] as string).length, end: at + field[0].length};
  }
  const header =
    /^(?:(?:proxy-)?authorization|(?:set-)?cookie)$/i.test(key) &&
    (beginsLine || /^[A-Z]/.test(key) || text.charAt(at - 1) !== ' ');
  const ofYaml = beginsLine && separator === ':' && text.charAt(at - 1) === ' ';
  const ofVariables = beginsLine && separator === '=' && /^[A-Z0-9_]+$/.test(key);
  if (!header && !ofYaml && !ofVariables) return word(text, at, budget);
  const line = upTo(text, at, LINE, LINE_END);
  const content = text.slice(at, line.end);
  if (header || beginsLine === 'escaped')
    return {...line, end: at + (IN_STRING.exec(content)?.[0].length ?? 0)};
  if (ofVariables && /[ \t][\w.]+=/.test(content)) return word(text, at, budget);
  return line.unended
    ? line
    : {...line, end: at + content.replace(/[ \t]+#.*$|[ \t]+$/, '').length};
}

const NEXT_PAIR = /(?:[,;&|]|\\+u0026|&amp;|%26)[ \t]*[\w.-]{1,64}\\*["']?(?:[=:]|%3d|\\+u003d)/iy;
const ELEMENT_ENDS = /<\/|\\+u003c\/|&lt;\//iy;

/** What is read when too much was read before; a longer value is skipped to its end. */
const NEAR = 256;

/** Text without whitespace; punctuation ends it only before a new word. */
function word(text: string, at: number, budget: Budget): Extent {
  const limit = budget.isSpent ? NEAR : LIMITS.value;
  const most = Math.min(text.length, at + limit);
  let end = at;
  for (; end < most; end += 1) {
    const one = text.charAt(end);
    if (' \t\r\n`\u001b\0'.includes(one)) break;
    if ((one === '"' || one === "'") && /^$|^[\\\s,;:}\])&|`/>]/.test(text.charAt(end + 1))) break;
    if (one === '\\' && /^\\+(?:["'nrt]|u001b)/i.test(text.slice(end, end + 18))) break;
    if ('<\\&'.includes(one) && matchAt(ELEMENT_ENDS, text, end) !== undefined) break;
    if (',;&|\\%'.includes(one) && matchAt(NEXT_PAIR, text, end) !== undefined) break;
  }
  budget.spend(20 * (end - at));
  if (end - at >= limit) return {start: at, end, unended: /[ \t\r\n<>`"']/g};
  return {start: at, end: at + withoutClosing(text.slice(at, end)).length};
}

/** Without surrounding punctuation, but with brackets that it opened itself. */
function withoutClosing(value: string, most = 8): string {
  const last = value.at(-1) ?? '';
  const opening = {')': '(', '}': '{', ']': '[', '>': '<'}[last];
  const cut = ',;.'.includes(last) || (opening !== undefined && !value.includes(opening));
  return cut && most > 0 ? withoutClosing(value.slice(0, -1), most - 1) : value;
}

function upTo(text: string, at: number, expression: RegExp, stop: RegExp): Extent {
  const length = Math.min(
    matchAt(expression, text.slice(0, at + LIMITS.value), at)?.[0].length ?? 0,
    LIMITS.value,
  );
  return run(at, at + length, stop);
}

const BELOW = new RegExp(`${NEXT_LINE}[ \\t]*`, 'y');
/** A text of several lines in TOML and Python. */
const TRIPLE = /("""|''')(?:\r?\n)?/y;
const HEREDOC = new RegExp(String.raw`<<[-~]?\\*"?(\w{1,32})\\*"?[ \t]*(?=${NEXT_LINE})`, 'y');
const SCALAR = new RegExp(
  String.raw`(?:!{1,2}\w{1,16}[ \t]+)?[|>][-+0-9]{0,2}[ \t]*(?:#[^\n]*)?(?=${NEXT_LINE})`,
  'y',
);
const CONTENT = String.raw`(?:(?!(?:\\+r)?\\+n)[^\r\n])`;
const LINES_BELOW = new RegExp(
  String.raw`(?:${NEXT_LINE}(?:([ \t]+)(?=[^\s\\])${CONTENT}*|[ \t]*(?=\r?\n|\\+n)))`,
  'y',
);

/** The lines below a key with deeper indentation, or those of a heredoc. */
function blockAt(text: string, {at, keyStart}: KeyPosition): Extent | undefined {
  const [open = '', quotes = ''] = matchAt(TRIPLE, text, at) ?? [];
  if (open !== '') {
    const start = at + open.length;
    const end = text.slice(0, start + LIMITS.value).indexOf(quotes, start);
    return end === -1 ? undefined : {start, end};
  }
  const heredoc = text.charAt(at) !== '<' ? undefined : matchAt(HEREDOC, text, at);
  if (heredoc !== undefined) {
    const start =
      at + heredoc[0].length + (matchAt(BELOW, text, at + heredoc[0].length)?.[0].length ?? 0);
    const end = new RegExp(`(?:\\n|\\\\n|")[^\\n]{0,100}?\\b${heredoc[1]}\\b`).exec(
      text.slice(start, start + LIMITS.value),
    );
    return {
      start,
      end: end === null ? Math.min(text.length, start + LIMITS.value) : start + end.index,
    };
  }
  const scalar = '|>!'.includes(text.charAt(at)) ? matchAt(SCALAR, text, at) : undefined;
  if (scalar === undefined) return undefined;
  const start = at + scalar[0].length;
  const column =
    /(?:^|\\n|\n|")([ \t]*(?:- +)?)$/.exec(text.slice(Math.max(0, keyStart - 64), keyStart))?.[1]
      ?.length ?? 0;
  let end = start;
  let least: number | undefined;
  while (end - start < LIMITS.value) {
    const line = matchAt(LINES_BELOW, text, end);
    const indent = line?.[1]?.length;
    if (line === undefined || (indent !== undefined && indent < (least ?? Math.max(1, column))))
      break;
    least ??= indent;
    end += line[0].length;
  }
  const before = matchAt(BELOW, text, start)?.[0].length ?? 0;
  return end > start + before ? {start: start + before, end} : undefined;
}

const COLORS = `(?:[ \\t]|%20|${COLOR})`;
export const SPACES = `${COLORS}{0,256}`;
