import {isHarmless} from './harmless.ts';
import {keyKind} from './key-names.ts';
import {type Extent, LIMITS, matchAt, NOTHING, type Rule} from './rule.ts';

const IS_TRUE = /\\*"[ \t]*:[ \t]*true\b/y;
const IS_FIELD = /\\*"[ \t]*:/y;
const NAME_BEFORE = /([\w.-]{1,128})\\*"[ \t]*:[ \t\r\n]*$/;
/** The type is between the name of an output and its value. */
const NEAR = 512;

/** Values that Terraform marks as sensitive but prints: `output -json`, state, variables. */
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
    return name !== undefined && keyKind(name) === 'secret' ? secretLeaves(text, around + 1, depth) : NOTHING;
  },
};

/** String nesting depth of a key; undefined if it is not a key. */
const depthOfKey = (text: string, start: number, end: number, goesOn: RegExp): number | undefined =>
  text.charAt(start - 1) === '"' && matchAt(goesOn, text, end) !== undefined ? slashesBefore(text, start - 1) : undefined;

const secretLeaves = (text: string, start: number, depth: number): readonly Extent[] =>
  leavesOf(text, start, depth, 'value').filter((leaf) => !isHarmless(text.slice(leaf.start, leaf.end)));

/** Maximum distance to the start of an object, and from there to a field and its content; strings have no limit. */
const REACH = {behind: 2048, ahead: 4096, field: LIMITS.ahead - LIMITS.value};
/** Deeper nesting is not a user value. */
const DEEPEST = 16;
/** If each line of a JSON text is a separate log message, the text continues in the next one. */
const NEXT_MESSAGE = /"[^\n]{0,512}\n[^\n]{0,512}?"(?:msg|message|@message|event|log)\\*"[ \t]*:[ \t]*\\*"/y;
const NUMBER = /-?\d[\d.eE+-]*/y;
const BACKSLASH = 92;
const OPENS = '{[';
const CLOSES = '}]';

/** Backslashes before a quote: the string nesting depth. */
export function slashesBefore(text: string, quote: number): number {
  let place = quote;
  while (place > 0 && text.charCodeAt(place - 1) === BACKSLASH) place -= 1;
  return quote - place;
}

/** Whether a quote starts or ends a JSON string at this nesting depth. */
const isDelimiter = (slashes: number, depth: number): boolean => slashes >= depth && Math.floor(slashes / (depth + 1)) % 2 === 0;

/** Start of the object with the field at this position; undefined if it is too far away, or the field occurs before. */
export function objectAround(text: string, at: number, depth: number, field: string, reach = REACH.behind): number | undefined {
  let level = 0;
  for (let place = at - 1; place >= Math.max(0, at - reach); place -= 1) {
    const one = text.charAt(place);
    if (one === '"') {
      if (slashesBefore(text, place) < depth) return undefined;
      const end = place;
      do place = text.lastIndexOf('"', place - 1);
      while (place > 0 && !isDelimiter(slashesBefore(text, place), depth));
      if (place <= 0 || (level === 0 && text.slice(place + 1, end - depth) === field)) return undefined;
    } else if (CLOSES.includes(one)) level += 1;
    else if (OPENS.includes(one)) {
      if (level === 0) return one === '{' ? place : undefined;
      level -= 1;
    }
  }
  return undefined;
}

/** Every string and number in that field of the object. */
export function leavesOf(text: string, start: number, depth: number, field: string): readonly Extent[] {
  const leaves: Extent[] = [];
  let level = 0;
  let isWanted = false;
  let first: string | undefined;
  for (let place = start; place < Math.min(text.length, start + (isWanted ? REACH.field : REACH.ahead)); place += 1) {
    const one = text.charAt(place);
    if (one === '"') {
      const string = stringAt(text, place, depth);
      if (string === undefined) {
        const next = matchAt(NEXT_MESSAGE, text, place);
        if (next === undefined) break;
        place += next[0].length - 1;
        continue;
      }
      const isKey = matchAt(/[ \t]*:/y, text, string.past) !== undefined;
      if (isKey && level === 0) {
        const key = text.slice(place + 1, string.end);
        // A field occurs only once in an object.
        if (isWanted || key === first) break;
        first ??= key;
        isWanted = key === field;
      } else if (!isKey && isWanted) leaves.push({start: place + 1, end: string.end});
      place = string.past - 1;
    } else if (OPENS.includes(one)) {
      level += 1;
      if (level > DEEPEST) break;
    } else if (CLOSES.includes(one)) {
      level -= 1;
      if (level < 0) break;
    } else if (isWanted && level >= 0) {
      const number = matchAt(NUMBER, text, place);
      if (number === undefined) continue;
      leaves.push({start: place, end: place + number[0].length});
      place += number[0].length - 1;
    }
  }
  return leaves;
}

/** From the opening quote: end of the content and of the string. A string without an end in reach ends there. */
function stringAt(text: string, quote: number, depth: number): {end: number; past: number} | undefined {
  if (slashesBefore(text, quote) < depth) return undefined;
  const most = Math.min(text.length, quote + LIMITS.value);
  for (let place = text.indexOf('"', quote + 1); place !== -1 && place < most; place = text.indexOf('"', place + 1)) {
    const slashes = slashesBefore(text, place);
    if (slashes < depth) return {end: place, past: place};
    if (isDelimiter(slashes, depth)) return {end: place - depth, past: place + 1};
  }
  return {end: most, past: most};
}
