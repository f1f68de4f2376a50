import {isHarmless} from './harmless.ts';
import {keyKind} from './key-names.ts';
import {type Extent, LIMITS, matchAt, NOTHING, type RedactionRule} from './rule.ts';

const IS_TRUE = /\\*"[ \t]*:[ \t]*true\b/y;
const IS_FIELD = /\\*"[ \t]*:/y;
const NAME_BEFORE = /([\w.-]{1,128})\\*"[ \t]*:[ \t\r\n]*$/;
/** The type is between the name of an output and its value. */
const NEAR = 512;

/** Values that Terraform marks as sensitive but prints: `output -json`, state, variables. */
export const sensitiveOutput: RedactionRule = {
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
export const namedOutput: RedactionRule = {
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
  jsonLeaves(text, start, depth, 'value').filter((leaf) => !isHarmless(text.slice(leaf.start, leaf.end)));

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
  let position = quote;
  while (position > 0 && text.charCodeAt(position - 1) === BACKSLASH) position -= 1;
  return quote - position;
}

/** Whether a quote starts or ends a JSON string at this nesting depth. */
const isDelimiter = (slashes: number, depth: number): boolean => slashes >= depth && Math.floor(slashes / (depth + 1)) % 2 === 0;

/** Start of the object with the field at this position; undefined if it is too far away, or the field occurs before. */
export function objectAround(text: string, at: number, depth: number, field: string, reach = REACH.behind): number | undefined {
  let level = 0;
  for (let position = at - 1; position >= Math.max(0, at - reach); position -= 1) {
    const one = text.charAt(position);
    if (one === '"') {
      if (slashesBefore(text, position) < depth) return undefined;
      const end = position;
      do position = text.lastIndexOf('"', position - 1);
      while (position > 0 && !isDelimiter(slashesBefore(text, position), depth));
      if (position <= 0 || (level === 0 && text.slice(position + 1, end - depth) === field)) return undefined;
    } else if (CLOSES.includes(one)) level += 1;
    else if (OPENS.includes(one)) {
      if (level === 0) return one === '{' ? position : undefined;
      level -= 1;
    }
  }
  return undefined;
}

/** Every string and number in that field of the object. */
export function jsonLeaves(text: string, start: number, depth: number, field: string): readonly Extent[] {
  const leaves: Extent[] = [];
  let level = 0;
  let isWanted = false;
  let first: string | undefined;
  for (let position = start; position < Math.min(text.length, start + (isWanted ? REACH.field : REACH.ahead)); position += 1) {
    const one = text.charAt(position);
    if (one === '"') {
      const string = stringAt(text, position, depth);
      if (string === undefined) {
        const next = matchAt(NEXT_MESSAGE, text, position);
        if (next === undefined) break;
        position += next[0].length - 1;
        continue;
      }
      const isKey = matchAt(/[ \t]*:/y, text, string.past) !== undefined;
      if (isKey && level === 0) {
        const key = text.slice(position + 1, string.end);
        // A field occurs only once in an object.
        if (isWanted || key === first) break;
        first ??= key;
        isWanted = key === field;
      } else if (!isKey && isWanted) leaves.push({start: position + 1, end: string.end});
      position = string.past - 1;
    } else if (OPENS.includes(one)) {
      level += 1;
      if (level > DEEPEST) break;
    } else if (CLOSES.includes(one)) {
      level -= 1;
      if (level < 0) break;
    } else if (isWanted && level >= 0) {
      const number = matchAt(NUMBER, text, position);
      if (number === undefined) continue;
      leaves.push({start: position, end: position + number[0].length});
      position += number[0].length - 1;
    }
  }
  return leaves;
}

/** From the opening quote: end of the content and of the string. A string without an end in reach ends there. */
function stringAt(text: string, quote: number, depth: number): {end: number; past: number} | undefined {
  if (slashesBefore(text, quote) < depth) return undefined;
  const most = Math.min(text.length, quote + LIMITS.value);
  for (let position = text.indexOf('"', quote + 1); position !== -1 && position < most; position = text.indexOf('"', position + 1)) {
    const slashes = slashesBefore(text, position);
    if (slashes < depth) return {end: position, past: position};
    if (isDelimiter(slashes, depth)) return {end: position - depth, past: position + 1};
  }
  return {end: most, past: most};
}
