import {isHarmless} from './harmless.ts';
import {KEY_ANCHORS, keyHolds} from './key-names.ts';
import {startOfKey, valueAt} from './key-rules.ts';
import {type Extent, matchAt, NOTHING, type Rule} from './rule.ts';

/** Between `name: X` and `value: Y`: line ends with their timestamps, indents, commas, signs of a plan. */
const GAP = String.raw`(?:[\s,+~-]|\\+[nrt]|\d{4}-\d\d-\d\dT[\d:.]{8,20}Z ){1,120}`;
const SEPARATOR = String.raw`\\*["']?[ \t]*(?:[:=]|=>)[ \t]*`;
const VALUE_FOLLOWS = new RegExp(String.raw`\\*["']?${GAP}?\\*["']?value${SEPARATOR}`, 'iy');
const NAME_FOLLOWS = new RegExp(String.raw`\\*["']?${GAP}?\\*["']?(?:name|key)${SEPARATOR}\\*["']?([\w.-]{1,128})`, 'iy');
const NAMES = new RegExp(`(?:name|key)${SEPARATOR}\\\\*["']?$`, 'i');
/** A list goes on: what follows belongs to another variable. */
const NEXT_ITEM = /-[ \t]+\\*["']?(?:value|name|key)\\*["']?[ \t]*:/i;
const IS_VALUE = /[:=>][ \t]*\\*["']?$/;
const KEY_END = /[\w.-]{0,64}/y;

/** `name: DB_PASSWORD` and then `value: …`, as Kubernetes writes variables. */
export const nameThenValue: Rule = {
  name: 'variable',
  anchors: KEY_ANCHORS,
  find(text, start, end) {
    const nameStart = startOfKey(text, start);
    if (!IS_VALUE.test(text.slice(Math.max(0, nameStart - 12), nameStart))) return NOTHING;
    const nameEnd = end + (matchAt(KEY_END, text, end)?.[0].length ?? 0);
    const between = matchAt(VALUE_FOLLOWS, text, nameEnd);
    if (between === undefined || NEXT_ITEM.test(between[0])) return NOTHING;
    if (!NAMES.test(text.slice(Math.max(0, nameStart - 40), nameStart))) return NOTHING;
    if (keyHolds(text.slice(nameStart, nameEnd)) !== 'secret') return NOTHING;
    return secretOnes(text, valueBehind(text, nameEnd + between[0].length));
  },
};

/** The same with the value first, as whoever sorts keys from the end writes it. */
export const valueThenName: Rule = {
  name: 'variable',
  anchors: ['value'],
  find(text, start, end) {
    const separator = matchAt(VALUE_SEPARATOR, text, end);
    if (separator === undefined || KEY_BEFORE.test(text.charAt(start - 1))) return NOTHING;
    const found = valueBehind(text, end + separator[0].length);
    const name = matchAt(NAME_FOLLOWS, text, found.at(-1)?.end ?? end);
    if (name === undefined || NEXT_ITEM.test(name[0])) return NOTHING;
    return keyHolds(name[1] as string) === 'secret' ? secretOnes(text, found) : NOTHING;
  },
};

const VALUE_SEPARATOR = new RegExp(SEPARATOR, 'y');
const KEY_BEFORE = /[\w.-]/;

const valueBehind = (text: string, at: number): readonly Extent[] =>
  valueAt(text, {at, key: 'value', keyStart: at, keyQuoted: /["']/.test(text.slice(at - 3, at)), beginsLine: true, separator: ':'});

const secretOnes = (text: string, found: readonly Extent[]): readonly Extent[] =>
  found.filter(({start, end}) => !isHarmless(text.slice(start, end)));
