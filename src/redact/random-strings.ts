import {type Extent, LIMITS, matchAt} from './rule.ts';

/** Characters of base64, also of base64url. */
const OF_RUN = new Uint8Array(256);
for (const byte of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-')) OF_RUN[byte] = 1;
const AFTER_RUN = /[^A-Za-z0-9+/_=-]/g;
/** Shorter runs are words, names and paths. */
const SHORTEST = {standard: 20, strict: 12};

/** Runs of these characters that begin between two places. Most bytes are skipped: the last one of a possible run is read first. */
function* runsIn(bytes: Uint8Array, from: number, to: number, shortest: number): Generator<Extent> {
  let start = from;
  // The rest of a run was looked at before.
  if (from > 0 && OF_RUN[bytes[from - 1] as number] === 1) while (OF_RUN[bytes[start] ?? 0] === 1) start += 1;
  while (start < to && start + shortest <= bytes.length) {
    let last = start + shortest - 1;
    while (last >= start && OF_RUN[bytes[last] as number] === 1) last -= 1;
    if (last >= start) start = last + 1;
    else {
      let end = start + shortest;
      while (end - start < LIMITS.value && OF_RUN[bytes[end] ?? 0] === 1) end += 1;
      yield {start, end};
      start = end;
      while (OF_RUN[bytes[start] ?? 0] === 1) start += 1;
    }
  }
}

/** Digests, identifiers of objects and requests, public keys. */
const HARMLESS_BEFORE = new RegExp(
  String.raw`(?:(?:sha\d{1,3}|md5|crc32c?|h1|zh|digest|checksum|integrity|etag|\w*hash|fingerprint|nonce|\w*[iu]d(?:-2)?|kid|serial|revision|commit|ref|version|ray)` +
    String.raw`\\*["']?[ \t]{0,4}[:=~][ \t]{0,4}\[?\\*["']?(?:W/\\*")?|[ "'=]--?[\w-]{0,40}id |\d\.\d{1,3}\.|ssh-(?:rsa|ed25519|dss) |ecdsa-sha2-nistp\d{3} |base64,|#|@)$`,
  'i',
);
const BEFORE = /[:=~"'/ \t#@,[.]/;
/** Times in names of files, digests with their algorithm, public SSH keys, certificates and public keys in base64. */
const HARMLESS =
  /^(?:\d{4}-\d\d-\d\dT|eyJzY2hlbWFfdmVyc2lvb|eyJlMmJmYjcz|sha\d{3}[-_]|AAAA[BCE]3NzaC1|LS0tLS1CRUdJTi(?:BDRV|BQVUJ|BUUlVTV))/;
const PUBLIC_BLOCK = /-----BEGIN (?!(?:[A-Z0-9]+ )*PRIVATE)[A-Z0-9 ]{4,40}-----/y;
/** The longest certificate. */
export const LONGEST_BLOCK = 6000;

/** Strings that look random and begin in this part of a text. */
export function randomStrings(bytes: Uint8Array, text: string, from: number, to: number, isStrict: boolean): Extent[] {
  const found: Extent[] = [];
  let mark: number | undefined;
  const shortest = isStrict ? SHORTEST.strict : SHORTEST.standard;
  for (const run of runsIn(bytes, from, to, shortest)) {
    const all = text.slice(run.start, run.end);
    const parts = randomParts(all, shortest);
    if (parts.length === 0) continue;
    mark ??= text.indexOf('-----BEGIN ', Math.max(0, from - LONGEST_BLOCK));
    for (let next = mark; next !== -1 && next < run.start; next = text.indexOf('-----BEGIN ', next + 1)) mark = next;
    if (HARMLESS.test(all) || isInPublicBlock(text, mark, run.start)) continue;
    for (const part of parts) {
      const start = run.start + part.start;
      const end = run.start + part.end + (part.end < all.length ? 0 : (/^={0,2}/.exec(text.slice(run.end, run.end + 2))?.[0].length ?? 0));
      if (HARMLESS.test(text.slice(start, start + 32)) || (BEFORE.test(text.charAt(start - 1)) && isNamedHarmless(text, start))) continue;
      found.push({start, end, ...(all.length >= LIMITS.value && part.end === all.length && {unended: AFTER_RUN})});
    }
  }
  return found;
}

/** After the name of a digest, also on the second side of a change; in an ARN, and in a path of Nix. */
function isNamedHarmless(text: string, start: number): boolean {
  const before = text.slice(Math.max(0, start - 256), start);
  if (HARMLESS_BEFORE.test(before.slice(-32)) || before.endsWith('/nix/store/') || /(?:^|[\s"'=(])arn:[^\s"']*$/.test(before)) return true;
  const [, first] = /(^|[^"]*)\\*"[^"\n]*"[ \t]*->[ \t]*\\*"$/.exec(before.slice(before.lastIndexOf('\n') + 1)) ?? [];
  return first !== undefined && HARMLESS_BEFORE.test(`${first.slice(-32)}"`);
}

/** Whether a place is in a certificate or a public key that begins at `mark`. */
export function isInPublicBlock(text: string, mark: number, at: number): boolean {
  if (mark === -1 || mark > at || at - mark > LONGEST_BLOCK) return false;
  return matchAt(PUBLIC_BLOCK, text, mark) !== undefined && !text.slice(mark, at).includes('-----END');
}

const PATH = /(?:^|\/)[a-z][a-z-]{2,}(?:\/|$)/;

/** A base64 text as a whole, or the random names in a path. */
function randomParts(run: string, shortest: number): Extent[] {
  if (!/[A-Z]/.test(run) && run.length < 32) return [];
  const parts: Extent[] = [];
  for (let start = 0; start < run.length; ) {
    const slash = run.indexOf('/', start);
    const end = slash === -1 ? run.length : slash;
    if (end - start >= shortest && looksRandom(run.slice(start, end), shortest)) parts.push({start, end});
    start = end + 1;
  }
  return parts.length > 0 && (run.includes('+') || !PATH.test(run)) ? [{start: 0, end: run.length}] : parts;
}

/** Whether a text has letters of both cases and digits, mixed as in no word; or is a long mix of digits and letters of one case. */
export function looksRandom(text: string, least = 20): boolean {
  if (text.length < least || isName(text)) return false;
  if (isMixed(text)) return true;
  return /[-_]/.test(text) && text.split(/[-_]/).some((part) => part.length >= least && isMixed(part));
}

/** `DigiCert_Global_Root_G2`: words of a name, also in capitals. */
const WORDS = /[A-Z]?[a-z]{3,}|[A-Z]{3,}(?![a-z])/g;
const isName = (text: string): boolean => text.split(/[-_]/).length > 3 && text.replace(WORDS, '').length < 0.5 * text.length;

function isMixed(text: string): boolean {
  const counts = [0, 0, 0, 0];
  let changes = 0;
  let last = -1;
  for (let at = 0; at < text.length; at += 1) {
    const kind = kindOf(text.charCodeAt(at));
    counts[kind] = (counts[kind] as number) + 1;
    if (kind !== last) changes += 1;
    last = kind;
  }
  const [small = 0, capital = 0, digits = 0, others = 0] = counts;
  const rate = changes / text.length;
  if (small > 0 && capital > 0 && digits > 0) return rate >= (text.length < 32 ? 0.42 : 0.36);
  if (small > 0 && capital > 0) return text.length >= 24 && others === 0 && rate >= 0.42;
  return text.length >= 32 && others === 0 && digits > text.length / 12 && rate >= 0.2 && !/^(?:[0-9a-f]+|[0-9A-F]+)$/.test(text);
}

const kindOf = (code: number): number => (code >= 97 && code <= 122 ? 0 : code >= 65 && code <= 90 ? 1 : code >= 48 && code <= 57 ? 2 : 3);
