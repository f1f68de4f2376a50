import {matchAt} from '../../../ground/token-shapes.ts';
import {type Extent, LIMITS} from './rule.ts';

/** Values of secret keys that are not secret. */
const PLAIN =
  /^(?:true|false|yes|no|on|off|null|nil|none|undefined|unset|empty|missing|invalid|required|optional|enabled|disabled|active|inactive|eof|string|str|boolean|bool|number|int|integer|object|array|bytes|any|void|amd64|arm64|~|-+|\|[-+]?|>[-+]?|!\w+(?: [|>][-+]?)?|terraform-\d{20,})$/i;
/** Already redacted, or a placeholder. */
const HIDDEN =
  /^(?:\(?sensitive(?: value)?\)?|\((?:known after apply|protected|sensitive[^)]*)\)|\[?(?:hidden|masked|filtered)\]?|\[redacted[^\]]*\]|<?redacted>?|\*{3,}|[\w-]*\*{4}.*|x{6,}|\.{3}(?: .*)?|<[a-z][a-z _|-]*>|<set to the key .*|&lt;[a-z _-]*&gt;|\[redacted.*)$/i;
/** References to values elsewhere. */
const REFERENCE =
  /^(?:refs\/[\w./-]+|(?:\(\*[\w.]+\)|\[\][\w.]+|interface \{\})\(nil\)|\$\{[^}]*\}\}?|\{\w+:|--[a-z][a-z-]*|\$\([^)]*\)|\$[A-Z_][A-Z0-9_]*|\$[a-z_]+|\{\w+\}|\{\{.*\}\}|%[A-Za-z_]\w*%|%\(\w+\)s|%[svqd]|\$\d+|\?|:[a-z_]+)$/;
const HCL_REFERENCE =
  /^(?:(?:var|local|data|module|each|self|path|count|run)\.|[a-z]+_\w+(?:\[[^\]]*\])?\.[\w-]+(?:\[[^\]]*\])?\.)[\w.[\]"*-]+$/;
/** Code that reads a value: a call, an element, an attribute. */
const CODE =
  /^(?:[A-Za-z_][A-Za-z_.]*\((?:[^()]*|.*\).*)$|[A-Za-z_][A-Za-z_.]*\[\\*["'\w].*\]|(?:self|this|os|process|config|settings|request|req|res|ctx|args|opts|options|params|env|secrets?|vars?|[a-z]+_?[Cc]onfig)\.[A-Za-z_][\w.[\]"']*$)/;
const FILE =
  /^\.{1,2}\/[\w./-]+\.\w{2,5}$|^(?:~|\.{1,2})?\/(?:etc|var|tmp|opt|usr|home|root|run|mnt|data|app|secrets?|certs?|workspace|srv|dev|proc|vault|config)(?:\/[\w.@-]*)*$/;
/** Messages of Terraform about resources whose names look like keys: `random_password.password: Creating...`. */
const PROGRESS =
  /^(?:(?:Still )?[A-Z]?[a-z]{3,12}ing(?:\.{3}| state\b| \[)|[A-Z][a-z]+ (?:complete|succeeded|prepared)\b|Drift detected|Plan to )/i;
/** An address without other content. */
const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/[\w.:-]+(?:\/[a-z_-]*)*$/;
const OBJECT_NAME = /^[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?(?:\/[a-z0-9.-]+)?$/;
/** A key that references a key: `tokenSecretKey: token`, `key: client-secret`. */
const KEY_WORDS =
  /^(?:[a-z]+[._-])?(?:token|secret|password|passwd|key|name|value|tls\.(?:key|crt)|ca\.crt|bearer|basic|digest|jwt|auth)$/i;
const TIME = /^\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-][\d:]+)?)?$/;

export const isHarmless = (value: string): boolean =>
  value.length < 2 ||
  [PLAIN, HIDDEN, REFERENCE, FILE, PROGRESS, ADDRESS, KEY_WORDS, TIME].some((each) =>
    each.test(value),
  ) ||
  /^\d{1,3}$/.test(value) ||
  /^=?=?v?\d+(?:\.\d+){1,3}$|^ssh-(?:rsa|ed25519|ecdsa) /.test(value) ||
  /^-----BEGIN (?:TRUSTED )?(?:CERTIFICATE|PUBLIC KEY)/.test(value);

/** An expression in Terraform, in a script or in a traceback. */
export const isCode = (value: string): boolean => HCL_REFERENCE.test(value) || CODE.test(value);

export const isObjectName = (value: string): boolean =>
  OBJECT_NAME.test(value) && !looksRandom(value, 16);

/** Words of a sentence: "token: expired", "Bearer authentication". */
export const isProse = (value: string): boolean =>
  /^["'(]?[A-Za-z]?[a-z]*(?:[-_./'][a-z]+)*[)"'.,;:!?]*$/.test(value);

const ERROR_WORDS =
  /^(?:(?:expir|invalid|miss|requir|den|reject|revok|unauth|unknown|unavail|unreach|unexpect|unsupport|forbidden|permission|fail|error|creat|updat|delet|rotat|refresh|renew|verif|accept|load|malform|corrupt|exceed|refus|succe|incorrect|exist)(?:ed|es|s|e|ied|ing|ure|ors|able|ful|ss|orized|ation|y)*|access|authenti?c?(?:ation|ated)|authorization|not|no|found|valid|mismatch|timeout|blank|must|cannot|could|should|does|did|is|are|was|were|has|have|had|been|be|context|connection|signature|domain|ok|pending|ready|the|an?|for|of|to|in|on|by|with|from|at|into|and|or|if|when|but|only|this|that|token|secret|password|credentials?|key|value)$/i;
/** What can stand between the words of a sentence: a number, a path, a name in quotes. */
const BETWEEN =
  /^[("'\\]*(?:\d{1,5}(?:ms|s|m|h|%)?[)"'.,;:]*$|[~.]{0,2}\/|https?:|[\w./:-]+\\*["'][,.;:)]*$)/;
const WORD = /^["'([{]*([A-Za-z][A-Za-z'._/-]*)[\])}"',.;:!?]*$/;

/** An error or a sentence after a colon: all are words, and one of them stands in errors. */
export function isErrorText(text: string): boolean {
  const all = text.trim().split(/\s+/).slice(0, 12);
  const found = all.map((each) => WORD.exec(each)?.[1]);
  if (all.some((each, index) => found[index] === undefined && (index === 0 || !BETWEEN.test(each))))
    return false;
  return (
    found.some((word) => word !== undefined && ERROR_WORDS.test(word)) &&
    (all.length > 1 || ERROR_WORDS.test(found[0] ?? ''))
  );
}

/** A value that is a secret wherever it stands: letters and digits with signs or in both cases, but no name, path, time or version. */
export function looksStrong(value: string): boolean {
  if (
    value.length < 8 ||
    /\s|^-|^\w+=/.test(value) ||
    isHarmless(value) ||
    !/\d/.test(value) ||
    !/[A-Za-z]/.test(value)
  )
    return false;
  if (
    /^[\w.+-]+:\/\/|^[./~]|^v?\d+(?:[.:_~+-]\w+)*$|^[\w.-]+@[\w.-]+$|^sha\d+:|^[\d.,]+[a-zA-Z]{1,5}$/.test(
      value,
    )
  )
    return false;
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value)) return false;
  // A digest is not a secret.
  if (/^(?:[A-Za-z]*[-_./])*[0-9a-f]{12,}$|^[0-9a-f]+$/i.test(value)) return false;
  if (looksRandom(value, 16)) return true;
  if (/^(?:[A-Za-z]+[-_.:/])*[A-Za-z]+[-_.:/]?\d*$/.test(value) || /[()[\]{}/:]/.test(value))
    return false;
  return (
    /[!#$%&*+=?@^~]/.test(value) ||
    (/[a-z]/.test(value) &&
      /[A-Z]/.test(value) &&
      (value.match(/[a-zA-Z](?=\d)|\d(?=[a-zA-Z])/g)?.length ?? 0) > 1)
  );
}

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
export function randomStrings(
  bytes: Uint8Array,
  text: string,
  from: number,
  to: number,
  isStrict: boolean,
): Extent[] {
  const found: Extent[] = [];
  let mark: number | undefined;
  const shortest = isStrict ? SHORTEST.strict : SHORTEST.standard;
  for (const run of runsIn(bytes, from, to, shortest)) {
    const all = text.slice(run.start, run.end);
    const parts = randomParts(all, shortest);
    if (parts.length === 0) continue;
    mark ??= text.indexOf('-----BEGIN ', Math.max(0, from - LONGEST_BLOCK));
    for (
      let next = mark;
      next !== -1 && next < run.start;
      next = text.indexOf('-----BEGIN ', next + 1)
    )
      mark = next;
    if (HARMLESS.test(all) || isInPublicBlock(text, mark, run.start)) continue;
    for (const part of parts) {
      const start = run.start + part.start;
      const end =
        run.start +
        part.end +
        (part.end < all.length
          ? 0
          : (/^={0,2}/.exec(text.slice(run.end, run.end + 2))?.[0].length ?? 0));
      if (
        HARMLESS.test(text.slice(start, start + 32)) ||
        (BEFORE.test(text.charAt(start - 1)) && isNamedHarmless(text, start))
      )
        continue;
      found.push({
        start,
        end,
        ...(all.length >= LIMITS.value && part.end === all.length && {unended: AFTER_RUN}),
      });
    }
  }
  return found;
}

/** After the name of a digest, also on the second side of a change; in an ARN, and in a path of Nix. */
function isNamedHarmless(text: string, start: number): boolean {
  const before = text.slice(Math.max(0, start - 256), start);
  if (
    HARMLESS_BEFORE.test(before.slice(-32)) ||
    before.endsWith('/nix/store/') ||
    /(?:^|[\s"'=(])arn:[^\s"']*$/.test(before)
  )
    return true;
  const [, first] =
    /(^|[^"]*)\\*"[^"\n]*"[ \t]*->[ \t]*\\*"$/.exec(before.slice(before.lastIndexOf('\n') + 1)) ??
    [];
  return first !== undefined && HARMLESS_BEFORE.test(`${first.slice(-32)}"`);
}

/** Whether a place is in a certificate or a public key that begins at `mark`. */
export function isInPublicBlock(text: string, mark: number, at: number): boolean {
  if (mark === -1 || mark > at || at - mark > LONGEST_BLOCK) return false;
  return (
    matchAt(PUBLIC_BLOCK, text, mark) !== undefined && !text.slice(mark, at).includes('-----END')
  );
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
  return parts.length > 0 && (run.includes('+') || !PATH.test(run))
    ? [{start: 0, end: run.length}]
    : parts;
}

/** Whether a text has letters of both cases and digits, mixed as in no word; or is a long mix of digits and letters of one case. */
function looksRandom(text: string, least = 20): boolean {
  if (text.length < least || isName(text)) return false;
  if (isMixed(text)) return true;
  return (
    /[-_]/.test(text) && text.split(/[-_]/).some((part) => part.length >= least && isMixed(part))
  );
}

/** `DigiCert_Global_Root_G2`: words of a name, also in capitals. */
const WORDS = /[A-Z]?[a-z]{3,}|[A-Z]{3,}(?![a-z])/g;
const isName = (text: string): boolean =>
  text.split(/[-_]/).length > 3 && text.replace(WORDS, '').length < 0.5 * text.length;

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
  return (
    text.length >= 32 &&
    others === 0 &&
    digits > text.length / 12 &&
    rate >= 0.2 &&
    !/^(?:[0-9a-f]+|[0-9A-F]+)$/.test(text)
  );
}

function kindOf(code: number): number {
  if (code >= 97 && code <= 122) return 0;
  if (code >= 65 && code <= 90) return 1;
  return code >= 48 && code <= 57 ? 2 : 3;
}
