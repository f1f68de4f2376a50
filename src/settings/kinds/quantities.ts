import type {Tree} from '../../ground/tree.ts';
import {InvalidValue, type Kind} from './kind.ts';

/** Kubernetes quantities: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ */
const PATTERN = /^(\d+(?:\.\d+)?)(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$/;
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const DECIMAL = ['m', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const MILLI = 1000n;

/** As milliOf returns it. */
export const MEBIBYTE = MILLI * 1024n ** 2n;

/** The quantity in thousandths of its base unit (a byte, a core); undefined if the text is not a quantity. */
export function milliOf(text: string): bigint | undefined {
  const [, number, suffix = ''] = PATTERN.exec(text) ?? [];
  if (number === undefined) return undefined;
  const [whole = '', fraction = ''] = number.split('.');
  const scaled = BigInt(whole + fraction) * (UNITS.get(suffix) as bigint);
  const divisor = 10n ** BigInt(fraction.length);
  return scaled % divisor === 0n ? scaled / divisor : scaled / divisor + 1n;
}

const UNITS: ReadonlyMap<string, bigint> = new Map([
  ...BINARY.map((suffix, power) => [suffix, MILLI * 1024n ** BigInt(power)] as const),
  ...DECIMAL.map((suffix, power) => [suffix, 1000n ** BigInt(power)] as const),
]);

/** The canonical form of Kubernetes: no fraction, the largest exact suffix (1.5Gi is 1536Mi). */
export function canonicalQuantity(text: string): string | undefined {
  const milli = milliOf(text);
  if (milli === undefined) return undefined;
  const suffixes = text.endsWith('i') && milli % MILLI === 0n ? BINARY : DECIMAL;
  const suffix = suffixes.findLast((each) => milli % (UNITS.get(each) as bigint) === 0n) ?? 'm';
  return milli === 0n ? '0' : `${milli / (UNITS.get(suffix) as bigint)}${suffix}`;
}

export const quantityIn = (tree: Tree): string | undefined =>
  typeof tree === 'string' || typeof tree === 'number'
    ? canonicalQuantity(String(tree))
    : undefined;

const AS_SIZE = 'Use a number with a unit, for example 2Gi';

/** A larger number without a unit can be bytes. */
const MAX_GIBIBYTES = 9999;

/** The size of a volume without a unit is in gibibytes. */
export const gibibytesOf = (text: string): string | undefined =>
  /^[1-9]\d*$/.test(text) && Number(text) <= MAX_GIBIBYTES ? `${text}Gi` : undefined;

const BINARY_UNITS: Readonly<Record<string, string>> = {k: 'Ki', m: 'Mi', g: 'Gi', t: 'Ti'};

/** The unit that another spelling of bytes means, such as MB. */
export const binaryUnit = (unit: string): string =>
  BINARY_UNITS[unit.charAt(0).toLowerCase()] ?? 'Gi';

/** An amount of memory or disk, `2Gi`; canonical. */
export const bytes = (): Kind<string> => ({
  jsonSchema: {type: 'string', pattern: '^\\d+(\\.\\d+)?(k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)$'},
  hint: 'SIZE',
  parse(raw) {
    const text = String(raw).replaceAll(/\s+/g, '');
    const [, number, unit = ''] = /^(\d+(?:\.\d+)?)([A-Za-z]*)$/.exec(text) ?? [];
    if (number === undefined) throw new InvalidValue(`"${raw}" is not a size`, AS_SIZE);
    if (unit === '')
      throw new InvalidValue(
        `"${text}" has no unit`,
        Number(number) > MAX_GIBIBYTES ? AS_SIZE : `Did you mean ${number}Gi or ${number}Mi?`,
      );
    if (unit === 'm' || milliOf(text) === undefined) {
      throw new InvalidValue(
        `"${text}" is not a valid Kubernetes quantity`,
        `Did you mean ${number}${binaryUnit(unit)}?`,
      );
    }
    return positive(text, AS_SIZE);
  },
  format: (value) => [value],
  fromValues: quantityIn,
});

const AS_CPU = 'Use 2 for two cores, or 500m for half a core';

/** CPU in cores, `2` or `500m`; canonical. */
export const cpu = (): Kind<string> => ({
  jsonSchema: {
    anyOf: [
      {type: 'string', pattern: '^\\d+(\\.\\d+)?m?$'},
      {type: 'number', exclusiveMinimum: 0},
    ],
  },
  hint: 'CPU',
  parse(raw) {
    const text = String(raw);
    if (!/^\d+(\.\d+)?m?$/.test(text))
      throw new InvalidValue(`"${text}" is not a valid CPU quantity`, AS_CPU);
    return positive(text, AS_CPU);
  },
  format: (value) => [value],
  fromValues: quantityIn,
});

function positive(text: string, example: string): string {
  const canonical = canonicalQuantity(text);
  if (canonical === undefined || canonical === '0')
    throw new InvalidValue(`"${text}" must be greater than zero`, example);
  return canonical;
}

/** True when the first quantity is larger than the second. */
export const exceeds = (one: string, other: string): boolean =>
  (milliOf(one) ?? 0n) > (milliOf(other) ?? 0n);
