import {LIMITS} from './limits.ts';
import type {Extent} from './rule.ts';
import {ALIGNMENTS, base64Of, formsOf} from './seed-forms.ts';
import type {KnownValue, SeedSet} from './seeds.ts';
import {after, before, type Hand, type Writing} from './written.ts';

export interface Needle {
  known: KnownValue;
  /** What is to be read character by character, without what may be escaped away. */
  characters: string;
  writing: Writing;
}

export interface NeedleAnchor {
  text: string;
  needle: Needle;
  /** Which character of the needle the anchor begins with. */
  at: number;
}

/** Places by which each known value is noticed: two where it looks the same in every encoding of text, two in each base64. */
export const anchorsOf = ({known}: SeedSet): NeedleAnchor[] =>
  known.flatMap((each) => [
    ...[...each.texts, ...each.parts].flatMap((text) => [...textAnchors(each, text), ...base64Anchors(each, text)]),
    ...each.texts.flatMap((text) => rareAnchors(each, text)),
  ]);

function textAnchors(known: KnownValue, text: string): NeedleAnchor[] {
  const forms = formsOf(text);
  const stable = windows(text, STABLE, (written) => textNeedle(known, written));
  // Every byte as %XX has no letter in common with the text; a text of signs has none with any of its forms.
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

const HANDS: Readonly<Record<Writing, readonly Hand[]>> = {
  text: (['nothing', 'percent', 'percentTwice', 'entities', 'quotes'] as const).map((decoding) => ({writing: 'text', decoding})),
  base64: (['percent', 'percentTwice', 'nothing'] as const).map((decoding) => ({writing: 'base64', decoding})),
};

/** How much of the needle is written around its anchor, in the best reading; undefined where it is too little to be it. */
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

/** All of it, or so much that the rest was cut off. */
const isEnough = (read: number, all: number): boolean => read === all || (read >= 32 && read * 2 >= all);

/** The characters of base64 that hold bits of the value and of its neighbours. */
function withEdges(text: string, start: number, end: number): Extent {
  const edge = /[\w+/-]/;
  const from = start > 0 && edge.test(text.charAt(start - 1)) && end - start < LIMITS.behind ? start - 1 : start;
  const to = edge.test(text.charAt(end)) ? end + 1 : end;
  return {start: from, end: to + (/^={0,2}/.exec(text.slice(to, to + 2))?.[0].length ?? 0)};
}
