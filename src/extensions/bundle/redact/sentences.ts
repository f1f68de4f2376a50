import {matchAt} from '../../../ground/token-shapes.ts';
import {isErrorText, isHarmless} from './harmless.ts';
import type {Key} from './key-names.ts';
import {isLikelySecret} from './key-verdicts.ts';
import {onlyWordBelow, QUOTE, quoted} from './read-value.ts';
import {type Extent, NEXT_LINE, NOTHING} from './rule.ts';

/** Up to eight words between the name of a secret and what connects it with its value: `password for the user bob is set to`. */
const WORDS = String.raw`["'*]{0,3}(?:[ \t]+["'(]?[\w\x80-\xff@./-]{1,40}[)"',]{0,2}){0,8}?`;
const IS = String.raw`${WORDS}(?:[ \t]+(?:is|was|are|ist|lautet|es|est|je)(?:[ \t]+(?:now|set|changed|reset|updated)){0,2}(?:[ \t]+to)?\b[ \t]*:?|[ \t]*(?:[:?=]=|[:=](?![:=])|-[->]?(?=[ \t])|=>|\|)\*{0,2})[ \t]*`;
const FROM_TO =
  /[^\n]{0,40}?\b(?:from[ \t]+|old=)["']?([^\s"',]{4,128})["']?,?[ \t]+(?:to[ \t]+|new=)["']?([^\s"',]{4,128})/dy;
const IS_VALUE = new RegExp(`${IS}(${QUOTE}?)(?=\\S)`, 'iy');
const ENDS_LINE = new RegExp(`${WORDS}[ \\t]*:(?=[ \\t]*(?:${NEXT_LINE}))`, 'iy');
const QUOTED_NEXT = new RegExp(
  `(?:[ \\t]+by(?:[ \\t]+password)?|[^\\n]{0,120}?[ \\t](?:got|received|with value|input_value=))?[ \\t]*(?:(?<=[ \\t=])|(?=\`))(${QUOTE})(?=\\S)`,
  'iy',
);
const WORDS_NEXT = /(?:[ \t]+[A-Za-z]{1,12})?[ \t]+([^\s"'`<>|]{8,512})/y;

const WORD_NEXT = /([^\s"'`<>|]{6,512})/y;
const LONGEST = 512;

/** `password is …`, `PASSWORD '…'`, `token … is expired`: what follows a word in a sentence, if it looks like a secret. */
export function inSentence(text: string, key: Key, isStrict: boolean): readonly Extent[] {
  const isPassword = /(?:pass(?:word|wd|phrase|code)?s?|bearer|psk|wort|pw)$/i.test(key.text);
  const changed = isPassword ? matchAt(FROM_TO, text, key.end)?.indices?.slice(1) : undefined;
  if (changed !== undefined) return changed.map(([start, end]) => ({start, end}));
  const below = matchAt(ENDS_LINE, text, key.end);
  if (isPassword && below !== undefined) return onlyWordBelow(text, key.end + below[0].length);
  const is = key.kind === 'maybe' ? undefined : matchAt(IS_VALUE, text, key.end);
  const next = is ?? matchAt(QUOTED_NEXT, text, key.end);
  const quote = next?.[1] ?? '';
  if (next === undefined || quote === '')
    return wordInSentence(text, key, {is: is?.[0], isPassword});
  const isSecret = (value: string): boolean =>
    isPassword || isStrict ? !isErrorText(value) : isLikelySecret(value, key.kind, key.text);
  return quoted(text, key.end + next[0].length, quote).filter(({start, end}) => {
    const value = text.slice(start, end);
    return end - start < LONGEST && !isHarmless(value) && !/\s/.test(value) && isSecret(value);
  });
}

/** The next word that is not in quotes; `is` is what connects it with the key. */
function wordInSentence(
  text: string,
  {kind, text: key, end}: Key,
  {is, isPassword}: {is: string | undefined; isPassword: boolean},
): readonly Extent[] {
  const at = end + (is?.length ?? 0);
  const found = matchAt(is === undefined ? WORDS_NEXT : WORD_NEXT, text, at);
  const [all = '', word = ''] = found ?? [];
  if (found === undefined) return NOTHING;
  const value = word.replace(/[.,;:)\]}]+$|\\+[nrt"].*$/g, '');
  const isNext = is !== undefined || (isPassword && !/\s/.test(all.trim()) && /[a-z]/i.test(value));
  if (!(isNext && isLikelyNext(value)) && !isLikelySecret(value, kind, key)) return NOTHING;
  const start = at + all.length - word.length;
  return [{start, end: start + value.length}];
}

const isLikelyNext = (value: string): boolean =>
  /\d/.test(value) &&
  value.length > 5 &&
  /^[^/.(-][^()]*$/.test(value) &&
  !isHarmless(value) &&
  !/^\d{4}-\d\d/.test(value);
