import {ANCHOR_LENGTH, anchorIn} from './anchors.ts';
import {type Canonical, canonicalFor, endOf, readCanonical} from './canonical.ts';
import type {KnownSecretSet, KnownValue} from './known-values.ts';
import {PatternSearch} from './pattern-search.ts';
import {type Spelling, secretSpellings} from './spellings.ts';

/** Of a longer spelling, this many bytes in a row are enough. */
const FRAGMENT = 32;
/** A long spelling has one anchor in each stretch of this length, so every fragment has one. */
const STRETCH = FRAGMENT / 2;
/** Longer values have longer stretches, which bounds the memory. */
const MOST_ANCHORS = 8192;
/** Repetitive values have the same anchor again and again. */
const MOST_ALIKE = 8;
/** What stands before a value can look like the beginning of an escape that ends in it: `\\n`, `%41`. */
const SLACK = 2;
/** Spellings that are shorter have to be complete. */
const SHORTEST_WITH_SLACK = 10;

/** Bytes that are read at once, and how many of them are read again: more than any spelling of a fragment needs. */
const BLOCK = 32_768;
const OVERLAP = 2048;

export interface KnownMatch {
  start: number;
  end: number;
  known: KnownValue;
}

/** Characters of a spelling that are searched, and their place in it. */
interface Anchor {
  spelling: Spelling;
  at: number;
}

/** Finds known values in any spelling: where a text has an anchor of a spelling, the bytes around it are compared. */
export class KnownValueSearch {
  readonly #anchors: readonly Anchor[];
  readonly #search: PatternSearch;
  readonly #canonical = canonicalFor(BLOCK + OVERLAP);

  constructor(
    {known}: Pick<KnownSecretSet, 'known'>,
    spellingsOf: (known: KnownValue) => Spelling[] = secretSpellings,
  ) {
    const uses = new Map<string, number>();
    this.#anchors = known
      .flatMap(spellingsOf)
      .flatMap((spelling) => anchorsOf(spelling.text, uses).map((at) => ({spelling, at})));
    this.#search = new PatternSearch(
      this.#anchors.map(({spelling, at}) => spelling.text.slice(at, at + ANCHOR_LENGTH)),
    );
  }

  /** Every match in a part of the text, read in blocks that fit into the cache of a core. */
  matchesIn(text: Uint8Array, from = 0, to = text.length): KnownMatch[] {
    const matches: KnownMatch[] = [];
    if (this.#anchors.length === 0) return matches;
    for (let start = from; start < to; start += BLOCK) {
      readCanonical(text, start, Math.min(to, start + BLOCK + OVERLAP), this.#canonical);
      matches.push(...this.#matchesInBlock(text));
    }
    return matches;
  }

  #matchesInBlock(text: Uint8Array): KnownMatch[] {
    const {bytes, length} = this.#canonical;
    const matches: KnownMatch[] = [];
    /** End of the last match of a spelling, to compare no text twice. */
    const ends = new Map<Spelling, number>();
    const cursor = {position: 0, state: 0};
    while (this.#search.advance(bytes, cursor, length)) {
      for (const pattern of this.#search.patternsAt(cursor.state)) {
        const {spelling, at} = this.#anchors[pattern] as Anchor;
        if (cursor.position <= (ends.get(spelling) ?? 0)) continue;
        const range = rangeAround(this.#canonical, cursor.position - ANCHOR_LENGTH, {spelling, at});
        if (range === undefined) continue;
        ends.set(spelling, range.end);
        matches.push(matchOf(text, this.#canonical, range, spelling));
      }
    }
    return matches;
  }
}

/** Places of the anchors of a spelling. `uses` counts how often an anchor was chosen. */
function anchorsOf(text: string, uses: Map<string, number>): number[] {
  const anchorAt = (at: number): string => text.slice(at, at + ANCHOR_LENGTH);
  const isFull = (at: number): boolean => (uses.get(anchorAt(at)) ?? 0) >= MOST_ALIKE;
  const isLong = text.length >= FRAGMENT;
  const stretch = isLong ? Math.max(STRETCH, Math.ceil(text.length / MOST_ANCHORS)) : text.length;
  const places: number[] = [];
  for (let from = 0; from + ANCHOR_LENGTH <= text.length; from += stretch) {
    const at = isLong ? anchorIn(text, from, from + stretch, isFull) : onlyAnchor(text, isFull);
    if (at === undefined) continue;
    uses.set(anchorAt(at), (uses.get(anchorAt(at)) ?? 0) + 1);
    places.push(at);
  }
  return places;
}

const onlyAnchor = (text: string, isFull: (at: number) => boolean): number | undefined =>
  anchorIn(text, SLACK, text.length, isFull) ??
  anchorIn(text, 0, text.length, isFull) ??
  anchorIn(text, 0, text.length);

/** The canonical bytes around an anchor that are those of its spelling; undefined if they are too few. */
function rangeAround(
  {bytes, length}: Canonical,
  position: number,
  {spelling: {text}, at}: Anchor,
): {start: number; end: number} | undefined {
  const isSame = (offset: number): boolean =>
    at + offset >= 0 &&
    at + offset < text.length &&
    position + offset >= 0 &&
    position + offset < length &&
    text.charCodeAt(at + offset) === bytes[position + offset];
  let before = 0;
  while (isSame(-before - 1)) before += 1;
  let after = ANCHOR_LENGTH;
  while (isSame(after)) after += 1;
  return before + after < leastOf(text.length)
    ? undefined
    : {start: position - before, end: position + after};
}

function leastOf(length: number): number {
  if (length < SHORTEST_WITH_SLACK) return length;
  return Math.min(FRAGMENT, length - SLACK);
}

/** The match in the text. The base64 characters next to it hold bits of the value, too. */
function matchOf(
  text: Uint8Array,
  {bytes, starts, length}: Canonical,
  range: {start: number; end: number},
  {known, isBase64}: Spelling,
): KnownMatch {
  let first = range.start;
  let last = range.end - 1;
  const endAt = (place: number): number => endOf(text, starts[place] as number);
  const isJoined = (place: number): boolean => endAt(place) === starts[place + 1];
  const isDigit = (place: number): boolean => BASE64.has(bytes[place] as number);
  if (isBase64 && first > 0 && isJoined(first - 1) && isDigit(first - 1)) first -= 1;
  if (isBase64 && last + 1 < length && isJoined(last) && isDigit(last) && isDigit(last + 1))
    last += 1;
  return {start: starts[first] as number, end: endAt(last), known};
}

/** In canonical form. */
const BASE64 = new Set(
  Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'),
);
