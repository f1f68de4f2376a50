import {isHarmless, isHclReference, isObjectName, isProse} from './harmless.ts';
import {keyAround} from './key-at.ts';
import {isPlace, KEY_ANCHORS} from './key-names.ts';
import {COLOUR, type Extent, matchAt, NOTHING, type Rule} from './rule.ts';
import {bare, block, type Place, quoted} from './value-extents.ts';

/** What may stand between a key and its value: quotes as deep as the JSON is nested, brackets, blanks. */
const SIGN = String.raw`(\\*["'\`]?)\]?${COLOUR}{0,4}[ \t]{0,256}(:=|=>|=(?!=)|:(?![:=])|(?<=<[\w.:-]{1,64})>|%3[ad])`;
const FLAG = String.raw`(?<=(?:^|[\s"'=,([])--?[\w-]{2,64})(?:(?=[ \t])|\\*["'],(?= ?\\*["']))`;
const SEPARATOR = new RegExp(`(?:${SIGN}|${FLAG})(?:[ \\t,+]|${COLOUR}){0,256}(?:\\[(?=\\\\*["']))?`, 'iy');
/** Python says of bytes that they are. */
const OPENING = /(?:[bru](?=["']))?(\\*)(["'])/y;
/** Nothing behind the key: the line ends, or the string around it. */
const ENDS = /\\+[nr]|\\*["'](?:[,;}\])]|\s|$)/y;
const SCHEME = /(?:(?:bearer|basic|token|digest|negotiate|apikey|aws4-hmac-sha256)(?:[ \t]+|%20))/iy;
const CHANGED_TO = /\\*"[ \t]*->[ \t]*(\\*)"/y;

/** Values of keys that look secret, in YAML, JSON at any depth of escaping, variables, flags and Terraform. */
export const keyRule: Rule = {
  name: 'key',
  anchors: KEY_ANCHORS,
  onlyOutside: true,
  find(text, start, end) {
    const key = keyAround(text, start, end);
    const separator = key === undefined ? undefined : matchAt(SEPARATOR, text, key.end);
    if (key === undefined || separator === undefined) return NOTHING;
    const before = text.slice(Math.max(0, key.start - 10), key.start);
    // What stands in place of a value says of what kind it was; hidden once more it would have another name than elsewhere.
    if (before.endsWith('[redacted:') && /^:[0-9a-f]{8}\]/.test(text.slice(key.end, key.end + 10))) return NOTHING;
    // Parts of the names of AWS are no keys, and `checksum/secret` of helm is none of its own.
    if (before.endsWith('checksum/') || (before.endsWith(':') && separator[0] === ':')) return NOTHING;
    const place: Place = {
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
const beginsLine = (before: string): Place['beginsLine'] => {
  const found = BEGINS_LINE.exec(before);
  return found?.[1] === '\\n' ? 'escaped' : found !== null;
};

/** The extent of the value that begins here, whichever way it is written; two where Terraform shows a change. */
export function valueAt(text: string, place: Place): readonly Extent[] {
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

function isSecret(text: string, start: number, end: number, {key, keyQuoted, beginsLine, separator}: Place, holds: string): boolean {
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
