import type {Secret} from '../../../ground/secret.ts';
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

const PUBLIC =
  /^-----BEGIN (?:TRUSTED )?(?:CERTIFICATE|PUBLIC KEY|X509 CRL)|^ssh-(?:rsa|ed25519) |^https?:\/\/[\w.-]+(?::\d+)?\/?$/;

/** Prepares known values for the search; those that cannot be searched are listed. */
export function knownSecretSet(knownSecrets: readonly KnownSecret[]): KnownSecretSet {
  const known = new Map<string, KnownValue>();
  const notUsed = new Set<string>();
  for (const {kind, value, isBinary, source} of knownSecrets) {
    const bytes = Buffer.from(
      isBinary ? value.reveal() : value.reveal().trim(),
      isBinary ? 'latin1' : 'utf8',
    );
    const whole = bytes.toString('latin1');
    if (!isSearchable(whole)) notUsed.add(source ?? kind);
    else if (!known.has(whole)) known.set(whole, {kind: kind.replace(/[^\w-]/g, '-'), whole});
  }
  return {known: [...known.values()], notUsed: [...notUsed].toSorted()};
}

function isSearchable(text: string): boolean {
  if (text.length < SHORTEST || COMMON.has(text.toLowerCase()) || new Set(text).size < 4)
    return false;
  const oneWord = text.length <= 8 && /^[A-Za-z]?[a-z]+$/.test(text);
  const shortNumber =
    (text.length < 8 && /^[\d.:-]+$/.test(text)) || /^[a-z]{2}-[a-z]+-\d$/.test(text);
  if (oneWord || shortNumber || (PUBLIC.test(text) && !text.includes('PRIVATE KEY'))) return false;
  return anchorIn(canonicalOf(Buffer.from(text, 'latin1')), 0, text.length) !== undefined;
}

/** Parts that can stand alone: lines of a file, the two unique parts of a JSON Web Token. */
export function partsOf(text: string): string[] {
  const segments = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(text) ? text.split('.').slice(1) : [];
  const lines =
    text.includes('\n') && text.length < 65_536
      ? text.split(/\r?\n/).map((line) => line.trim())
      : [];
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
    isWhole && value.length <= 4096
      ? base64.flatMap((once) => ALIGNMENTS.map((before) => Buffer.from(base64Of(once, before))))
      : [];
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

export interface KnownMatch {
  start: number;
  end: number;
  known: KnownValue;
}

/**
 * Finds known values in any spelling. Reads a text once: the last six canonical bytes are looked up, and only where they are the
 * anchor of a spelling, the bytes around are compared. Millions of spellings fit into memory, because they are only numbers and bytes.
 */
export class KnownValueSearch {
  /** Bytes of all spellings, one after the other. */
  #bytes = Buffer.alloc(4096);
  /** By spelling: where its bytes start (and the last one ends), its value, and the end of its last match, to read no text twice. */
  readonly #starts: number[] = [0];
  readonly #owners: KnownValue[] = [];
  readonly #isBase64: boolean[] = [];
  readonly #until: Int32Array;
  /** Spellings with a match in this block. */
  readonly #matched: number[] = [];
  /** By anchor: hash of its bytes, its spelling, and its position there. */
  readonly #hashes: number[] = [];
  readonly #spellings: number[] = [];
  readonly #places: number[] = [];
  /** The first anchor of a slot, and the next one of the same slot; a small bit field says which slots have one. */
  readonly #first: Int32Array;
  readonly #next: Int32Array;
  readonly #filter: Uint8Array;
  readonly #shift: number;
  readonly #canonical = canonicalFor(BLOCK + OVERLAP);

  constructor({known}: KnownSecretSet) {
    const alike = new Uint8Array(known.length === 0 ? 1 : 2 ** 20);
    for (const each of known) {
      const whole = Buffer.from(each.whole, 'latin1');
      for (const value of [
        whole,
        ...partsOf(each.whole).map((part) => Buffer.from(part, 'latin1')),
      ]) {
        for (const {bytes, isBase64 = false} of spellingsOf(value, value === whole))
          this.#add(each, canonicalOf(bytes), isBase64, alike);
      }
    }
    const count = this.#hashes.length;
    const bits = Math.min(24, Math.max(13, Math.ceil(Math.log2(count + 1)) + 3));
    this.#shift = 32 - bits;
    this.#filter = new Uint8Array(2 ** (bits - 3));
    this.#first = new Int32Array(2 ** bits).fill(-1);
    this.#next = new Int32Array(count);
    for (const [anchor, hash] of this.#hashes.entries()) {
      const slot = hash >>> this.#shift;
      this.#filter[slot >>> 3] = (this.#filter[slot >>> 3] as number) | (1 << (slot & 7));
      [this.#next[anchor], this.#first[slot]] = [this.#first[slot] as number, anchor];
    }
    this.#until = new Int32Array(this.#owners.length).fill(-1);
  }

  #add(known: KnownValue, bytes: Uint8Array, isBase64: boolean, alike: Uint8Array): void {
    const start = this.#starts.at(-1) as number;
    if (start + bytes.length > this.#bytes.length)
      this.#bytes = Buffer.concat([this.#bytes], 2 * (start + bytes.length));
    this.#bytes.set(bytes, start);
    this.#starts.push(start + bytes.length);
    const spelling = this.#owners.push(known) - 1;
    this.#isBase64.push(isBase64);
    const isLong = bytes.length >= FRAGMENT;
    const stretch = isLong
      ? Math.max(STRETCH, Math.ceil(bytes.length / MOST_ANCHORS))
      : bytes.length;
    const isFull = (at: number): boolean =>
      (alike[hashAt(bytes, at) >>> 12] as number) >= MOST_ALIKE;
    for (let from = 0; from + WIDTH <= bytes.length; from += stretch) {
      const at = isLong
        ? anchorIn(bytes, from, from + stretch, isFull)
        : (anchorIn(bytes, SLACK, stretch, isFull) ??
          anchorIn(bytes, 0, stretch, isFull) ??
          anchorIn(bytes, 0, stretch));
      if (at === undefined) continue;
      const hash = hashAt(bytes, at);
      if (!isFull(at)) alike[hash >>> 12] = (alike[hash >>> 12] as number) + 1;
      this.#hashes.push(hash);
      this.#spellings.push(spelling);
      this.#places.push(at);
    }
  }

  /** Reports every match in a part of the text, read in blocks that fit into the cache of a core. */
  search(text: Uint8Array, from: number, to: number, report: (match: KnownMatch) => void): void {
    if (this.#hashes.length === 0) return;
    for (let start = from; start < to; start += BLOCK)
      this.#searchBlock(text, start, Math.min(to, start + BLOCK + OVERLAP), report);
  }

  #searchBlock(
    text: Uint8Array,
    from: number,
    to: number,
    report: (match: KnownMatch) => void,
  ): void {
    const canonical = this.#canonical;
    readCanonical(text, from, to, canonical);
    for (const spelling of this.#matched.splice(0)) this.#until[spelling] = -1;
    const {bytes, length} = canonical;
    const filter = this.#filter;
    const first = this.#first;
    const next = this.#next;
    const shift = this.#shift;
    let last = 0;
    let before = 0;
    for (let at = 0; at < length; at += 1) {
      before = (before << 8) | (last >>> 24);
      last = (last << 8) | (bytes[at] as number);
      const hash = hashOf(last, before);
      const slot = hash >>> shift;
      if (((filter[slot >>> 3] as number) & (1 << (slot & 7))) === 0 || at < WIDTH - 1) continue;
      for (let anchor = first[slot] as number; anchor !== -1; anchor = next[anchor] as number) {
        if (
          this.#hashes[anchor] !== hash ||
          at <= (this.#until[this.#spellings[anchor] as number] as number)
        )
          continue;
        const match = this.#compared(text, canonical, at - WIDTH + 1, anchor);
        if (match !== undefined) report(match);
      }
    }
  }

  /** Compares the bytes around an anchor with its spelling. */
  #compared(
    text: Uint8Array,
    {bytes, starts, length}: Canonical,
    position: number,
    anchor: number,
  ): KnownMatch | undefined {
    const spelling = this.#spellings[anchor] as number;
    const start = this.#starts[spelling] as number;
    const end = this.#starts[spelling + 1] as number;
    const place = start + (this.#places[anchor] as number);
    const desired = this.#bytes;
    let before = 0;
    while (
      place - before > start &&
      before < position &&
      desired[place - before - 1] === bytes[position - before - 1]
    )
      before += 1;
    let after = 0;
    while (
      place + after < end &&
      position + after < length &&
      desired[place + after] === bytes[position + after]
    )
      after += 1;
    const size = end - start;
    // Of a longer spelling, a part is enough.
    if (
      after < WIDTH ||
      before + after < (size >= FRAGMENT ? FRAGMENT : size - (size < 10 ? 0 : SLACK))
    )
      return undefined;
    let first = position - before;
    let last = position + after - 1;
    this.#until[spelling] = last;
    this.#matched.push(spelling);
    // The base64 characters next to it hold bits of the value, too.
    const isNext = (one: number): boolean =>
      endOf(text, starts[one] as number) === starts[one + 1] && isBase64(bytes[one] as number);
    if (this.#isBase64[spelling]) {
      if (first > 0 && isNext(first - 1)) first -= 1;
      if (last + 1 < length && isNext(last) && isBase64(bytes[last + 1] as number)) last += 1;
    }
    return {
      start: starts[first] as number,
      end: endOf(text, starts[last] as number),
      known: this.#owners[spelling] as KnownValue,
    };
  }
}

/** Bytes that are read at once, and how many of them are read again: more than any spelling of a fragment needs. */
const BLOCK = 32_768;
const OVERLAP = 2048;

/** Hash of six bytes: the last four, and the two before them. */
const hashOf = (last: number, before: number): number =>
  (Math.imul(last, 0x9e3779b1) ^ Math.imul(before & 0xffff, 0x85ebca6b)) >>> 0;

const hashAt = (bytes: Uint8Array, at: number): number => {
  const [one = 0, two = 0, three = 0, four = 0, five = 0, six = 0] = bytes.subarray(at, at + WIDTH);
  return hashOf((three << 24) | (four << 16) | (five << 8) | six, (one << 8) | two);
};

/** A good place for an anchor: with different bytes. Undefined if all are too common, such as a ruler of dashes. */
function anchorIn(
  bytes: Uint8Array,
  from: number,
  to: number,
  isFull?: (at: number) => boolean,
): number | undefined {
  let best: number | undefined;
  let most = 3;
  for (let at = from; at < to && at + WIDTH <= bytes.length && most <= WIDTH; at += 1) {
    const rank = rankAt(bytes, at);
    if (rank > most && !isFull?.(at)) [best, most] = [at, rank];
  }
  return best;
}

function rankAt(bytes: Uint8Array, at: number): number {
  let rank = 0;
  for (let position = at; position < at + WIDTH; position += 1) {
    const byte = bytes[position] as number;
    let earlier = at;
    while (bytes[earlier] !== byte) earlier += 1;
    if (earlier === position) rank += 1;
    // Small letters stand in every word.
    if (byte < 97 || byte > 122) rank += 0.1;
  }
  return rank;
}

const isBase64 = (byte: number): boolean =>
  (byte >= 47 && byte <= 57) ||
  (byte >= 65 && byte <= 90) ||
  (byte >= 97 && byte <= 122) ||
  byte === 43;
