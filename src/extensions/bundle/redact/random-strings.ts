import {isInPublicBlock, lastBlockBefore} from './public-blocks.ts';
import {looksRandom} from './random-text.ts';
import {type Extent, LIMITS} from './rule.ts';

/** Characters of base64, also of base64url. */
const OF_RUN = new Uint8Array(256);
for (const byte of Buffer.from(
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-',
))
  OF_RUN[byte] = 1;
const AFTER_RUN = /[^A-Za-z0-9+/_=-]/g;
/** Shorter runs are words, names and paths. */
const SHORTEST = {standard: 20, strict: 12};

/** Runs of these characters that begin between two places. Most bytes are skipped: the last one of a possible run is read first. */
function* runsIn(bytes: Uint8Array, from: number, to: number, shortest: number): Generator<Extent> {
  let start = from;
  // The rest of a run was looked at before.
  if (from > 0 && OF_RUN[bytes[from - 1] as number] === 1)
    while (OF_RUN[bytes[start] ?? 0] === 1) start += 1;
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
  String.raw`(?:(?:sha\d{1,3}|md5|crc32c?|h1|zh|digest|checksum|integrity|etag|\w*hash|fingerprint|nonce|\w*[iu]d(?:-2)?|kid|serial|revision|commit|ref|version|ray|"n|x5c|boundary)` +
    String.raw`\\*["']?[ \t]{0,4}[:=~][ \t]{0,4}\[?\\*["']?(?:W/\\*")?|[ "'=]--?[\w-]{0,40}id |\d\.\d{1,3}\.|ssh-(?:rsa|ed25519|dss) |ecdsa-sha2-nistp\d{3} |base64,|#|@)$`,
  'i',
);
const BEFORE = /[:=~"'/ \t#@,[.]/;
/** Times in names of files, digests with their algorithm, public SSH keys, certificates and public keys in base64. */
const HARMLESS =
  /^(?:\d{4}-\d\d-\d\dT|eyJzY2hlbWFfdmVyc2lvb|eyJlMmJmYjcz|sha\d{3}[-_]|AAAA[BCE]3NzaC1|LS0tLS1CRUdJTi(?:BDRV|BQVUJ|BUUlVTV))/;
/** Strings that look random and begin in this part of a text. */
export function randomStrings(
  bytes: Uint8Array,
  text: string,
  {start, end}: Extent,
  isStrict: boolean,
): Extent[] {
  const shortest = isStrict ? SHORTEST.strict : SHORTEST.standard;
  const found: Extent[] = [];
  for (const run of runsIn(bytes, start, end, shortest)) {
    const parts = randomParts(text.slice(run.start, run.end), shortest);
    if (parts.length > 0 && !isHarmlessRun(text, run))
      found.push(...parts.map((part) => extentOf(text, run, part)).filter(isSecretIn(text)));
  }
  return found;
}

const isHarmlessRun = (text: string, run: Extent): boolean =>
  HARMLESS.test(text.slice(run.start, run.end)) ||
  isInPublicBlock(text, lastBlockBefore(text, run.start), run.start);

/** A part of a run in the text. The last one ends with the padding of base64, or where a longer run ends. */
function extentOf(text: string, run: Extent, part: Extent): Extent {
  const start = run.start + part.start;
  const end = run.start + part.end;
  if (end < run.end) return {start, end};
  const [padding = ''] = /^={0,2}/.exec(text.slice(run.end, run.end + 2)) ?? [];
  const extent = {start, end: end + padding.length};
  return run.end - run.start < LIMITS.value ? extent : {...extent, unended: AFTER_RUN};
}

const isSecretIn =
  (text: string) =>
  ({start}: Extent): boolean =>
    !HARMLESS.test(text.slice(start, start + 32)) &&
    !(BEFORE.test(text.charAt(start - 1)) && isNamedHarmless(text, start));

/** After the name of a digest, also on the second side of a change; in an ARN, and in a path of Nix. */
export function isNamedHarmless(text: string, start: number): boolean {
  const before = text.slice(Math.max(0, start - 256), start);
  if (
    HARMLESS_BEFORE.test(before.slice(-32)) ||
    before.endsWith('/nix/store/') ||
    /(?:^|[\s"'=(])(?:arn:[^\s"']*|h1:[\w+/]*)$/.test(before)
  )
    return true;
  if (!before.includes('->')) return false;
  const [, first] =
    /(^|[^"]*)\\*"[^"\n]*"[ \t]*->[ \t]*\\*"$/.exec(before.slice(before.lastIndexOf('\n') + 1)) ??
    [];
  return first !== undefined && HARMLESS_BEFORE.test(`${first.slice(-32)}"`);
}

const PATH = /(?:^|\/)[a-z][a-z-]{2,}(?:\/|$)/;

/** A base64 text as a whole, or the random names in a path. */
function randomParts(run: string, shortest: number): Extent[] {
  if (!/[A-Z]/.test(run) && run.length < 32) return [];
  const parts: Extent[] = [];
  for (let start = 0; start < run.length; ) {
    const slash = run.indexOf('/', start);
    const end = slash === -1 ? run.length : slash;
    if (end - start >= shortest && looksRandom(run.slice(start, end), shortest))
      parts.push({start, end});
    start = end + 1;
  }
  // Slashes can cut base64 into parts that are too short.
  const isBase64 = !/[-_]/.test(run) && looksRandom(run.replaceAll('/', ''), 32);
  if (parts.length === 0 && isBase64 && !/(?:^|\/)[a-z]{4,}(?:\/|$)/.test(run))
    return [{start: 0, end: run.length}];
  return parts.length > 0 && (run.includes('+') || !PATH.test(run))
    ? [{start: 0, end: run.length}]
    : parts;
}
