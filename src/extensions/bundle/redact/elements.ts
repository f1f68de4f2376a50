import {matchAt} from '../../../ground/token-shapes.ts';
import {isHarmless, looksStrong} from './harmless.ts';
import type {Key} from './key-names.ts';
import {type Extent, NOTHING} from './rule.ts';

/** The rest of an opening tag whose name or last attribute is the key. */
const IN_TAG =
  /(?:[ \t][^<>\n]{0,200})?(?:>|\\+u003e|&gt;)(?:<!\[CDATA\[|\s{0,40}<(?:value|string|plaintext)>)?\s{0,80}/iy;
const TAG_BEFORE = /(?:<|\\+u003c|&lt;)(?:[\w-]{1,40}:)?$/i;
/** The text of an element, up to the next tag. */
export const ELEMENT = /(?:(?!\\+u003c|&lt;)[^<\n]){1,4096}/iy;
const CLOSING_TAG = /^(?:<|\\+u003c|&lt;)\//i;

/** The value in an attribute of the tag itself: `<password value="…"/>`. */
const ATTRIBUTE = /[ \t][^<>\n]{0,200}?\bvalue=\\*["']([^"'<>\\\n]{2,512})/dy;

/** Whether a key is the name of an element, as in XML: `<password>`. */
export const isInTag = (before: string): boolean =>
  '<:;cC'.includes(before.slice(-1)) && TAG_BEFORE.test(before);

/** The content of the element that a key names. */
export function inElement(text: string, key: Key, isStrict: boolean): readonly Extent[] {
  const [from = 0, to = 0] = matchAt(ATTRIBUTE, text, key.end)?.indices?.[1] ?? [];
  if (to > from && key.kind === 'secret' && !isHarmless(text.slice(from, to)))
    return [{start: from, end: to}];
  const tag = matchAt(IN_TAG, text, key.end);
  if (tag === undefined) return NOTHING;
  const start = key.end + tag[0].length;
  const [content = ''] = matchAt(ELEMENT, text, start) ?? [];
  const past = start + content.length;
  if (content === '' || !CLOSING_TAG.test(text.slice(past, past + 90).trimStart())) return NOTHING;
  const value = content.replace(/(?:\]\]>)?\s*$/, '');
  const isUnsure = key.kind === 'maybe' && !isStrict && !looksStrong(value);
  return isHarmless(value) || isUnsure ? NOTHING : [{start, end: start + value.length}];
}
