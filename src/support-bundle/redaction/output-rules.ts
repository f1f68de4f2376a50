import {keyHolds} from './key-names.ts';
import {LIMITS} from './limits.ts';
import {secretOnes, valueBehind} from './pair-rules.ts';
import {type Extent, matchAt, NOTHING, type Rule, run} from './rule.ts';

const QUOTE = String.raw`\\*"`;
const COLON = String.raw`(?:\s|\\+n)*:(?:\s|\\+n)*`;
const MARKED = new RegExp(`sensitive${QUOTE}${COLON}true(?:(?!sensitive)[^]){1,600}?${QUOTE}value${QUOTE}${COLON}`, 'y');
const VALUE_ENDS = new RegExp(`${QUOTE}${COLON}`, 'y');
const OPENS_WITH_NAME = new RegExp(`([\\w.-]{1,128})${QUOTE}${COLON}\\{[^{}]{0,400}"$`);
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
  anchors: ['value'],
  onlyOutside: true,
  find(text, start, end) {
    if (text.charAt(start - 1) !== '"') return NOTHING;
    const between = matchAt(VALUE_ENDS, text, end);
    if (between === undefined) return NOTHING;
    const [, name] = OPENS_WITH_NAME.exec(text.slice(Math.max(0, start - 600), start)) ?? [];
    return name !== undefined && keyHolds(name) === 'secret' ? outputAt(text, end + between[0].length) : NOTHING;
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
