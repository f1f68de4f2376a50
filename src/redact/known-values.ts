import type {Secret} from '../ground/secret.ts';
import {type Canonical, canonicalFor, canonicalOf, endOf, readCanonical} from './canonical.ts';

/** A known secret value. `kind` is the name in its pseudonym: token, proxy-password, client-key. */
export interface KnownSecret {
  kind: string;
  value: Secret;
  /** The text has one character per byte. */
  isBinary?: boolean;
  /** Where it comes from, for the list of values that cannot be searched: `secret/key`. */
  source?: string;
}

export interface KnownValue {
  kind: string;
  /** One character per byte. */
  whole: string;
}

export interface KnownSecretSet {
  known: readonly KnownValue[];
  /** Sources of values that are too short, common or public to search for. */
  notUsed: readonly string[];
}

/** Not secret although Secrets contain them; searching for them would redact too much. */
const COMMON = new Set(
  'administrator anonymous cluster.local development kubernetes localhost postgresql production scalr-agent terraform undefined kubernetes.default.svc 127.0.0.1 linux/amd64'.split(
    ' ',
  ),
);

const PUBLIC = /^-----BEGIN (?:TRUSTED )?(?:CERTIFICATE|PUBLIC KEY|X509 CRL)|^ssh-(?:rsa|ed25519) |^https?:\/\/[\w.-]+(?::\d+)?\/?$/;

/** Prepares known values for the search; those that cannot be searched are listed. */
export function knownSecretSet(knownSecrets: readonly KnownSecret[]): KnownSecretSet {
  const known = new Map<string, KnownValue>();
  const notUsed = new Set<string>();
  for (const {kind, value, isBinary, source} of knownSecrets) {
    const bytes = Buffer.from(isBinary ? value.reveal() : value.reveal().trim(), isBinary ? 'latin1' : 'utf8');
    const whole = bytes.toString('latin1');
    if (!isSearchable(whole)) notUsed.add(source ?? kind);
    else if (!known.has(whole)) known.set(whole, {kind: kind.replace(/[^\w-]/g, '-'), whole});
  }
  return {known: [...known.values()], notUsed: [...notUsed].toSorted()};
}

function isSearchable(text: string): boolean {
  if (text.length < SHORTEST || COMMON.has(text.toLowerCase()) || new Set(text).size < 4) return false;
  const oneWord = text.length <= 8 && /^[A-Za-z]?[a-z]+$/.test(text);
  const shortNumber = (text.length < 8 && /^[\d.:-]+$/.test(text)) || /^[a-z]{2}-[a-z]+-\d$/.test(text);
  if (oneWord || shortNumber || (PUBLIC.test(text) && !text.includes('PRIVATE KEY'))) return false;
  return anchorIn(canonicalOf(Buffer.from(text, 'latin1')), 0, text.length) !== undefined;
}

/** Parts that can stand alone: lines of a file, the two unique parts of a JSON Web Token. */
export function partsOf(text: string): string[] {
  const segments = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(text) ? text.split('.').slice(1) : [];
  const lines = text.includes('\n') && text.length < 65_536 ? text.split(/\r?\n/).map((line) => line.trim()) : [];
  const own = [...segments, ...lines.filter((line) => !line.startsWith('-----'))];
  return [...new Set(own.filter((part) => part.length >= 12 && isSearchable(part)))];
}

const ALIGNMENTS = [0, 1, 2] as const;

/** Base64 characters that depend only on these bytes, for each number of bytes before them. */
function base64Of(bytes: Buffer, before: (typeof ALIGNMENTS)[number]): string {
  const first = Math.ceil((before * 8) / 6);
  const last = Math.floor(((before + bytes.length) * 8) / 6);
  return Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .slice(first, last);
}

/** The spellings of a value that are not the same in canonical form. */
function spellingsOf(value: Buffer, isWhole: boolean): {bytes: Buffer; isBase64?: boolean}[] {
  const text = value.toString('latin1');
  const asUtf8 = value.toString('utf8');
  const isUtf8 = Buffer.from(asUtf8).equals(value);
  // Bytes that are not UTF-8 are printed as Latin-1, or as replacement characters.
  const texts = isUtf8 ? [value] : [value, Buffer.from(text, 'utf8'), Buffer.from(asUtf8)];
  const json = isUtf8 ? Buffer.from(JSON.stringify(asUtf8).slice(1, -1)) : value;
  const base64 = [...new Set([value, ...(json.equals(value) ? [] : [json])])].flatMap((bytes) =>
    ALIGNMENTS.map((before) => Buffer.from(base64Of(bytes, before))),
  );
  const twice =
    isWhole && value.length <= 4096 ? base64.flatMap((once) => ALIGNMENTS.map((before) => Buffer.from(base64Of(once, before)))) : [];
  const hex = value.toString('hex');
  return [
    ...texts.map((bytes) => ({bytes})),
    ...(text.includes(' ') ? [{bytes: Buffer.from(text.replaceAll(' ', '+'), 'latin1')}] : []),
    ...[...base64, ...twice].map((bytes) => ({bytes, isBase64: true})),
    // With every byte encoded, nothing of the value itself looks like an escape.
    ...(/[\\%&]/.test(text) ? [{bytes: Buffer.from(hex.replace(/../g, '%$&'))}] : []),
    {bytes: Buffer.from(hex)},
    {bytes: Buffer.from(hex.toUpperCase())},
  ];
}

const SHORTEST = 6;
/** Length of an anchor: bytes of a spelling that are looked up in a table. */
const WIDTH = 6;
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

interface Spelling {
  known: KnownValue;
  bytes: Uint8Array;
  isBase64: boolean;
  /** How many bytes in a row have to be the same. */
  least: number;
  /** End of its last match, to read no text twice. */
  until: number;
}

interface Anchor {
  spelling: Spelling;
  /** Position in the spelling. */
  at: number;
}

export interface KnownMatch {
  start: number;
  end: number;
  known: KnownValue;
}

/**
 * Finds known values in any spelling. Reads a text once: the last six canonical bytes are looked up, and only where they are the
 * anchor of a spelling, the bytes around are compared.
 */
export class KnownValueSearch {
  readonly #anchors = new Map<number, Anchor[]>();
  /** Spellings with a match in this block. */
  readonly #matched: Spelling[] = [];
  /** Small enough for the cache of a core, as long as there are few anchors. */
  readonly #filter: Uint8Array;
  readonly #shift: number;
  readonly #canonical = canonicalFor(BLOCK + OVERLAP);

  constructor({known}: KnownSecretSet) {
    for (const each of known) {
      const whole = Buffer.from(each.whole, 'latin1');
      for (const value of [whole, ...partsOf(each.whole).map((part) => Buffer.from(part, 'latin1'))]) {
        for (const {bytes, isBase64 = false} of spellingsOf(value, value === whole)) this.#add(each, canonicalOf(bytes), isBase64);
      }
    }
    const bits = Math.min(20, Math.max(13, Math.ceil(Math.log2(this.#anchors.size + 1)) + 5));
    this.#shift = 32 - bits;
    this.#filter = new Uint8Array(2 ** bits);
    for (const key of this.#anchors.keys()) this.#filter[slotOf(key % 2 ** 32, this.#shift)] = 1;
  }

  #add(known: KnownValue, bytes: Uint8Array, isBase64: boolean): void {
    const isLong = bytes.length >= FRAGMENT;
    const stretch = isLong ? Math.max(STRETCH, Math.ceil(bytes.length / MOST_ANCHORS)) : bytes.length;
    const spelling = {known, bytes, isBase64, least: isLong ? FRAGMENT : bytes.length - (bytes.length < 10 ? 0 : SLACK), until: -1};
    for (let from = 0; from + WIDTH <= bytes.length; from += stretch) {
      const isFull = (position: number): boolean => (this.#anchors.get(keyAt(bytes, position))?.length ?? 0) >= MOST_ALIKE;
      const at = (isLong ? undefined : anchorIn(bytes, SLACK, stretch)) ?? anchorIn(bytes, from, from + stretch, isFull);
      if (at === undefined) continue;
      const key = keyAt(bytes, at);
      const alike = this.#anchors.get(key) ?? [];
      if (alike.length === 0) this.#anchors.set(key, alike);
      alike.push({spelling, at});
    }
  }

  /** Reports every match in a part of the text, read in blocks that fit into the cache of a core. */
  search(text: Uint8Array, from: number, to: number, report: (match: KnownMatch) => void): void {
    if (this.#anchors.size === 0) return;
    for (let start = from; start < to; start += BLOCK) this.#searchBlock(text, start, Math.min(to, start + BLOCK + OVERLAP), report);
  }

  #searchBlock(text: Uint8Array, from: number, to: number, report: (match: KnownMatch) => void): void {
    const canonical = this.#canonical;
    readCanonical(text, from, to, canonical);
    for (const spelling of this.#matched.splice(0)) spelling.until = -1;
    const {bytes, length} = canonical;
    const [filter, shift] = [this.#filter, this.#shift];
    let last = 0;
    for (let at = 0; at < length; at += 1) {
      last = (last << 8) | (bytes[at] as number);
      if (filter[slotOf(last, shift)] === 0 || at < WIDTH - 1) continue;
      for (const anchor of this.#anchors.get(keyAt(bytes, at - WIDTH + 1)) ?? []) {
        const match = at > anchor.spelling.until ? compared(text, canonical, at - WIDTH + 1, anchor) : undefined;
        if (match === undefined) continue;
        this.#matched.push(anchor.spelling);
        report(match);
      }
    }
  }
}

/** Bytes that are read at once, and how many of them are read again: more than any spelling of a fragment needs. */
const BLOCK = 32_768;
const OVERLAP = 2048;

/** Place in the filter of the last four bytes of an anchor. */
const slotOf = (last: number, shift: number): number => Math.imul(last, 0x9e3779b1) >>> shift;

const keyAt = (bytes: Uint8Array, at: number): number => {
  let key = 0;
  for (let position = at; position < at + WIDTH; position += 1) key = key * 256 + (bytes[position] as number);
  return key;
};

/** A good place for an anchor: with different bytes. Undefined if all are too common, such as a ruler of dashes. */
function anchorIn(bytes: Uint8Array, from: number, to: number, isFull?: (at: number) => boolean): number | undefined {
  let best: number | undefined;
  let most = 3;
  for (let at = from; at < to && at + WIDTH <= bytes.length && most <= WIDTH; at += 1) {
    let rank = 0;
    for (let position = at; position < at + WIDTH; position += 1) {
      const byte = bytes[position] as number;
      if (bytes.indexOf(byte, at) === position) rank += 1;
      // Small letters stand in every word.
      if (byte < 97 || byte > 122) rank += 0.1;
    }
    if (rank > most && !isFull?.(at)) [best, most] = [at, rank];
  }
  return best;
}

/** Compares the bytes around an anchor with its spelling. */
function compared(text: Uint8Array, {bytes, starts, length}: Canonical, position: number, {spelling, at}: Anchor): KnownMatch | undefined {
  const wanted = spelling.bytes;
  let before = 0;
  while (before < at && before < position && wanted[at - before - 1] === bytes[position - before - 1]) before += 1;
  let after = WIDTH;
  while (at + after < wanted.length && position + after < length && wanted[at + after] === bytes[position + after]) after += 1;
  if (before + after < spelling.least) return undefined;
  let [first, last] = [position - before, position + after - 1];
  spelling.until = last;
  // The base64 characters next to it hold bits of the value, too.
  const isNext = (one: number): boolean => endOf(text, starts[one] as number) === starts[one + 1] && isBase64(bytes[one] as number);
  if (spelling.isBase64 && first > 0 && isNext(first - 1)) first -= 1;
  if (spelling.isBase64 && last + 1 < length && isNext(last) && isBase64(bytes[last + 1] as number)) last += 1;
  return {start: starts[first] as number, end: endOf(text, starts[last] as number), known: spelling.known};
}

const isBase64 = (byte: number): boolean =>
  (byte >= 47 && byte <= 57) || (byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122) || byte === 43;
