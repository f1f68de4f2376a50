import {isHarmless} from './harmless.ts';
import {leavesOf, objectAround, slashesBefore} from './json-walk.ts';
import {keyHolds} from './key-names.ts';
import {type Extent, matchAt, NOTHING, type Rule} from './rule.ts';

const IS_TRUE = /\\*"[ \t]*:[ \t]*true\b/y;
const IS_FIELD = /\\*"[ \t]*:/y;
const NAME_BEFORE = /([\w.-]{1,128})\\*"[ \t]*:[ \t\r\n]*$/;
/** Between the name of an output and its value stands its type. */
const NEAR = 512;

/** What Terraform marks as sensitive and prints all the same: `output -json`, a state, variables. */
export const sensitiveOutput: Rule = {
  name: 'output',
  anchors: ['sensitive'],
  onlyOutside: true,
  find(text, start, end) {
    const depth = depthOfKey(text, start, end, IS_TRUE);
    if (depth === undefined) return NOTHING;
    const around = objectAround(text, start - 1 - depth, depth, 'sensitive');
    return secretLeaves(text, around === undefined ? start - 1 : around + 1, depth);
  },
};

/** `"password": {"value": …}` */
export const namedOutput: Rule = {
  name: 'output',
  anchors: ['value'],
  onlyOutside: true,
  find(text, start, end) {
    const depth = depthOfKey(text, start, end, IS_FIELD);
    const around = depth === undefined ? undefined : objectAround(text, start - 1 - depth, depth, 'value', NEAR);
    if (depth === undefined || around === undefined) return NOTHING;
    const [, name] = NAME_BEFORE.exec(text.slice(Math.max(0, around - 160), around)) ?? [];
    return name !== undefined && keyHolds(name) === 'secret' ? secretLeaves(text, around + 1, depth) : NOTHING;
  },
};

/** How deep in strings a key stands that goes on like this; undefined where it is none. */
const depthOfKey = (text: string, start: number, end: number, goesOn: RegExp): number | undefined =>
  text.charAt(start - 1) === '"' && matchAt(goesOn, text, end) !== undefined ? slashesBefore(text, start - 1) : undefined;

const secretLeaves = (text: string, start: number, depth: number): readonly Extent[] =>
  leavesOf(text, start, depth, 'value').filter((leaf) => !isHarmless(text.slice(leaf.start, leaf.end)));
