import {matchAt} from '../../../ground/token-shapes.ts';
import {isErrorText, isHarmless} from './harmless.ts';
import type {Key} from './key-names.ts';
import {isLikelySecret} from './key-verdicts.ts';
import {QUOTE, quoted} from './read-value.ts';
import {type Extent, NOTHING} from './rule.ts';

const IS = String.raw`(?:[ \t]+(?:is|was)[ \t]+(?:generated|created|set))?(?:[ \t]+(?:for|of)(?:[ \t]+(?:the[ \t]+)?(?:user|account|role|database|login))?[ \t]+\S{1,64}?)?(?:[ \t]+(?:is|was|are|(?:was |is )?(?:set|changed|reset|updated) to)\b[ \t]*:?|[ \t]*[:=](?![:=])|[ \t]*\|)[ \t]*`;
const FROM_TO =
  /[ \t]+(?:(?:was|is)[ \t]+)?(?:changed|updated|rotated|reset)[ \t]+from[ \t]+["']?([^\s"']{4,128})["']?[ \t]+to[ \t]+["']?([^\s"']{4,128})/dy;
const IS_VALUE = new RegExp(`${IS}(${QUOTE}?)(?=\\S)`, 'iy');
const QUOTED_NEXT = new RegExp(`(?:[ \\t]+by(?:[ \\t]+password)?)?[ \\t]+(${QUOTE})(?=\\S)`, 'iy');
const WORDS_NEXT = /(?:[ \t]+[A-Za-z]{1,12})?[ \t]+([^\s"'`<>|]{8,512})/y;

const WORD_NEXT = /([^\s"'`<>|]{6,512})/y;
const LONGEST = 512;

/** `password is …`, `PASSWORD '…'`, `token … is expired`: what follows a word in a sentence, if it looks like a secret. */
export function inSentence(text: string, key: Key, isStrict: boolean): readonly Extent[] {
  const isPassword = /(?:pass(?:word|wd|phrase|code)?s?|bearer)$/i.test(key.text);
  const changed = isPassword ? matchAt(FROM_TO, text, key.end)?.indices?.slice(1) : undefined;
  if (changed !== undefined) return changed.map(([start, end]) => ({start, end}));
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
