import {isHarmless} from './harmless.ts';
import {keyAround} from './key-at.ts';
import {KEY_ANCHORS, keyHolds} from './key-names.ts';
import {valueAt} from './key-rules.ts';
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

/** `name: DB_PASSWORD` and then `value: …`, as Kubernetes writes variables. */
export const nameThenValue: Rule = {
  name: 'variable',
  anchors: KEY_ANCHORS,
  onlyOutside: true,
  find(text, start, end) {
    const name = keyAround(text, start, end);
    if (name?.holds !== 'secret' || !IS_VALUE.test(text.slice(Math.max(0, name.start - 12), name.start))) return NOTHING;
    const between = matchAt(VALUE_FOLLOWS, text, name.end);
    if (between === undefined || NEXT_ITEM.test(between[0])) return NOTHING;
    if (!NAMES.test(text.slice(Math.max(0, name.start - 40), name.start))) return NOTHING;
    return secretOnes(text, valueBehind(text, name.end + between[0].length));
  },
};

/** The same with the value first, as whoever sorts keys from the end writes it. */
export const valueThenName: Rule = {
  name: 'variable',
  anchors: ['value'],
  onlyOutside: true,
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
