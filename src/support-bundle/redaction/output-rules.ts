import {keyAround} from './key-at.ts';
import {KEY_ANCHORS} from './key-names.ts';
import {LIMITS} from './limits.ts';
import {secretOnes, valueBehind} from './pair-rules.ts';
import {type Extent, matchAt, NOTHING, type Rule, run} from './rule.ts';

const QUOTE = String.raw`\\*"`;
const COLON = String.raw`(?:\s|\\+n)*:(?:\s|\\+n)*`;
const MARKED = new RegExp(`sensitive${QUOTE}${COLON}true(?:(?!sensitive)[^]){1,600}?${QUOTE}value${QUOTE}${COLON}`, 'y');
const NAMED = new RegExp(`${QUOTE}${COLON}\\{(?:(?!${QUOTE}value${QUOTE})[^{}]){0,400}${QUOTE}value${QUOTE}${COLON}`, 'y');
const BRACKETS: Readonly<Record<string, number>> = {'[': 1, '{': 1, ']': -1, '}': -1};

/** What `terraform output -json` marks as sensitive, and prints all the same. */
export const sensitiveOutput: Rule = {
  name: 'output',
  anchors: ['sensitive'],
  onlyOutside: true,
  find(text, start) {
    const found = matchAt(MARKED, text, start);
    return found === undefined ? NOTHING : outputAt(text, start + found[0].length);
  },
};

/** `"password": {"value": …}` */
export const namedOutput: Rule = {
  name: 'output',
  anchors: KEY_ANCHORS,
  onlyOutside: true,
  find(text, start, end) {
    const name = keyAround(text, start, end);
    const between = name?.holds === 'secret' ? matchAt(NAMED, text, name.end) : undefined;
    return name === undefined || between === undefined ? NOTHING : outputAt(text, name.end + between[0].length);
  },
};

const outputAt = (text: string, at: number): readonly Extent[] =>
  secretOnes(text, BRACKETS[text.charAt(at)] === 1 ? [collection(text, at)] : valueBehind(text, at));

/** A list or an object as a whole. A bracket in a string may end it early or late, never outside of the braces around it. */
function collection(text: string, start: number): Extent {
  let depth = 0;
  for (let place = start; place < Math.min(text.length, start + LIMITS.value); place += 1) {
    depth += BRACKETS[text.charAt(place)] ?? 0;
    if (depth === 0) return {start, end: place + 1};
  }
  return run(start, Math.min(text.length, start + LIMITS.value), /\n/g);
}
