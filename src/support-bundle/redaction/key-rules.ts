import {isHarmless, isHclReference, isObjectName, isProse} from './harmless.ts';
import {KEY_ANCHORS, keyHolds} from './key-names.ts';
import {type Extent, matchAt, NOTHING, type Rule} from './rule.ts';
import {bare, block, type Place, quoted} from './value-extents.ts';

const KEY_END = /[\w.-]{0,64}/y;
/** What may stand between a key and its value: quotes as deep as the JSON is nested, brackets, blanks. */
const SIGN = String.raw`(\\*["'\`]?)\]?[ \t]*(:=|=>|=(?!=)|:(?![:=])|(?<=<[\w.:-]{1,64})>|%3[ad])`;
const FLAG = String.raw`(?<=(?:^|[\s"'=,([])--?[\w-]{2,64})(?:(?=[ \t])|\\*["'],(?= ?\\*["']))`;
const SEPARATOR = new RegExp(`(?:${SIGN}|${FLAG})[ \\t,+]*(?:\\[(?=\\\\*["']))?`, 'iy');
const OPENING = /(\\*)(["'])/y;
/** Nothing behind the key: the line ends, or the string around it. */
const ENDS = /\\+[nr]|\\*["'](?:[,;}\])]|\s|$)/y;
const SCHEME = /(?:(?:bearer|basic|token|digest|negotiate|apikey|aws4-hmac-sha256)(?:[ \t]+|%20))/iy;
const CHANGED_TO = /\\*"[ \t]*->[ \t]*(\\*)"/y;

/** Values of keys that look secret, in YAML, JSON at any depth of escaping, variables, flags and Terraform. */
export const keyRule: Rule = {
  name: 'key',
  anchors: KEY_ANCHORS,
  find(text, start, end) {
    const keyEnd = end + (matchAt(KEY_END, text, end)?.[0].length ?? 0);
    const separator = matchAt(SEPARATOR, text, keyEnd);
    if (separator === undefined) return NOTHING;
    const keyStart = startOfKey(text, start);
    if (isPseudonym(text, keyStart, keyEnd)) return NOTHING;
    const key = text.slice(keyStart, keyEnd);
    const holds = keyHolds(key);
    // Names in paths of colons, such as those of AWS, are no keys.
    if (holds === 'other' || (text.charAt(keyStart - 1) === ':' && separator[0] === ':')) return NOTHING;
    const place: Place = {
      at: keyEnd + separator[0].length,
      key,
      keyStart,
      keyQuoted: (separator[1] ?? '') !== '',
      beginsLine: beginsLine(text.slice(Math.max(0, keyStart - 80), keyStart)),
      separator: separator[2] ?? ' ',
    };
    return valueAt(text, place).filter(({start: from, end: to}) => isSecret(text, from, to, place, holds));
  },
};

const BEGINS_LINE = /(^|\n|\\n)(?:\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)[ \t])?[ \t]*(?:[-+~] +)?(?:export +)?["']?$/;
const beginsLine = (before: string): Place['beginsLine'] => {
  const found = BEGINS_LINE.exec(before);
  return found?.[1] === '\\n' ? 'escaped' : found !== null;
};

/** What stands in place of a value says of what kind it was; hidden once more it would have another name than elsewhere. */
const isPseudonym = (text: string, keyStart: number, keyEnd: number): boolean =>
  text.endsWith('[redacted:', keyStart) && /^:[0-9a-f]{8}\]/.test(text.slice(keyEnd, keyEnd + 10));

const KEY = /[\w.-]/;

/** Escapes end in a letter that is no part of the key: `\nTOKEN=`. */
export function startOfKey(text: string, start: number): number {
  let place = start;
  while (place > 0 && start - place < 128 && KEY.test(text.charAt(place - 1))) place -= 1;
  return text.charAt(place - 1) === '\\' && /[nrt]/.test(text.charAt(place)) && place < start ? place + 1 : place;
}

/** The extent of the value that begins here, whichever way it is written; two where Terraform shows a change. */
export function valueAt(text: string, place: Place): readonly Extent[] {
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

function isSecret(text: string, start: number, end: number, {key, keyQuoted, beginsLine, separator}: Place, holds: string): boolean {
  const value = text.slice(start, end).replace(/^`|[`,;]+$/g, '');
  const first = text.charAt(start - 1);
  const isBare = first !== '"' && first !== "'";
  if (isHarmless(value) || (holds === 'name' && isObjectName(value))) return false;
  if (holds === 'word' && separator !== '=' && isProse(value)) return false;
  if (/dsn$/i.test(key) && /^https?:\/\/\w+@/.test(value)) return false;
  if (!isBare) return true;
  if (holds === 'word' && separator !== '=') return false;
  if (/^[[{(]/.test(value) || (separator === '>' && !text.startsWith('</', end))) return false;
  if (isHclReference(value) && (separator === '=' || text.charAt(start - 1) === ' ')) return false;
  return keyQuoted || beginsLine !== false || separator === '=' || !isProse(value);
}
