import type {Scalar} from 'yaml';
import {intOf} from './go-numbers.ts';

export const textOf = (node: Scalar): string => node.source ?? '';

export const TAGS = 'tag:yaml.org,2002:';
export const shortTag = (tag: string | undefined): string => (tag ?? '').replace(TAGS, '!!');

export const isPlain = (node: Scalar): boolean => node.tag === undefined && node.type === 'PLAIN';

export type ScalarKind = 'string' | 'null' | 'boolean' | 'int' | 'float';

export interface GoScalar {
  /** Undefined if tag and text disagree. */
  kind: ScalarKind | undefined;
  value: string | number | boolean | null;
}

/** The type of a scalar by its tag, quotes and text. */
export function resolveScalar(node: Scalar): GoScalar {
  const text = textOf(node);
  const tag = shortTag(node.tag);
  if (isPlain(node)) return resolvePlain(text);
  if (tag === '!!binary')
    return {
      kind: isBase64(text) ? 'string' : undefined,
      value: Buffer.from(text, 'base64').toString(),
    };
  const desired = {'!!null': 'null', '!!bool': 'boolean', '!!int': 'int', '!!float': 'float'}[tag];
  if (tag === '!!timestamp')
    return {kind: /^\d{4}-\d\d?-\d\d?([Tt ].*)?$/.test(text) ? 'string' : undefined, value: text};
  if (desired === undefined) return {kind: 'string', value: text};
  const resolved = resolvePlain(text);
  if (resolved.kind === 'int' && desired === 'float') return {...resolved, kind: 'float'};
  return resolved.kind === desired ? resolved : {kind: undefined, value: null};
}

/** Go's decoder skips line breaks. */
const isBase64 = (text: string): boolean =>
  /^([\w+/]{4})*([\w+/]{3}=|[\w+/]{2}==)?$/.test(text.replaceAll(/[\r\n]/g, '')) &&
  !text.includes('_');

const WORDS: ReadonlyMap<string, GoScalar> = new Map(
  (
    [
      ['y Y yes Yes YES true True TRUE on On ON', {kind: 'boolean', value: true}],
      ['n N no No NO false False FALSE off Off OFF', {kind: 'boolean', value: false}],
      ['~ null Null NULL', {kind: 'null', value: null}],
      ['.nan .NaN .NAN', {kind: 'float', value: Number.NaN}],
      ['.inf .Inf .INF +.inf +.Inf +.INF', {kind: 'float', value: Number.POSITIVE_INFINITY}],
      ['-.inf -.Inf -.INF', {kind: 'float', value: Number.NEGATIVE_INFINITY}],
    ] satisfies [string, GoScalar][]
  ).flatMap(([words, resolved]) => words.split(' ').map((word) => [word, resolved])),
);

/** As go-yaml 2 does: a leading 0 is octal, _ is allowed between digits, no base 60, dates are strings. */
function resolvePlain(text: string): GoScalar {
  if (text === '') return {kind: 'null', value: null};
  const word = WORDS.get(text);
  if (word) return word;
  if (!/^[-+.\d]/.test(text)) return {kind: 'string', value: text};
  const int = intOf(text);
  if (int !== undefined) return {kind: 'int', value: Number(int)};
  const digits = text.startsWith('.')
    ? text.replaceAll(/(?<=\d)_(?=\d)/g, '')
    : text.replaceAll('_', '');
  const float = /^[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?$/.test(digits)
    ? Number(digits)
    : Number.NaN;
  return Number.isFinite(float) ? {kind: 'float', value: float} : {kind: 'string', value: text};
}
