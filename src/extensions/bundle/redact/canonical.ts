/**
 * The one spelling of a text: without escapes, quotes, spaces and line breaks. A value that was written as JSON, YAML, XML, in a URL, in
 * quotes of a shell or over several lines has the same canonical bytes as the value itself. `-_` of base64url is `+/`. `Wrappers` remove colors
 * and the timestamps of kubelets before.
 */
export interface Canonical {
  bytes: Uint8Array;
  /** Where each byte begins in the text. */
  starts: Uint32Array;
  length: number;
}

export const canonicalFor = (size: number): Canonical => ({
  bytes: new Uint8Array(size),
  starts: new Uint32Array(size),
  length: 0,
});

export function canonicalOf(value: Uint8Array): Uint8Array {
  const canonical = canonicalFor(value.length);
  readCanonical(value, 0, value.length, canonical);
  return canonical.bytes.slice(0, canonical.length);
}

/** With one character per byte. */
export const canonicalTextOf = (value: Uint8Array): string =>
  Buffer.from(canonicalOf(value)).toString('latin1');

const PERCENT = 37;
const AMPERSAND = 38;
const BACKSLASH = 92;
/** What to do with a byte: drop it, keep it, or decode what begins with it. */
const DROP = 0;
const KEEP = 1;
const DECODE = 2;
const ACTION = new Uint8Array(256).fill(KEEP);
for (let byte = 0; byte <= 32; byte += 1) ACTION[byte] = DROP;
for (const byte of Buffer.from('"\'\x7f')) ACTION[byte] = DROP;
for (const byte of [PERCENT, AMPERSAND, BACKSLASH]) ACTION[byte] = DECODE;
/** Without the difference between base64 and base64url. */
const SAME = Uint8Array.from({length: 256}, (_, byte) => byte);
SAME[45] = 43;
SAME[95] = 47;
const HEX = new Int8Array(256).fill(-1);
for (const [index, byte] of Buffer.from('0123456789abcdef').entries()) HEX[byte] = index;
for (const [index, byte] of Buffer.from('ABCDEF').entries()) HEX[byte] = index + 10;

/** Writes the canonical bytes of a part of `source` into `into`, which must be as long as `source`. */
export function readCanonical(source: Uint8Array, from: number, to: number, into: Canonical): void {
  const {bytes, starts} = into;
  let length = 0;
  for (let at = from; at < to; ) {
    const byte = source[at] as number;
    const action = ACTION[byte] as number;
    if (action !== DECODE) {
      bytes[length] = SAME[byte] as number;
      starts[length] = at;
      // Without a branch: a dropped byte is overwritten.
      length += action;
      at += 1;
    } else {
      const {code, end} = decodedAt(source, at);
      for (const each of encoded(code)) {
        if (ACTION[each] === DROP || each === BACKSLASH) continue;
        bytes[length] = SAME[each] as number;
        starts[length] = at;
        length += 1;
      }
      at = end;
    }
  }
  into.length = length;
}

function encoded(code: number): Iterable<number> {
  if (code < 128) return [code];
  return code > 0x10ffff ? [code - 0x110000] : Buffer.from(String.fromCodePoint(code));
}

/** End in the text of the byte that begins at a place. */
export const endOf = (source: Uint8Array, at: number): number =>
  ACTION[source[at] as number] === DECODE ? decodedAt(source, at).end : at + 1;

/** `code` is a Unicode character; a byte that is not ASCII stands after the last one. */
interface Decoded {
  code: number;
  end: number;
}

function decodedAt(source: Uint8Array, at: number): Decoded {
  const decoded = unquotedAt(source, at);
  return decoded.code === BACKSLASH ? escapeAt(source, decoded.end) : decoded;
}

/** The character of a percent sign or an ampersand with what follows, or the byte. */
function unquotedAt(source: Uint8Array, at: number): Decoded {
  const byte = source[at] as number;
  if (byte === PERCENT) return percentAt(source, at);
  return byte === AMPERSAND ? entityAt(source, at) : {code: byte, end: at + 1};
}

const byteCode = (byte: number): number => (byte < 128 ? byte : byte + 0x110000);

const hexAt = (source: Uint8Array, at: number, digits: number): number => {
  let code = 0;
  for (let position = at; position < at + digits; position += 1) {
    const digit = HEX[source[position] ?? 0] as number;
    if (digit < 0) return -1;
    code = code * 16 + digit;
  }
  return code;
};

/** `%2F`, also encoded again: `%252F`. */
function percentAt(source: Uint8Array, at: number): Decoded {
  let position = at + 1;
  while (
    source[position] === 50 &&
    source[position + 1] === 53 &&
    hexAt(source, position + 2, 2) >= 0
  )
    position += 2;
  const code = hexAt(source, position, 2);
  return code < 0 ? {code: PERCENT, end: at + 1} : {code: byteCode(code), end: position + 2};
}

const ENTITY = /^&(?:amp;)*(?:#(\d{1,6})|#[xX]([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos));/;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

function entityAt(source: Uint8Array, at: number): Decoded {
  const next = source[at + 1] ?? 0;
  // Most ampersands separate the parameters of a URL.
  if (next !== 35 && !'alqgt'.includes(String.fromCharCode(next)))
    return {code: AMPERSAND, end: at + 1};
  const found = ENTITY.exec(Buffer.from(source.subarray(at, at + 40)).toString('latin1'));
  if (found === null) return {code: AMPERSAND, end: at + 1};
  const [all, decimal, hex, name] = found;
  const end = at + all.length;
  if (name !== undefined) return {code: (ENTITIES[name] as string).charCodeAt(0), end};
  const code = decimal ? Number(decimal) : Number.parseInt(hex as string, 16);
  return {code: code > 0x10ffff ? 32 : code, end};
}

const LETTERS = new Set(Buffer.from('nrtbfav0e'));

/** After a backslash: any number of them, then a letter, `u00e9`, `xe9`, or what is escaped, which stays. */
function escapeAt(source: Uint8Array, at: number): Decoded {
  let end = at;
  while (source[end] === BACKSLASH) end += 1;
  const letter = source[end] ?? 0;
  if (letter === 117) {
    const code = hexAt(source, end + 1, 4);
    if (code >= 0xd800 && code < 0xdc00 && source[end + 5] === BACKSLASH) {
      let low = end + 5;
      while (source[low] === BACKSLASH) low += 1;
      const second = source[low] === 117 ? hexAt(source, low + 1, 4) : -1;
      if (second >= 0xdc00 && second < 0xe000)
        return {code: 0x10000 + (code - 0xd800) * 0x400 + (second - 0xdc00), end: low + 5};
    }
    if (code >= 0) return {code, end: end + 5};
  }
  if (letter === 120 && hexAt(source, end + 1, 2) >= 0)
    return {code: byteCode(hexAt(source, end + 1, 2)), end: end + 3};
  return {code: BACKSLASH, end: LETTERS.has(letter) ? end + 1 : end};
}
