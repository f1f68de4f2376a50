import {matchAt} from '../../../ground/token-shapes.ts';
import {isCode, isErrorText, isHarmless, isObjectName, isProse, looksStrong} from './harmless.ts';
import {
  isPlace,
  KEY_ANCHORS,
  type Key,
  type KeyKind,
  keyAround,
  keyKind,
  SECRET_IDS,
} from './key-names.ts';
import {afterScheme, type KeyPosition, QUOTE, quoted, SPACES, valueExtents} from './read-value.ts';
import {
  type Extent,
  isSpent,
  NEXT_LINE,
  NOTHING,
  type RedactionRule,
  STAMP,
  spend,
} from './rule.ts';
import {collectionAt, secretsBelow} from './structure-rules.ts';

/** Characters between a key and its value: quotes at any JSON nesting depth, brackets, spaces, colors. */
const ASSIGNS = String.raw`(:=|=>|=(?!=)|(?<![ \t])=(?==[^\s=])|:(?![:=])|%3[ad]|\\+u003[ad])`;
const FLAG = String.raw`(?<=(?:^|[\s"'=,([])--?[\w-]{2,64})(?:(?=[ \t])|\\*["'],(?= ?\\*["']))`;
const SEPARATOR = new RegExp(
  String.raw`(?:(${QUOTE}?)(?:\]|\\+u005d|%5d)?(?:${SPACES}|${NEXT_LINE}[ \t]*(?=:[ \t]))${ASSIGNS}|${FLAG})(?:${SPACES}[,+]?){1,3}`,
  'iy',
);
/** The rest of an opening tag whose name or last attribute is the key. */
const IN_TAG = /(?:[ \t][^<>\n]{0,200})?(?:>|\\+u003e|&gt;)/iy;
const TAG_BEFORE = /(?:<|\\+u003c|&lt;)(?:[\w-]{1,40}:)?$/i;
const ELEMENT = /(?:(?!\\+u003c|&lt;)[^<\n]){1,4096}/iy;

/** Values of keys that look secret, in YAML, JSON at any escaping depth, variables, flags, XML, structs of Go and Terraform. */
export const secretKeyRule: RedactionRule = {
  name: 'key',
  anchors: KEY_ANCHORS,
  onlyOutside: true,
  find(text, start, end, isStrict) {
    const key = keyAround(text, start, end);
    if (key === undefined) return NOTHING;
    const previous = text.charAt(key.start - 1);
    const before = text.slice(Math.max(0, key.start - 48), key.start);
    // A placeholder already names its kind; redacting it again would change the name.
    if (
      previous === ':' &&
      before.endsWith('[redacted:') &&
      /^:[0-9a-f]{8}\]/.test(text.slice(key.end, key.end + 10))
    )
      return NOTHING;
    if ('<:;cC'.includes(previous) && TAG_BEFORE.test(before))
      return inElement(text, key, isStrict);
    const separator = matchAt(SEPARATOR, text, key.end);
    const after = text.slice(key.end, key.end + 80);
    if (separator === undefined)
      return /[/\\]/.test(previous) || (previous === '=' && /^ @?\w+=/.test(after))
        ? NOTHING
        : inSentence(text, key, isStrict);
    // The help of a flag stands in a column of its own.
    if (/^[ \t]{2,}$/.test(separator[0]) && isProse(/\S*/.exec(after.trimStart())?.[0] ?? ''))
      return NOTHING;
    // Parts of AWS names are not keys, and neither is `checksum/secret` of helm.
    if (before.endsWith('checksum/') || (before.endsWith(':') && separator[0] === ':'))
      return NOTHING;
    if (previous === ' ' && /(?:unexpected|near|illegal|unknown|expected) $/i.test(before))
      return NOTHING;
    const place: KeyPosition = {
      at: key.end + separator[0].length,
      key: key.text,
      keyStart: key.start,
      keyQuoted: (separator[1] ?? '') !== '',
      beginsLine: beginsLine(text.slice(Math.max(0, key.start - 80), key.start)),
      separator: separator[2] ?? ' ',
    };
    const column = (): number | undefined =>
      COLUMN.exec(text.slice(Math.max(0, key.start - 80), key.start))?.[1]?.length;
    const below =
      key.kind === 'secret' || MANY.test(key.text) ? collectionAt(text, place.at, column) : [];
    if (below.length > 0) {
      const values = secretsBelow(below, key.text).map((extent) => ({
        ...extent,
        start: afterScheme(text, extent.start),
      }));
      return values.filter(({start: from, end: to}) => !isHarmless(text.slice(from, to)));
    }
    const found = valueExtents(text, place);
    // Both sides of a change are hidden, or none.
    if (!found.some((extent) => isSecret(text, extent, place, key.kind, isStrict))) return NOTHING;
    return found
      .filter(({start: from, end: to}) => !isHarmless(text.slice(from, to)))
      .map((extent) => ({...extent, key: key.text}));
  },
};

/** The indentation of a key, also as an item of a list. */
const COLUMN = /(?:^|\n|\\n|" ?: ?\\*")([ \t]*(?:- +)?)["']?$/;
const MANY = /(?:pass(?:word|wd|phrase|code)|secret|token|credential|cred|key)s$/i;

const BEGINS_LINE = new RegExp(
  String.raw`(^|\n|\\n|\\*"[ \t]*:[ \t]*\\*"|[>|] )${STAMP}?[ \t]*(?:[-+~<>*?|] +)?(?:export +|declare -x +|set +|ENV +|ARG +)?["']?$`,
);
const beginsLine = (before: string): KeyPosition['beginsLine'] => {
  const found = BEGINS_LINE.exec(before);
  return found !== null && /[\\"]/.test(found[1] as string) ? 'escaped' : found !== null;
};

const IN_QUOTES = /(?:["']|&quot;|&#3[49];|%2[27]|u002[27])$/;

function isSecret(
  text: string,
  {start, end}: Extent,
  place: KeyPosition,
  kind: KeyKind,
  isStrict: boolean,
): boolean {
  const {key, keyQuoted, beginsLine, separator} = place;
  const value = text.slice(start, end).replace(/^`|[`,;]+$/g, '');
  const rest = text.slice(start, end + 160).split(/\n|\\+n|","|"}|", "/, 1)[0] as string;
  const isBare = !IN_QUOTES.test(text.slice(Math.max(0, start - 6), start));
  if (/^\d+ bytes\b/.test(text.slice(start, end + 7)) || isHarmless(value) || isPlace(key, value))
    return false;
  if (kind === 'name' && isObjectName(value) && refersToObject(place) && !DIGITS.test(value))
    return false;
  if (SECRET_IDS.test(key)) return isLikelySecret(value, 'secret', key) || DIGITS.test(value);
  if (kind === 'maybe')
    return isLikelySecret(value, kind, key) || (isStrict && !isErrorText(value));
  if (/^\d{1,7}$/.test(value) && !/pass|pwd|pin|otp|secret/i.test(key)) return false;
  if (/dsn$/i.test(key) && /^https?:\/\/\w+@/.test(value)) return false;
  if (kind === 'word' && (separator !== '=' || !/^pa|^pw/i.test(key)) && isProse(value))
    return false;
  if (keyQuoted && isBare && isProse(value)) return false;
  if (!isBare) return !isErrorText(value) || !/\s/.test(value);
  if (kind === 'word' && separator !== '=' && !isLikelySecret(value, kind, key) && !keyQuoted)
    return false;
  if (isCode(value) || (separator !== ' ' && isCode(rest.trim().replace(/[,;]$/, ''))))
    return false;
  if (/^(?:[[{]$|map\[\]|\[\]|\{\})/.test(value)) return false;
  if (keyQuoted) return true;
  if (
    separator === ':' &&
    beginsLine === false &&
    isProse(value) &&
    (/pass|pwd/i.test(key) ? MORE_WORDS : ANY_WORDS).test(rest.slice(value.length))
  )
    return false;
  return !isErrorText(separator === '=' || keyQuoted ? value : sentence(rest, value));
}

/** Hex digits and UUIDs are no names. */
const DIGITS = /^[0-9a-f]{20,}$|^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** `existingSecret: name`, `--token-secret name`; a variable holds the secret itself. */
const refersToObject = ({key, separator}: KeyPosition): boolean =>
  /[a-z]/.test(key) && (separator !== '=' || key.startsWith('-'));

/** A sentence goes on, and not with another key. */
const ANY_WORDS = /^,? +[\w"'(/\\*-]/;
const MORE_WORDS = /^,? +(?![\w.-]+[:=])[\w"'(/\\*-]/;

/** Digests of keys and signatures look like those of files. */
const isLikelySecret = (value: string, kind: KeyKind, key: string): boolean =>
  looksStrong(value) ||
  ((kind !== 'maybe' || !/key$/i.test(key)) && /^(?=.*\d)(?=.*[a-f])[0-9a-f]{20,}$/i.test(value));

/** The words up to the end of the line, as far as they belong together. */
const sentence = (rest: string, value: string): string =>
  rest.startsWith(value)
    ? (rest.split(/[,;)}\]]\s|\s[\w.-]+=|\s+\(|\\*",\s*\\*"|\\*"}/, 1)[0] as string)
    : value;

function inElement(text: string, key: Key, isStrict: boolean): readonly Extent[] {
  const tag = matchAt(IN_TAG, text, key.end);
  const content = tag === undefined ? undefined : matchAt(ELEMENT, text, key.end + tag[0].length);
  if (tag === undefined || content === undefined) return NOTHING;
  const value = content[0].trimEnd();
  const start = key.end + tag[0].length;
  if (
    !/^(?:<|\\+u003c|&lt;)\//i.test(
      text.slice(start + content[0].length, start + content[0].length + 10),
    )
  )
    return NOTHING;
  return isHarmless(value) || (key.kind === 'maybe' && !isStrict && !looksStrong(value))
    ? NOTHING
    : [{start, end: start + value.length}];
}

const IS = String.raw`(?:[ \t]+(?:is|was)[ \t]+(?:generated|created|set))?(?:[ \t]+(?:for|of)(?:[ \t]+(?:the[ \t]+)?(?:user|account|role|database|login))?[ \t]+\S{1,64}?)?(?:[ \t]+(?:is|was|are|(?:was |is )?(?:set|changed|reset|updated) to)\b[ \t]*:?|[ \t]*[:=](?![:=])|[ \t]*\|)[ \t]*`;
const FROM_TO =
  /[ \t]+(?:(?:was|is)[ \t]+)?(?:changed|updated|rotated|reset)[ \t]+from[ \t]+["']?([^\s"']{4,128})["']?[ \t]+to[ \t]+["']?([^\s"']{4,128})/dy;
const IS_VALUE = new RegExp(`${IS}(${QUOTE}?)(?=\\S)`, 'iy');
const QUOTED_NEXT = new RegExp(`(?:[ \\t]+by(?:[ \\t]+password)?)?[ \\t]+(${QUOTE})(?=\\S)`, 'iy');
const WORDS_NEXT = /(?:[ \t]+[A-Za-z]{1,12})?[ \t]+([^\s"'`<>|]{8,512})/y;

/** `password is …`, `PASSWORD '…'`, `token … is expired`: what follows a word in a sentence, if it looks like a secret. */
function inSentence(
  text: string,
  {kind, text: key, end: at}: Key,
  isStrict: boolean,
): readonly Extent[] {
  const isPassword = /(?:pass(?:word|wd|phrase|code)?s?|bearer)$/i.test(key);
  const change = isPassword ? matchAt(FROM_TO, text, at) : undefined;
  if (change?.indices)
    return change.indices
      .slice(1)
      .flatMap((each) => (each === undefined ? [] : [{start: each[0], end: each[1]}]));
  const is = kind === 'maybe' ? undefined : matchAt(IS_VALUE, text, at);
  const next = is ?? matchAt(QUOTED_NEXT, text, at);
  if (next !== undefined && next[1] !== '') {
    const found = quoted(text, at + next[0].length, next[1] as string);
    const hides = ({start, end}: Extent): boolean => {
      const value = text.slice(start, end);
      return (
        !isHarmless(value) &&
        !/\s/.test(value) &&
        (isPassword || isStrict ? !isErrorText(value) : isLikelySecret(value, kind, key))
      );
    };
    return found.filter((extent) => hides(extent) && extent.end - extent.start < 512);
  }
  const found =
    is === undefined
      ? matchAt(WORDS_NEXT, text, at)
      : matchAt(/([^\s"'`<>|]{6,512})/y, text, at + is[0].length);
  if (found === undefined) return NOTHING;
  const value = (found[1] as string).replace(/[.,;:)\]}]+$|\\+[nrt"].*$/g, '');
  const start = at + (is?.[0].length ?? 0) + found[0].length - (found[1] as string).length;
  const isNext =
    is !== undefined || (isPassword && !/\s/.test(found[0].trim()) && /[a-z]/i.test(value));
  const isLikely =
    isNext &&
    /\d/.test(value) &&
    value.length > 5 &&
    /^[^/.(-][^()]*$/.test(value) &&
    !isHarmless(value) &&
    !/^\d{4}-\d\d/.test(value);
  return isLikely || isLikelySecret(value, kind, key)
    ? [{start, end: start + value.length}]
    : NOTHING;
}

/** Between `name: X` and `value: Y`: line ends with timestamps, indentation, commas, plan symbols. */
const GAP = `(?:[ \\t,+~-]|${NEXT_LINE}){1,120}?`;
const ASSIGNMENT = String.raw`\\*["']?[ \t]*(?:[:=]|=>)[ \t]*`;
const VALUE_FOLLOWS = new RegExp(
  String.raw`\\*["']?(?:${GAP})?(?:[ \t]*\{${GAP})?\\*["']?(?:value|default)${ASSIGNMENT}`,
  'iy',
);
const NAME_FOLLOWS = new RegExp(
  String.raw`\\*["']?(?:${GAP})?\\*["']?(?:name|key)${ASSIGNMENT}\\*["']?([\w.-]{1,128})`,
  'iy',
);
const NAMES = new RegExp(
  `(?:(?:name|key)${ASSIGNMENT}\\\\*["']?|(?:variable|output|resource)[ \\t]+\\\\*"(?:[\\w-]{1,64}\\\\*"[ \\t]+\\\\*")?)$`,
  'i',
);
/** A list continues: the following text belongs to another variable. */
const NEXT_ITEM = /-[ \t]+\\*["']?(?:value|name|key)\\*["']?[ \t]*:/i;
/** The content of an element with a name: `name="password">`, `<key>password</key><string>`. */
const ELEMENT_FOLLOWS = /\\*["'][ \t]*>|<\/(?:key|name)>\s{0,40}<(?:string|value)>/iy;
const NAMED_ELEMENT = /(?:name|key)=\\*["']$|<(?:key|name)>$/i;
/** A part of a form: headers, an empty line, and the value. */
const MULTIPART = new RegExp(
  `\\\\*["'](?:;[^\\n\\\\]{0,100})?(?:${NEXT_LINE})(?:[\\w-]{1,40}: [^\\n\\\\]{0,100}(?:${NEXT_LINE}))?(?:${NEXT_LINE})([^\\r\\n\\\\"]{2,512})`,
  'y',
);
/** The second of two: `('password', '…')`, `{DB_PASSWORD …}`. */
const SECOND_FOLLOWS = /\\*["'][ \t]*,[ \t]*(?=[bu]?\\*["'])/y;
const OPENS_PAIR = /[([{][bu]?\\*["']$/;
const IN_BRACES = /[ \t]([^\s{}]{2,512})\}/y;

/** The name of a secret, and then its value, as in Kubernetes, XML, Python and Terraform. */
export const nameThenValue: RedactionRule = {
  name: 'variable',
  anchors: KEY_ANCHORS,
  onlyOutside: true,
  find(text, start, end) {
    const name = keyAround(text, start, end);
    if (name === undefined || name.kind === 'name' || name.kind === 'maybe') return NOTHING;
    // The name of a variable stands in quotes or braces, or after a colon.
    if (
      !/["'{>:= ]/.test(text.charAt(name.start - 1)) &&
      !/["']$/.test(text.slice(name.start - 2, name.start))
    )
      return NOTHING;
    const before = text.slice(Math.max(0, name.start - 48), name.start);
    const element = NAMED_ELEMENT.test(before)
      ? matchAt(ELEMENT_FOLLOWS, text, name.end)
      : undefined;
    if (element !== undefined) {
      const from = name.end + element[0].length;
      return secretOnes(text, [
        {start: from, end: from + (matchAt(ELEMENT, text, from)?.[0].length ?? 0)},
      ]);
    }
    const part = /name=\\*["']$/.test(before) ? matchAt(MULTIPART, text, name.end) : undefined;
    if (part !== undefined) {
      const value = part[1] as string;
      const to = name.end + part[0].length;
      return secretOnes(text, [{start: to - value.length, end: to}]);
    }
    const second = OPENS_PAIR.test(before) ? matchAt(SECOND_FOLLOWS, text, name.end) : undefined;
    if (second !== undefined) {
      const found = valueBehind(text, name.end + second[0].length);
      const after = text.slice(found.at(-1)?.end ?? 0).slice(0, 12);
      return /^\\*["'][ \t]*[)\]}]/.test(after)
        ? found.filter((each) => isValueOfPair(text.slice(each.start, each.end)))
        : NOTHING;
    }
    const braced =
      before.endsWith('{') && /^[A-Z][A-Z0-9_]+$/.test(name.text)
        ? matchAt(IN_BRACES, text, name.end)
        : undefined;
    if (braced !== undefined)
      return secretOnes(text, [{start: name.end + 1, end: name.end + braced[0].length - 1}]);
    if (!NAMES.test(before)) return NOTHING;
    const between = matchAt(VALUE_FOLLOWS, text, name.end);
    if (between === undefined || NEXT_ITEM.test(between[0])) return NOTHING;
    return secretOnes(text, valueBehind(text, name.end + between[0].length));
  },
};

/** Lists of names are no pairs. */
const isValueOfPair = (value: string): boolean =>
  !isHarmless(value) && (!/^[A-Za-z_]+$/.test(value) || keyKind(value) === 'other');

/** The same with the value first, for keys in reverse order. */
export const valueThenName: RedactionRule = {
  name: 'variable',
  anchors: ['value'],
  onlyOutside: true,
  find(text, start, end) {
    const separator = matchAt(VALUE_SEPARATOR, text, end);
    if (separator === undefined || KEY_BEFORE.test(text.charAt(start - 1))) return NOTHING;
    const found = valueBehind(text, end + separator[0].length);
    const name = matchAt(NAME_FOLLOWS, text, found.at(-1)?.end ?? end);
    if (name === undefined || NEXT_ITEM.test(name[0])) return NOTHING;
    return keyKind(name[1] as string) === 'secret' ? secretOnes(text, found) : NOTHING;
  },
};

const VALUE_SEPARATOR = new RegExp(ASSIGNMENT, 'y');
const KEY_BEFORE = /[\w.-]/;

const valueBehind = (text: string, at: number): readonly Extent[] =>
  valueExtents(text, {
    at,
    key: 'value',
    keyStart: at,
    keyQuoted: /["']/.test(text.slice(at - 3, at)),
    beginsLine: true,
    separator: ':',
  });

const secretOnes = (text: string, found: readonly Extent[]): readonly Extent[] =>
  found.filter(
    ({start, end}) => !isHarmless(text.slice(start, end)) && !isCode(text.slice(start, end)),
  );

const WORDS_NEAR = /[^\s"'`\\<>,;()[\]{}|]{6,256}/g;
/** A time, a version, a place in a file, or what is redacted. */
const NO_SECRET =
  /^\d{4}-\d\d-\d\d|^v?\d+\.\d+\.\d|\.\w{1,5}:\d+:?$|^[A-Z]+\/\d|^redacted:|^[\d:.]+[a-zµ]{0,2}$/;

/** Only with `--redact strict`: words with digits on the line of the name of a secret. */
export const nearKeys: RedactionRule = {
  name: 'near a key',
  anchors: KEY_ANCHORS,
  onlyOutside: true,
  find(text, start, end) {
    const key = isSpent() ? undefined : keyAround(text, start, end);
    if (key === undefined) return NOTHING;
    const before = text
      .slice(Math.max(0, key.start - 120), key.start)
      .split('\n')
      .at(-1) as string;
    const after = text.slice(key.end, key.end + 200).split('\n', 1)[0] as string;
    spend(4 * (before.length + after.length));
    return [...`${before}${' '.repeat(key.end - key.start)}${after}`.matchAll(WORDS_NEAR)]
      .map(({0: word, index}) => ({
        start: key.start - before.length + index,
        end: key.start - before.length + index + word.length,
        word,
      }))
      .filter(
        ({word}) =>
          /[A-Za-z]/.test(word) &&
          (/\d/.test(word) || /\w[!#$%&*?@^~]\w|\w-\w+-\w/.test(word)) &&
          !NO_SECRET.test(word) &&
          !isHarmless(word),
      );
  },
};
