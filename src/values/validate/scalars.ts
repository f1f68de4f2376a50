import type {Scalar} from 'yaml';

export const textOf = (node: Scalar): string => node.source ?? '';

export const TAGS = 'tag:yaml.org,2002:';
export const shortTag = (tag: string | undefined): string => (tag ?? '').replace(TAGS, '!!');

export const isPlain = (node: Scalar): boolean => node.tag === undefined && node.type === 'PLAIN';

export interface Resolved {
  kind: 'string' | 'null' | 'boolean' | 'int' | 'float' | undefined;
  value: string | number | boolean | null;
}

/** The type of a scalar by its tag, quotes and text; kind is undefined if tag and text disagree. */
export function resolveScalar(node: Scalar): Resolved {
  const text = textOf(node);
  const tag = shortTag(node.tag);
  if (isPlain(node)) return resolvePlain(text);
  if (tag === '!!binary') return {kind: isBase64(text) ? 'string' : undefined, value: Buffer.from(text, 'base64').toString()};
  const wanted = {'!!null': 'null', '!!bool': 'boolean', '!!int': 'int', '!!float': 'float'}[tag];
  if (tag === '!!timestamp') return {kind: /^\d{4}-\d\d?-\d\d?([Tt ].*)?$/.test(text) ? 'string' : undefined, value: text};
  if (wanted === undefined) return {kind: 'string', value: text};
  const resolved = resolvePlain(text);
  if (resolved.kind === 'int' && wanted === 'float') return {...resolved, kind: 'float'};
  return resolved.kind === wanted ? resolved : {kind: undefined, value: null};
}

/** Go's decoder skips line breaks. */
const isBase64 = (text: string): boolean =>
  /^([\w+/]{4})*([\w+/]{3}=|[\w+/]{2}==)?$/.test(text.replaceAll(/[\r\n]/g, '')) && !text.includes('_');

const WORDS: ReadonlyMap<string, Resolved> = new Map(
  (
    [
      ['y Y yes Yes YES true True TRUE on On ON', {kind: 'boolean', value: true}],
      ['n N no No NO false False FALSE off Off OFF', {kind: 'boolean', value: false}],
      ['~ null Null NULL', {kind: 'null', value: null}],
      ['.nan .NaN .NAN', {kind: 'float', value: Number.NaN}],
      ['.inf .Inf .INF +.inf +.Inf +.INF', {kind: 'float', value: Number.POSITIVE_INFINITY}],
      ['-.inf -.Inf -.INF', {kind: 'float', value: Number.NEGATIVE_INFINITY}],
    ] satisfies [string, Resolved][]
  ).flatMap(([words, resolved]) => words.split(' ').map((word) => [word, resolved])),
);

/** As go-yaml 2 does: a leading 0 is octal, _ is allowed between digits, no base 60, dates are strings. */
function resolvePlain(text: string): Resolved {
  if (text === '') return {kind: 'null', value: null};
  const word = WORDS.get(text);
  if (word) return word;
  if (!/^[-+.\d]/.test(text)) return {kind: 'string', value: text};
  const int = intOf(text);
  if (int !== undefined) return {kind: 'int', value: Number(int)};
  const digits = text.startsWith('.') ? text.replaceAll(/(?<=\d)_(?=\d)/g, '') : text.replaceAll('_', '');
  const float = /^[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?$/.test(digits) ? Number(digits) : Number.NaN;
  return Number.isFinite(float) ? {kind: 'float', value: float} : {kind: 'string', value: text};
}

/** Go reads 64 bits, signed or unsigned. */
function intOf(text: string): bigint | undefined {
  const [, sign = '', digits] =
    /^([-+]?)(0[xX][\da-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9]\d*)$/.exec(/^[-+\d]/.test(text) ? text.replaceAll('_', '') : '') ?? [];
  if (digits === undefined) return undefined;
  const int = BigInt(sign === '-' ? -1 : 1) * BigInt(digits.replace(/^0[oO]?(?=[0-7])/, '0o'));
  return int >= -(2n ** 63n) && int < 2n ** (sign === '' ? 64n : 63n) ? int : undefined;
}

/** The decimal number that a misleading octal looks like. */
export const withoutZeros = (text: string): string => text.replaceAll('_', '').replace(/^([-+]?)0+(?=\d)/, '$1');

export const isMisleadingOctal = (text: string): boolean =>
  /^[-+]?0[0-7_]+$/.test(text) && intOf(text) !== BigInt(withoutZeros(text).replace('+', ''));

/** Go has no map key for an integer above 63 bits. */
export function intKey(text: string): string | undefined {
  const int = intOf(text);
  return int !== undefined && int < 2n ** 63n ? String(int) : undefined;
}

/** A float as a map key: Go prints the shortest digits that give the same 32 bits. */
export function floatKey(value: number): string {
  const single = Math.fround(value);
  if (Number.isNaN(single)) return '.nan';
  if (!Number.isFinite(single)) return single > 0 ? '.inf' : '-.inf';
  const precision = [1, 2, 3, 4, 5, 6, 7, 8, 9].find((digits) => Math.fround(Number(single.toPrecision(digits))) === single) ?? 9;
  return withGoExponent(single.toExponential(precision - 1));
}

/** From this number on, a template prints 1e+06 instead of 1000000. */
export const FIRST_EXPONENT = 1_000_000;

/** A number as templates print it. */
export const printedNumber = (value: number): string => (Object.is(value, -0) ? '-0' : withGoExponent(value.toExponential()));

/** Go prints an exponent of two digits below 0.0001 and from a million on. */
function withGoExponent(number: string): string {
  const [digits, exponent = '0'] = number.split('e');
  const isShort = Number(exponent) >= -4 && Number(exponent) < 6;
  return isShort ? String(Number(number)) : `${digits}e${exponent.replace(/^([-+])(\d)$/, '$10$2')}`;
}
