import {matchAt} from '../../../ground/token-shapes.ts';
import {
  isCode,
  isErrorText,
  isHarmless,
  isObjectName,
  isOtherWord,
  isPhrase,
  isProse,
  looksChosen,
  looksMemorable,
  looksStrong,
} from './harmless.ts';
import {isDescription, isForeignPassword, type Key} from './key-names.ts';
import {isLikelySecret} from './key-verdicts.ts';
import {onlyWordBelow, QUOTE, quoted} from './read-value.ts';
import {type Extent, NOTHING} from './rule.ts';
import {NEXT_LINE} from './separators.ts';

/** Up to eight words between the name of a secret and what connects it with its value: `password for the user bob is set to`. */
const WORDS = String.raw`["'*]{0,3}(?:[ \t]+["'(]?(?:https?://)?[\w\x80-\xff@./$-]{1,40}[)"',]{0,2}){0,8}?`;
/** What people write between a word and what it is about: brackets, arrows, dashes. */
const SIGNS = String.raw`[[(<{>;,#~*?-]{1,3}|[ \t]/(?=[ \t])|\u00e2\u0080[\u0092-\u0095]|\u00e2\u0086[\u0090\u0092]`;

/** What stands between the name of a secret and its value. */
interface Connector {
  expression: RegExp;
  /** The value can be any password; else it has to look like a secret. */
  isSure: boolean;
  /** What a password has to look like in a place where much else can stand. */
  accepts: ((value: string) => boolean) | undefined;
}

const connector = (source: string, isSure: boolean, accepts?: Connector['accepts']): Connector => ({
  expression: new RegExp(`${source}[ \\t]*(?:<[a-z]{1,6}>)?(?=\\S)`, 'iy'),
  isSure,
  accepts,
});

/** The first one with a secret behind it decides. */
const CONNECTORS: readonly Connector[] = [
  connector(
    `${WORDS}(?:[ \\t]*(?::(?![:=/])|\\|)\\*{0,2}|[ \\t]+(?:[?=:]?=|-[->]?|=>)(?=[ \\t])|[ \\t]*\\.{4,}(?=[ \\t])|[ \\t]*\u00e2\u0094\u0082)`,
    true,
  ),
  connector(
    `${WORDS}[ \\t]+(?:is|was|are|ist|lautet|es|est|je|\u00c3[\u00a8\u00a9])(?:[ \\t]+(?:now|set|changed|reset|updated)){0,2}(?:[ \\t]+to)?(?!\\w):?`,
    true,
  ),
  connector(`[^\\n]{0,120}?[ \\t](?:got|received|with value|input_value=)`, true),
  connector(`${WORDS}[ \\t]+(?:set|changed|reset|updated)[ \\t]+to\\b`, true),
  connector(`[ \\t]+password[ \\t]`, true),
  connector(`[ \\t]+by(?:[ \\t]+password)?[ \\t]`, false),
  connector(`[ \\t](?:[ \\t]*[A-Za-z]{1,12}[ \\t])?`, false),
  connector(`["'*\`)}\\]]{0,3}[ \\t]*(?:${SIGNS})`, false, looksMemorable),
  connector(
    `\\)?[ \\t]*(?:[!=]==?|\\.\\w{2,14}\\(|\\(\\)[ \\t]*(?:=|\\{[ \\t]*(?:return|echo)\\b))`,
    false,
    looksMemorable,
  ),
  connector(`${WORDS}[ \\t]+to\\b`, false, looksMemorable),
  connector(`${WORDS}[ \\t]+`, false, looksStrong),
];
const FROM_TO =
  /[^\n]{0,40}?\b(?:from[ \t]+|old=)["']?([^\s"',]{1,128})["']?,?[ \t]+(?:to[ \t]+|new=)["']?([^\s"',]{4,128})/dy;
const ENDS_LINE = new RegExp(`${WORDS}[ \\t]*:(?=[ \\t]*(?:${NEXT_LINE}))`, 'iy');
const PASSWORD = /(?:pass(?:word|wd|phrase|code)?s?|bearer|psk|wort|pw|pwd|pin|otp|code)$/i;
const OPENING = new RegExp(QUOTE, 'iy');
const WORD = /[^\s"'`<>|]{4,512}/y;
const LONGEST = 512;

/** `password is …`, `PASSWORD '…'`, `token … is expired`: what follows a word in a sentence, if it looks like a secret. */
export function inSentence(text: string, key: Key, isStrict: boolean): readonly Extent[] {
  const isPassword = PASSWORD.test(key.text) || isForeignPassword(key.text);
  if (isPassword) {
    const changed = matchAt(FROM_TO, text, key.end)?.indices?.slice(1);
    if (changed !== undefined) return changed.map(([start, end]) => ({start, end}));
    const below = matchAt(ENDS_LINE, text, key.end);
    if (below !== undefined) return onlyWordBelow(text, key.end + below[0].length);
  }
  for (const {expression, isSure, accepts} of CONNECTORS) {
    if (accepts !== undefined && !isPassword) continue;
    const between = matchAt(expression, text, key.end)?.[0];
    if (between === undefined || (isSure && (key.kind === 'maybe' || isOfOther(between)))) continue;
    const place = {at: key.end + between.length, isSure, accepts, isStrict, isPassword};
    const found = valueAt(text, key, place);
    if (found !== undefined) return [found];
  }
  const found = isPassword ? before(text, key) : NOTHING;
  return found.length > 0 ? found : strongWordBelow(text, key.end);
}

const REST_OF_LINE = new RegExp(`[^\\n]{0,120}(?=${NEXT_LINE})`, 'y');

/** What a command prints whose last words name a secret. */
function strongWordBelow(text: string, at: number): readonly Extent[] {
  const rest = matchAt(REST_OF_LINE, text, at)?.[0];
  if (rest === undefined) return NOTHING;
  const isCommand = /^(?:[ \t]+-\S+(?:[ \t]+\w+)?)*$/.test(rest);
  return onlyWordBelow(text, at + rest.length).filter(
    ({start, end}) =>
      looksStrong(text.slice(start, end)) ||
      (isCommand &&
        /\d/.test(text.slice(start, end)) &&
        /^[\da-f-]{20,}$/i.test(text.slice(start, end))),
  );
}

/** `"X" for the password`, `X is no valid password`. */
const BEFORE =
  /(?:["'`]([^\s"'`]{6,64})["'`][;,)]{0,2}(?:[ \t]+(?:#|\/\/|--))?|([^\s"'`]{6,64})[ \t]+(?:is|was|as))[ \t]+(?:[a-z]+[ \t]+){0,4}$/d;

function before(text: string, key: Key): readonly Extent[] {
  const floor = Math.max(0, key.start - 120);
  const [, quotedAt, wordAt] = BEFORE.exec(text.slice(floor, key.start))?.indices ?? [];
  const [start, end] = quotedAt ?? wordAt ?? [0, 0];
  const extent = {start: floor + start, end: floor + end};
  return looksChosen(text.slice(extent.start, extent.end)) ? [extent] : NOTHING;
}

/** `token for the user, id: …`, `token is valid until 11:00` */
function isOfOther(between: string): boolean {
  if (/\d:[ \t]*$/.test(between)) return true;
  const [, last] = /([\w-]+)[ \t]*:[ \t]*$/.exec(between) ?? [];
  return last !== undefined && isDescription(last) && !/^(?:created|used|changed|set)$/.test(last);
}

interface Place {
  at: number;
  isSure: boolean;
  accepts: Connector['accepts'];
  isStrict: boolean;
  isPassword: boolean;
}

function valueAt(text: string, key: Key, place: Place): Extent | undefined {
  const {at, accepts} = place;
  const quote = matchAt(OPENING, text, at)?.[0] ?? '';
  const extent = quote === '' ? wordIn(text, at) : quoted(text, at + quote.length, quote)[0];
  const value = text.slice(extent?.start, extent?.end);
  if (extent === undefined || value.length > LONGEST || isHarmless(value) || /\s/.test(value))
    return undefined;
  const isSecret =
    accepts?.(value) ??
    (isSecretWord(value, key, place, quote !== '') ||
      (place.isPassword &&
        isOtherWord(value) &&
        LINE_ENDS.test(text.slice(extent.end, extent.end + 8))));
  return isSecret && !/^\d{4}-\d\d/.test(value) ? extent : undefined;
}

/** `shared_secret`, but not the word alone, which can be the name of an object. */
const COMPOUND = /[a-z0-9][_-]?(?:secret|token)$/i;
const LINE_ENDS = /^["'`.)]{0,2}[ \t]*(?:[\r\n|]|\\+[nr]|\u00e2\u0094\u0082|$)/;

function isSecretWord(
  value: string,
  key: Key,
  {isSure, isStrict, isPassword}: Place,
  isQuoted: boolean,
): boolean {
  const isOfSecret = isPassword || COMPOUND.test(key.text) || (isStrict && !isObjectName(value));
  const isAny = isQuoted ? isOfSecret : isPassword && isSure;
  const isBareWord =
    !isQuoted &&
    ((isProse(value) && !isPhrase(value) && !/[a-z]_[a-z]/.test(value)) ||
      /^[/.(-]|[()]/.test(value));
  const isNumber = /(?:pin|otp|code)$/i.test(key.text) && /^\d{4,8}$/.test(value);
  return (
    isNumber ||
    isLikelySecret(value, key.kind, key.text) ||
    ((isSure || isPassword || key.kind === 'secret') && looksChosen(value)) ||
    (isSure && value.length > 5 && /\d/.test(value) && !isBareWord) ||
    (isPassword && looksMemorable(value)) ||
    (isAny && !isBareWord && !isErrorText(value) && !isCode(value))
  );
}

function wordIn(text: string, at: number): Extent | undefined {
  const word = matchAt(WORD, text, at)?.[0].replace(/[.,;:)\]}]+$|\\+[nrt"].*$/g, '') ?? '';
  return word === '' ? undefined : {start: at, end: at + word.length};
}
