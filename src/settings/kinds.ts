import {decodedBase64, Secret} from '../ground/secret.ts';
import {closest} from '../ground/similar-text.ts';
import {bareToken, unusableToken} from '../ground/token-text.ts';
import type {Tree} from '../ground/tree.ts';
import {isReadAsString} from '../ground/yaml-text.ts';
import {InvalidValue, type Kind, type ParseContext} from './define.ts';

interface TextRules {
  hint?: string;
  pattern?: RegExp;
  expected?: string;
  example?: string;
  /** A valid value for an invalid one. */
  near?(value: string): string | undefined;
  /** Charts render it without quotes, so it must not look like a number or boolean. */
  isBare?: boolean;
}

/** A string of a given format. `expected` describes the format, `example` shows it. */
export function text({
  hint = 'TEXT',
  pattern,
  expected,
  example,
  near,
  isBare = false,
}: TextRules = {}): Kind<string> {
  return {
    jsonSchema: {type: 'string', minLength: 1, ...(pattern ? {pattern: pattern.source} : {})},
    hint,
    parse(raw) {
      if (typeof raw !== 'string')
        throw new InvalidValue(`Expected a string, got ${JSON.stringify(raw)}`, 'Quote the value');
      const value = raw.trim();
      if (value === '')
        throw new InvalidValue('The value is empty', 'Set a value, or remove the setting');
      if (pattern && !pattern.test(value)) {
        const similar = near?.(value);
        const step =
          similar === undefined ? example && `Example: ${example}` : `Did you mean ${similar}?`;
        throw new InvalidValue(`"${value}" is not ${expected}`, step);
      }
      if (isBare && !isReadAsString(value)) {
        throw new InvalidValue(
          `"${value}" is not parsed as a string, because the chart writes it without quotes`,
          'Use a name that is not a number, date or boolean',
        );
      }
      return value;
    },
    format: (value) => [value],
    fromValues: textIn,
  };
}

/** The charts use the empty string for "not set". */
export const textIn = (tree: Tree): string | undefined =>
  typeof tree === 'string' && tree !== '' ? tree : undefined;

/** The text as a Kubernetes name: `My Release` is my-release. */
function nameLike(text: string): string | undefined {
  const name = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]+/g, '-')
    .replaceAll(/^[-.]+|[-.]+$/g, '');
  return name === '' || !isReadAsString(name) ? undefined : name;
}

/** Name of a Kubernetes object: RFC 1123 subdomain. */
export const objectName = (): Kind<string> =>
  text({
    hint: 'NAME',
    isBare: true,
    pattern: /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
    expected: 'a valid Kubernetes name (lowercase letters, digits, - and .)',
    near: nameLike,
    example: 'my-object',
  });

/** Key inside a Secret or ConfigMap. */
export const dataKey = (): Kind<string> =>
  text({
    hint: 'KEY',
    isBare: true,
    pattern: /^(?!\.\.)[._a-zA-Z0-9][-._a-zA-Z0-9]{0,252}$/,
    expected: 'a valid Secret key (letters, digits, -, _ and .)',
    example: 'token',
  });

/** An absolute directory; a trailing slash is removed. */
export const absolutePath = (): Kind<string> => {
  const kind = text({
    hint: 'DIRECTORY',
    pattern: /^\/[\w./@+=-]*[\w@+=-][\w./@+=-]*$/,
    expected: 'an absolute path of letters, digits and ./@+=-_',
    example: '/var/lib/scalr',
  });
  return {
    ...kind,
    parse(raw, context) {
      const value = kind.parse(raw, context).replace(/(?<=.)\/+$/, '');
      if (value.split('/').includes('..'))
        throw new InvalidValue(`"${value}" must not contain ".."`, 'Use a path without ".."');
      return value;
    },
  };
};

/** A directory relative to the root of a volume. */
export const relativePath = (): Kind<string> =>
  text({
    hint: 'DIRECTORY',
    isBare: true,
    pattern: /^(?!(.*\/)?\.\.(\/|$))[A-Za-z0-9_][\w./-]*$/,
    expected: 'a relative path of letters, digits and ./-_',
    example: 'scalr/cache',
  });

export function choice<const O extends readonly string[]>(options: O): Kind<O[number]> {
  return {
    jsonSchema: {enum: options},
    hint: options.join('|'),
    options,
    parse(raw) {
      if (options.includes(raw as string)) return raw as O[number];
      const near = closest(String(raw), options);
      throw new InvalidValue(
        `"${raw}" is not one of ${options.join(', ')}`,
        near && `Did you mean ${near}?`,
      );
    },
    format: (value) => [value],
    fromValues: (tree) => options.find((each) => each === tree),
  };
}

export const onOff = (): Kind<boolean> => ({
  jsonSchema: {type: 'boolean'},
  hint: 'true|false',
  isSwitch: true,
  parse(raw) {
    if (raw === true || raw === 'true' || raw === '1') return true;
    if (raw === false || raw === 'false' || raw === '0') return false;
    throw new InvalidValue(`"${raw}" is not a boolean`, 'Use true or false');
  },
  format: (value) => [String(value)],
  fromValues: (tree) => (typeof tree === 'boolean' ? tree : undefined),
});

export const integer = ({
  min,
  max,
  hint = 'N',
}: {
  min: number;
  max: number;
  hint?: string;
}): Kind<number> => ({
  jsonSchema: {type: 'integer', minimum: min, maximum: max},
  hint,
  parse(raw) {
    const value = typeof raw === 'string' && /^-?\d+$/.test(raw.trim()) ? Number(raw) : raw;
    if (!Number.isInteger(value))
      throw new InvalidValue(
        `${JSON.stringify(raw)} is not an integer`,
        `Use a number from ${min} to ${max}`,
      );
    if ((value as number) < min || (value as number) > max)
      throw new InvalidValue(
        `${value} is not between ${min} and ${max}`,
        `Use a number from ${min} to ${max}`,
      );
    return value as number;
  },
  format: (value) => [String(value)],
  fromValues: integerIn,
});

export const integerIn = (tree: Tree): number | undefined =>
  tree === null || tree === '' || typeof tree === 'object' || !Number.isInteger(Number(tree))
    ? undefined
    : Number(tree);

const DURATION = /^(?!$)(?:(\d*\.?\d+)h)?(?:(\d*\.?\d+)m)?(?:(\d*\.?\d+)s)?$/;
const AS_DURATION = 'Use a duration such as 90s, 10m or 1h30m';

/** Whole seconds; Go durations (`2h`, `90s`, `1h30m`) are converted. */
export const seconds = ({min, max}: {min: number; max: number}): Kind<number> => {
  const whole = integer({min, max, hint: 'SECONDS'});
  return {
    ...whole,
    jsonSchema: {
      anyOf: [whole.jsonSchema, {type: 'string', pattern: '^([\\d.]+h)?([\\d.]+m)?([\\d.]+s)?$'}],
    },
    parse(raw, context) {
      if (typeof raw !== 'string' || /^-?\d+$/.test(raw.trim())) return whole.parse(raw, context);
      const [match, h = 0, m = 0, s = 0] = DURATION.exec(raw) ?? [];
      if (match === undefined)
        throw new InvalidValue(`${JSON.stringify(raw)} is not a duration`, AS_DURATION);
      const value = Math.round((Number(h) * 3600 + Number(m) * 60 + Number(s)) * 1000) / 1000;
      if (value > max)
        throw new InvalidValue(
          `${raw} is longer than ${spanOf(max)}`,
          `Use ${spanOf(max)} or less`,
        );
      if (value < min)
        throw new InvalidValue(
          `${raw} is shorter than ${spanOf(min)}`,
          `Use ${spanOf(min)} or more`,
        );
      if (!Number.isInteger(value))
        throw new InvalidValue(`${raw} is not a whole number of seconds`, AS_DURATION);
      return value;
    },
  };
};

/** In the largest unit that gives a whole number. */
function spanOf(value: number): string {
  if (value % 3600 === 0) return `${value / 3600}h`;
  return value % 60 === 0 ? `${value / 60}m` : `${value}s`;
}

const isToken = (text: string): boolean => /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/.test(text);

/** A pasted agent pool token. What was copied with it is taken off; a token that no agent can use is an error. */
export const secret = ({isFile = false} = {}): Kind<Secret> => ({
  jsonSchema: {type: 'string', minLength: 1},
  hint: 'PATH',
  isFile,
  readsStdin: isFile,
  isSecret: true,
  parse(raw, {now, note}) {
    const value = decodedToken(bareToken(String(raw).trim()), note);
    if (value === '')
      throw new InvalidValue('The token is empty', 'Copy the token again from the agent pool page');
    if (/\s/.test(value))
      throw new InvalidValue(
        'The token contains whitespace',
        'Copy the token again without spaces and line breaks',
      );
    if (/^<.*>$/.test(value))
      throw new InvalidValue('The token is a placeholder', 'Replace it with your agent pool token');
    const problem = unusableToken(value, now);
    if (problem !== undefined) throw new InvalidValue(problem.message, problem.nextStep);
    return new Secret(value);
  },
  format: () => [],
});

/** kubectl prints the data of a Secret in base64. */
function decodedToken(text: string, note: ParseContext['note']): string {
  const decoded = bareToken(decodedBase64(text) ?? '');
  if (!isToken(decoded)) return text;
  note?.('is base64-encoded, and was decoded');
  return decoded;
}

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
