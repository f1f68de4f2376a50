import {ALIGNMENTS, base64Of, formsOf, type KnownSecretSet, type KnownValue} from './known-values.ts';
import {type Extent, LIMITS, matchAt} from './rule.ts';

export interface Needle {
  known: KnownValue;
  /** Characters that are compared one by one, without those that can be escaped. */
  characters: string;
  writing: Writing;
}

export interface NeedleAnchor {
  text: string;
  needle: Needle;
  /** Position of the anchor in the needle. */
  at: number;
}

/** Anchors of a known value: two stretches that no text encoding changes, and two in each base64 alignment. */
export const anchorsOf = ({known}: KnownSecretSet): NeedleAnchor[] =>
  known.flatMap((each) => [
    ...[...each.texts, ...each.parts].flatMap((text) => [...textAnchors(each, text), ...base64Anchors(each, text)]),
    ...each.texts.flatMap((text) => rareAnchors(each, text)),
  ]);

function textAnchors(known: KnownValue, text: string): NeedleAnchor[] {
  const forms = formsOf(text);
  const stable = windows(text, STABLE, (written) => textNeedle(known, written));
  // With every byte as %XX, no letter stays the same; a text of symbols shares nothing with its encodings.
  const others = [...forms].filter(
    ([name]) => name.startsWith('percent full upper') || (stable.length === 0 && !name.startsWith('base64')),
  );
  const ascii = forms.get('json ascii');
  return [
    ...stable,
    ...others.map(([, form]) => ({text: form.slice(0, 9), needle: textNeedle(known, text), at: 0})),
    ...(ascii === undefined ? [] : windows(ascii, STABLE, (written) => textNeedle(known, written))),
  ];
}

const STABLE = /[\w.~-]{4,}/g;
const textNeedle = (known: KnownValue, text: string): Needle => ({
  known,
  characters: text.replace(/\r?\n[ \t]*/g, '\n').replaceAll('\\', ''),
  writing: 'text',
});

function rareAnchors(known: KnownValue, text: string): NeedleAnchor[] {
  const bytes = Buffer.from(text, 'latin1');
  const hex = bytes.toString('hex');
  return [
    ...[hex, hex.toUpperCase()].flatMap((written) => windows(written, STABLE, (part) => textNeedle(known, part))),
    ...ALIGNMENTS.flatMap((inner) => base64Anchors(known, base64Of(bytes, inner))),
  ];
}

const base64Anchors = (known: KnownValue, text: string): NeedleAnchor[] =>
  ALIGNMENTS.flatMap((shift) => {
    const characters = base64Of(Buffer.from(text, 'latin1'), shift);
    const needle: Needle = {known, characters, writing: 'base64'};
    const stable = windows(characters, /[A-Za-z0-9]{4,}/g, (part) => ({...needle, characters: part}));
    if (stable.length > 0) return stable;
    const written = [
      characters,
      characters.replaceAll('+', '-').replaceAll('/', '_'),
      encodeURIComponent(characters),
      characters.replaceAll('/', '\\/'),
    ];
    return [...new Set(written)].map((form) => ({text: form.slice(0, 9), needle, at: 0}));
  });

const WIDTH = 8;

/** The first and the last stretch that no encoding changes. */
function windows(text: string, stable: RegExp, needleOf: (text: string) => Needle): NeedleAnchor[] {
  const stretches = [...text.matchAll(stable)];
  const first = stretches.find(([run]) => run.length >= WIDTH) ?? stretches[0];
  const last = stretches.findLast(([run]) => run.length >= WIDTH) ?? stretches.at(-1);
  if (first === undefined || last === undefined) return [];
  const needle = needleOf(text);
  const anchors = [first[0].slice(0, WIDTH), last[0].slice(-WIDTH)];
  const places = [first.index, last.index + last[0].length - (anchors[1] as string).length];
  return places
    .map((place, index) => ({text: anchors[index] as string, needle, at: needleOf(text.slice(0, place)).characters.length}))
    .filter(({at}, index, all) => index === 0 || at !== all[0]?.at);
}

const HANDS: Readonly<Record<Writing, readonly NeedleLookup[]>> = {
  text: (['nothing', 'percent', 'percentTwice', 'entities', 'quotes'] as const).map((decoding) => ({writing: 'text', decoding})),
  base64: (['percent', 'percentTwice', 'nothing'] as const).map((decoding) => ({writing: 'base64', decoding})),
};

/** Number of matching characters around the anchor; undefined if there are too few. */
export function written(text: string, start: number, {needle, at}: NeedleAnchor): Extent | undefined {
  for (const hand of HANDS[needle.writing]) {
    const {characters} = needle;
    let [to, end] = [at, start];
    for (let place = start; to < characters.length; end = place, to += 1) {
      place = after(text, place, characters.charAt(to), hand);
      if (place === -1) break;
    }
    let [from, first] = [at, start];
    for (let place = start; from > 0; first = place, from -= 1) {
      place = before(text, place, characters.charAt(from - 1), hand);
      if (place === -1) break;
    }
    if (isEnough(to - from, characters.length)) return needle.writing === 'base64' ? withEdges(text, first, end) : {start: first, end};
  }
  return undefined;
}

/** A complete match, or a match that is long enough to be truncated text. */
const isEnough = (read: number, all: number): boolean => read === all || (read >= 32 && read * 2 >= all);

/** Base64 characters that contain bits of the value and of its neighbors. */
function withEdges(text: string, start: number, end: number): Extent {
  const edge = /[\w+/-]/;
  const from = start > 0 && edge.test(text.charAt(start - 1)) && end - start < LIMITS.behind ? start - 1 : start;
  const to = edge.test(text.charAt(end)) ? end + 1 : end;
  return {start: from, end: to + (/^={0,2}/.exec(text.slice(to, to + 2))?.[0].length ?? 0)};
}

/** Notation of a needle: base64 can be wrapped anywhere and has two alphabets, text has escapes. */
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

export interface NeedleLookup {
  writing: Writing;
  /** Characters with a special meaning, one at a time: a secret can contain the others unchanged. */
  decoding: 'nothing' | 'percent' | 'percentTwice' | 'entities' | 'quotes';
}

/** Matches one character after `at` in any notation: returns the next position, or -1. Backslashes are ignored. */
export const after = (text: string, at: number, wanted: string, hand: NeedleLookup): number => {
  for (let place = at, most = at + 64; place < most; ) {
    const one = text.charAt(place);
    const found = one === wanted && !"'&%\n".includes(one) ? 1 : lengthOf(wanted, one, hand, (sign) => matchAt(AT[sign].here, text, place));
    if (found > 0) return place + found;
    if (found === 0) return -1;
    place -= found;
  }
  return -1;
};

/** The same before `at`: the previous position, or -1. */
export const before = (text: string, at: number, wanted: string, hand: NeedleLookup): number => {
  for (let place = at, least = Math.max(0, at - 64); place > least; ) {
    // Read backwards, a digit stands for itself: digits are never escaped.
    if (/^\d$/.test(wanted) && text.charAt(place - 1) === wanted) return place - 1;
    const near = text.slice(Math.max(0, place - 48), place);
    const found = lengthOf(wanted, near.at(-1) as string, hand, (sign) => AT[sign].upTo.exec(near) ?? undefined);
    if (found > 0) return place - found;
    if (found === 0) return -1;
    place += found;
  }
  return -1;
};

/** Length of the notation of a character, 0 for no match, negative for characters to skip. */
function lengthOf(
  wanted: string,
  one: string,
  {writing, decoding}: NeedleLookup,
  look: (sign: Escape) => RegExpExecArray | undefined,
): number {
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
  // A backslash before a base64 n looks like an escaped line break.
  const wrap = look(writing === 'base64' && decoding !== 'nothing' ? 'newLine' : 'wrap');
  if (wrap !== undefined && !(same && wrap[0] === one)) return -wrap[0].length;
  if (same) return 1;
  return one === '\\' ? -1 : 0;
}

type Decoder = (wanted: string, one: string, writing: Writing, look: (sign: Escape) => RegExpExecArray | undefined) => number;

const DECODERS: Readonly<Record<NeedleLookup['decoding'], Decoder>> = {
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
  const decoded = fromHex(found[1] as string);
  if (decoded === wanted || (writing === 'base64' && standard(decoded) === wanted)) return found[0].length;
  return decoded === '\\' ? -found[0].length : 0;
}
