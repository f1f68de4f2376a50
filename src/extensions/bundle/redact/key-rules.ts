import {matchAt} from '../../../ground/token-shapes.ts';
import {inElement, isInTag} from './elements.ts';
import {isHarmless, isProse} from './harmless.ts';
import {KEY_ANCHORS, type Key, keyAround} from './key-names.ts';
import {isSecret} from './key-verdicts.ts';
import {isNamedHarmless} from './random-strings.ts';
import {afterScheme, type KeyPosition, QUOTE, SPACES, valueExtents} from './read-value.ts';
import {type Budget, type Extent, NOTHING, type RedactionPass, type RedactionRule} from './rule.ts';
import {inSentence} from './sentences.ts';
import {NEXT_LINE, STAMP, WORD_GAP} from './separators.ts';
import {collectionAt, secretsBelow} from './structure-rules.ts';
import {secretsOfColumn} from './tables.ts';

/** Characters between a key and its value: quotes at any JSON nesting depth, brackets, spaces, colors. */
const ASSIGNS = String.raw`(:=|[?+]=|=>|=(?!=)|(?<![ \t])=(?==[^\s=])|:(?![:=])|%(?:25)*3[ad]|&#(?:58|61);|\\+u003[ad]|\u00ef\u00bc[\u009a\u009d]|\\+uff1[ad])`;
const FLAG = String.raw`(?<=(?:^|[\s"'=,([\0])--?[\w-]{2,64})(?:(?=[ \t]+[^\s\\])|${WORD_GAP}|(?<=(?:\n|\\n)[ \t]*--[\w-]{2,64})(?:${NEXT_LINE})[ \t]*)`;
const SEPARATOR = new RegExp(
  String.raw`(?:(${QUOTE}?)(?:[\]}]|%(?![\da-f]{2})|\\+u005d|%5d)?(?:${SPACES}|${NEXT_LINE}[ \t]*(?=:[ \t]))${ASSIGNS}(?:\*\*(?=[ \t]))?|${FLAG})(?:${SPACES}[,+]?){1,3}(?:\\+\r?\n[ \t]*|<\/[a-z]{1,6}>[ \t]*(?:<[a-z]{1,6}>)?)?`,
  'iy',
);

/** Values of keys that look secret, in YAML, JSON at any escaping depth, variables, flags, XML, structs of Go and Terraform. */
export const secretKeyRule: RedactionRule = {
  name: 'key',
  anchors: KEY_ANCHORS,
  onlyOutside: true,
  find(text, anchor, pass) {
    const key = keyAround(text, anchor, pass.keyKinds);
    if (key === undefined) return NOTHING;
    const before = text.slice(Math.max(0, key.start - 80), key.start);
    const after = text.slice(key.end, key.end + 80);
    if (isInPlaceholder(before, after)) return NOTHING;
    if (isInTag(before)) return inElement(text, key, pass.isStrict);
    const column =
      key.kind !== 'maybe' &&
      /^["'`]?(?:[ \t]*(?:[,|;)\r\n]|\u00e2\u0094\u0082)|[ \t]{2}|\t|$)/.test(after)
        ? secretsOfColumn(text, key, text.slice(Math.max(0, key.start - 400), key.start))
        : NOTHING;
    if (column.length > 0) return column;
    const separator = matchAt(SEPARATOR, text, key.end);
    if (separator === undefined)
      return isInPath(before, after) ? NOTHING : inSentence(text, key, pass.isStrict);
    if (isNoKey(before, separator[0], after)) return NOTHING;
    const place: KeyPosition = {
      at: key.end + separator[0].length,
      key: key.text,
      keyStart: key.start,
      keyQuoted: (separator[1] ?? '') !== '',
      beginsLine: beginsLine(before),
      separator: separator[2] ?? ' ',
    };
    const indent = (): number | undefined => COLUMN.exec(before)?.[1]?.length;
    return (
      secretsOfCollection(text, key, {at: place.at, column: indent}, pass.budget) ??
      secretsAt(text, key, place, pass)
    );
  },
};

/** A placeholder already names its kind; redacting it again would change the name. */
const isInPlaceholder = (before: string, after: string): boolean =>
  before.endsWith('[redacted:') && /^:[0-9a-f]{8}\]/.test(after);

const isInPath = (before: string, after: string): boolean =>
  (/[/\\]$/.test(before) && !/^[ \t]+password[ \t]/.test(after)) ||
  (before.endsWith('=') && /^ @?\w+=/.test(after));

function isNoKey(before: string, separator: string, after: string): boolean {
  // The help of a flag stands in a column of its own.
  if (/^[ \t]{2,}$/.test(separator) && isProse(/\S*/.exec(after.trimStart())?.[0] ?? ''))
    return true;
  // Parts of AWS names are not keys, and neither is `checksum/secret` of helm.
  if (before.endsWith('checksum/') || (before.endsWith(':') && separator === ':')) return true;
  return /(?:unexpected|near|illegal|unknown|expected) $/i.test(before);
}

/** What is secret in a list or a map below a key; undefined if there is none. */
function secretsOfCollection(
  text: string,
  key: Key,
  {at, column}: {at: number; column: () => number | undefined},
  budget: Budget,
): readonly Extent[] | undefined {
  const isPath = text.charAt(key.start - 1) === '/';
  if (isPath || (key.kind !== 'secret' && !MANY.test(key.text))) return undefined;
  const found = collectionAt(text, at, column, budget);
  if (found.length === 0) return undefined;
  return secretsBelow(found, key.text)
    .map((extent) => ({...extent, start: afterScheme(text, extent.start)}))
    .filter(({start, end}) => !isHarmless(text.slice(start, end)));
}

function secretsAt(
  text: string,
  key: Key,
  place: KeyPosition,
  {isStrict, budget, onVerdict}: RedactionPass,
): readonly Extent[] {
  const found = valueExtents(text, place, budget);
  // Both sides of a change are hidden, or none.
  const {kind} = key;
  if (!found.some((extent) => isSecret(text, extent, place, {kind, isStrict, onVerdict})))
    return NOTHING;
  return found
    .filter(({start, end}) => !isHarmless(text.slice(start, end)))
    .map((extent) => ({...extent, key: key.text}));
}

/** The indentation of a key, also as an item of a list. */
const COLUMN = /(?:^|\n|\\n|" ?: ?\\*")([ \t]*(?:- +)?)["']?$/;
const MANY = /(?:pass(?:word|wd|phrase|code)|secret|token|credential|cred|key)s(?:_hex|_b64)?$/i;

const BEGINS_LINE = new RegExp(
  String.raw`(^|\n|\\n|\\*"[ \t]*:[ \t]*\\*"|[>|] )${STAMP}?[ \t]*(?:[-+~<>*?|] +)?(?:export +|declare -x +|set +|ENV +|ARG +)?["']?$`,
);
const beginsLine = (before: string): KeyPosition['beginsLine'] => {
  const found = BEGINS_LINE.exec(before);
  return found !== null && /[\\"]/.test(found[1] as string) ? 'escaped' : found !== null;
};

const WORDS_NEAR = /[^\s"'`\\<>,;:=/()[\]{}|]{6,256}/g;
/**
 * A time, a version, a place in a file, a code of an error, an identifier, a name of Terraform or of a host, a word with a number such as
 * oauth2, or what is redacted.
 */
const NO_SECRET =
  /^\d{4}-\d\d-\d\d|^\d{8}T|^v?\d+\.\d+\.\d|\.\w{1,5}:\d+:?$|^redacted$|^[\d:.]+[a-zµ]{0,2}$|^[A-Z][A-Z_]*\d[\dA-Z_]*$|^[a-z]{2,5}\d{1,2}$|^[0-9a-f]{6,16}$|^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-|^[a-z]{1,12}-(?:v0o)?[0-9a-z]{8,17}$|^\d+\.\d+Z$|^[a-z]{2}(?:-[a-z]+){1,2}-\d$|^[a-z]+(?:-[a-z]+)*-0?\d$|^[a-z]+-[A-Za-z0-9]{6}$|^(?:x-|aws4|AWS4|C\.UTF)|^(?:aws|azurerm|google|kubernetes|helm|terraform|opentofu|module|data|provider|http|app|ip|system)[._-]|@|\.[a-z]{2,}(?:\.|$)|^(?:oauth2?|ed25519|[xX]509v3|base64|agent\d+|sha\d+|max_?tokens?)\b/;
/** Three small words are a passphrase, unless one of them is of software. */
const PHRASE =
  /^(?!.*(?:pass|token|secret|key|agent|cluster|service|proxy|config|default|server))[a-z]+-[a-z]+-[a-z-]+$/;

/** Only with `--redact strict`: words with digits on the line of the name of a secret. */
export const nearKeys: RedactionRule = {
  name: 'near a key',
  anchors: KEY_ANCHORS,
  onlyOutside: true,
  find(text, anchor, pass) {
    const {budget} = pass;
    const key = budget.isSpent ? undefined : keyAround(text, anchor, pass.keyKinds);
    if (key === undefined) return NOTHING;
    const before = text
      .slice(Math.max(0, key.start - 120), key.start)
      .split('\n')
      .at(-1) as string;
    const after = text.slice(key.end, key.end + 200).split('\n', 1)[0] as string;
    budget.spend(4 * (before.length + after.length));
    const isDigest = DIGEST.test(before + after);
    return [...`${before}${' '.repeat(key.end - key.start)}${after}`.matchAll(WORDS_NEAR)].flatMap(
      ({0: word, index}) => {
        const start = key.start - before.length + index;
        const isOfDigest = isDigest && HEX_ONLY.test(word);
        return looksLikeSecret(word) && !isOfDigest && isValueAt(text, start, word)
          ? [{start, end: start + word.length}]
          : [];
      },
    );
  },
};

const looksLikeSecret = (word: string): boolean =>
  /[A-Za-z]/.test(word) &&
  (/\d/.test(word) || /\w[!#$%*?^~]\w/.test(word) || PHRASE.test(word)) &&
  !NO_SECRET.test(word) &&
  !isHarmless(word);

/** Not the rest of a word that begins too far away, the name of a parameter, or a digest. */
const isValueAt = (text: string, start: number, word: string): boolean =>
  !/\w/.test(text.charAt(start - 1)) &&
  !/^=\w/.test(text.slice(start + word.length, start + word.length + 2)) &&
  !isNamedHarmless(text, start);

const HEX_ONLY = /^[0-9a-f]{16,}$/;
const HEX = /[0-9a-f]{32,128}(?![\w-])/gi;
const DIGEST = /checksum|digest|sha\d|commit|revision|thumbprint|fingerprint|trace|span|etag/i;

/** Long hex digits without a name of their own, behind the name of a secret on the same line. */
export const hexNearKeys: RedactionRule = {
  name: 'near a key',
  anchors: KEY_ANCHORS,
  onlyOutside: true,
  find(text, anchor, pass) {
    const key = pass.budget.isSpent ? undefined : keyAround(text, anchor, pass.keyKinds);
    if (key?.kind !== 'secret') return NOTHING;
    const after = text.slice(key.end, key.end + 200).split('\n', 1)[0] as string;
    pass.budget.spend(after.length);
    if (DIGEST.test(after) || DIGEST.test(text.slice(Math.max(0, key.start - 60), key.start)))
      return NOTHING;
    return [...after.matchAll(HEX)]
      .map(({0: hex, index}) => ({start: key.end + index, end: key.end + index + hex.length}))
      .filter(({start, end}) => /\d/.test(text.slice(start, end)) && !isNamedHarmless(text, start));
  },
};
