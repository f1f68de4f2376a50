import {matchAt} from './rule.ts';

/** How a needle may be written: base64 is wrapped anywhere and has two alphabets, text has escapes. */
export type Writing = 'text' | 'base64';

const NEW_LINE = String.raw`(?:\r?\n(?:\d{4}-\d\d-\d\dT[\d:.]{8,20}(?:Z|[+-]\d\d:\d\d)[ \t])?[ \t]*)`;
const ESCAPED_NEW_LINE = String.raw`(?:(?:\\+r)?\\+n[ \t]*)`;
const PERCENT = '%([0-9a-f]{2})';
const PERCENT_TWICE = '%25([0-9a-f]{2})';
const PERCENT_NEW_LINE = '(?:(?:%(?:25)?0d)?%(?:25)?0a(?:%(?:25)?(?:20|09)|[+ ])*)';
const UNICODE = String.raw`\\+u00([0-9a-f]{2})`;
const ENTITY = '&(?:#(\\d{2,3})|#x([0-9a-f]{2})|(amp|lt|gt|quot|apos));';
const QUOTES = String.raw`'\\+''|'"'"'|''`;
export const ENTITIES: Readonly<Record<string, string>> = {amp: '&', lt: '<', gt: '>', quot: '"', apos: "'"};
const LETTERS: Readonly<Record<string, string>> = {'\r': 'r', '\t': 't', '\b': 'b', '\f': 'f'};

const here = (source: string): RegExp => new RegExp(source, 'iy');
const upTo = (source: string): RegExp => new RegExp(`(?:${source})$`, 'i');
const both = (source: string): {here: RegExp; upTo: RegExp} => ({here: here(source), upTo: upTo(source)});

const AT = {
  wrap: both(NEW_LINE),
  newLine: both(`${NEW_LINE}|${ESCAPED_NEW_LINE}|${PERCENT_NEW_LINE}`),
  percent: both(PERCENT),
  percentTwice: both(PERCENT_TWICE),
  unicode: both(UNICODE),
  entity: both(ENTITY),
  quotes: both(QUOTES),
  r: both(String.raw`\\+r`),
  t: both(String.raw`\\+t`),
  b: both(String.raw`\\+b`),
  f: both(String.raw`\\+f`),
};
type Escape = keyof typeof AT;

const fromHex = (hex: string): string => String.fromCharCode(Number.parseInt(hex, 16));
const standard = (one: string): string => (one === '-' ? '+' : one === '_' ? '/' : one);

export interface Hand {
  writing: Writing;
  /** What means something else than itself. One thing at a time: a secret may hold the others as they are. */
  decoding: 'nothing' | 'percent' | 'percentTwice' | 'entities' | 'quotes';
}

/** Reads one wanted character after `at` in whatever way it is written: the place behind it, or -1. Backslashes count for nothing. */
export const after = (text: string, at: number, wanted: string, hand: Hand): number => {
  for (let place = at, most = at + 64; place < most; ) {
    const one = text.charAt(place);
    const found = one === wanted && !"'&%\n".includes(one) ? 1 : lengthOf(wanted, one, hand, (sign) => matchAt(AT[sign].here, text, place));
    if (found > 0) return place + found;
    if (found === 0) return -1;
    place -= found;
  }
  return -1;
};

/** The same before `at`: the place in front of the character, or -1. */
export const before = (text: string, at: number, wanted: string, hand: Hand): number => {
  for (let place = at, least = Math.max(0, at - 64); place > least; ) {
    // Read backwards, a digit is rather itself than the end of an escape: nobody escapes digits.
    if (/^\d$/.test(wanted) && text.charAt(place - 1) === wanted) return place - 1;
    const near = text.slice(Math.max(0, place - 48), place);
    const found = lengthOf(wanted, near.at(-1) as string, hand, (sign) => AT[sign].upTo.exec(near) ?? undefined);
    if (found > 0) return place - found;
    if (found === 0) return -1;
    place += found;
  }
  return -1;
};

/** How many characters say the wanted one, 0 for none, and below zero how many say nothing and are passed over. */
function lengthOf(wanted: string, one: string, {writing, decoding}: Hand, look: (sign: Escape) => RegExpExecArray | undefined): number {
  if (wanted === '\n') {
    const line = look('newLine');
    if (line !== undefined) return line[0].length;
  }
  const same = one === wanted || (writing === 'base64' && standard(one) === wanted);
  const unicode = look('unicode');
  if (unicode !== undefined && fromHex(unicode[1] as string) === wanted) return unicode[0].length;
  const special = DECODERS[decoding](wanted, one, writing, look);
  if (special !== 0) return special;
  const letter = LETTERS[wanted];
  const escaped = letter === undefined ? undefined : look(letter as Escape);
  if (escaped !== undefined) return escaped[0].length;
  // A backslash before an n of base64 itself looks like an escaped line end.
  const wrap = look(writing === 'base64' && decoding !== 'nothing' ? 'newLine' : 'wrap');
  if (wrap !== undefined && !(same && wrap[0] === one)) return -wrap[0].length;
  if (same) return 1;
  return one === '\\' ? -1 : 0;
}

type Decoder = (wanted: string, one: string, writing: Writing, look: (sign: Escape) => RegExpExecArray | undefined) => number;

const DECODERS: Readonly<Record<Hand['decoding'], Decoder>> = {
  nothing: () => 0,
  percent: (wanted, one, writing, look) => percent(wanted, one, writing, look('percent')),
  percentTwice: (wanted, one, writing, look) => percent(wanted, one, writing, look('percentTwice')),
  entities(wanted, _one, _writing, look) {
    const found = look('entity');
    if (found === undefined) return 0;
    const [all, code, hex, name] = found;
    const means = name ? ENTITIES[name.toLowerCase()] : hex ? fromHex(hex) : String.fromCharCode(Number(code));
    return means === wanted ? all.length : 0;
  },
  quotes: (wanted, _one, _writing, look) => (wanted === "'" ? (look('quotes')?.[0].length ?? 0) : 0),
};

function percent(wanted: string, one: string, writing: Writing, found: RegExpExecArray | undefined): number {
  if (wanted === ' ' && one === '+') return 1;
  if (found === undefined) return 0;
  const said = fromHex(found[1] as string);
  if (said === wanted || (writing === 'base64' && standard(said) === wanted)) return found[0].length;
  return said === '\\' ? -found[0].length : 0;
}
