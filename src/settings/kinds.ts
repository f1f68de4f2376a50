import {decodedBase64, Secret} from '../ground/secret.ts';
import {closest, staysText} from '../ground/text.ts';
import {InvalidValue, type Kind} from './define.ts';

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
export function text({hint = 'TEXT', pattern, expected, example, near, isBare = false}: TextRules = {}): Kind<string> {
  return {
    jsonSchema: {type: 'string', minLength: 1, ...(pattern ? {pattern: pattern.source} : {})},
    hint,
    parse(raw) {
      if (typeof raw !== 'string') throw new InvalidValue(`Expected a string, got ${JSON.stringify(raw)}`, 'Quote the value');
      const value = raw.trim();
      if (value === '') throw new InvalidValue('The value is empty', 'Set a value, or remove the setting');
      if (pattern && !pattern.test(value)) {
        const similar = near?.(value);
        const step = similar === undefined ? example && `Example: ${example}` : `Did you mean ${similar}?`;
        throw new InvalidValue(`"${value}" is not ${expected}`, step);
      }
      if (isBare && !staysText(value)) {
        throw new InvalidValue(
          `"${value}" is not parsed as a string, because the chart writes it without quotes`,
          'Use a name that is not a number, date or boolean',
        );
      }
      return value;
    },
    format: (value) => [value],
  };
}

/** The text as a Kubernetes name: `My Release` is my-release. */
function nameLike(text: string): string | undefined {
  const name = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]+/g, '-')
    .replaceAll(/^[-.]+|[-.]+$/g, '');
  return name === '' || !staysText(name) ? undefined : name;
}

/** Name of a Kubernetes object: RFC 1123 subdomain. */
export const objectName = (): Kind<string> =>
  text({
    hint: 'NAME',
    isBare: true,
    pattern: /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
    expected: 'a valid Kubernetes name (lower-case letters, digits, - and .)',
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
      if (value.split('/').includes('..')) throw new InvalidValue(`"${value}" must not contain ".."`, 'Use a path without ".."');
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
      throw new InvalidValue(`"${raw}" is not one of ${options.join(', ')}`, near && `Did you mean ${near}?`);
    },
    format: (value) => [value],
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
});

export const integer = ({min, max, hint = 'N'}: {min: number; max: number; hint?: string}): Kind<number> => ({
  jsonSchema: {type: 'integer', minimum: min, maximum: max},
  hint,
  parse(raw) {
    const value = typeof raw === 'string' && /^-?\d+$/.test(raw.trim()) ? Number(raw) : raw;
    if (!Number.isInteger(value)) throw new InvalidValue(`${JSON.stringify(raw)} is not an integer`, `Use a number from ${min} to ${max}`);
    if ((value as number) < min || (value as number) > max)
      throw new InvalidValue(`${value} is not between ${min} and ${max}`, `Use a number from ${min} to ${max}`);
    return value as number;
  },
  format: (value) => [String(value)],
});

const DURATION = /^(?!$)(?:(\d*\.?\d+)h)?(?:(\d*\.?\d+)m)?(?:(\d*\.?\d+)s)?$/;
const AS_DURATION = 'Use a duration such as 90s, 10m or 1h30m';

/** Whole seconds; Go durations (`2h`, `90s`, `1h30m`) are converted. */
export const seconds = ({min, max}: {min: number; max: number}): Kind<number> => {
  const whole = integer({min, max, hint: 'SECONDS'});
  return {
    ...whole,
    jsonSchema: {anyOf: [whole.jsonSchema, {type: 'string', pattern: '^([\\d.]+h)?([\\d.]+m)?([\\d.]+s)?$'}]},
    parse(raw, context) {
      if (typeof raw !== 'string' || /^-?\d+$/.test(raw.trim())) return whole.parse(raw, context);
      const [match, h = 0, m = 0, s = 0] = DURATION.exec(raw) ?? [];
      if (match === undefined) throw new InvalidValue(`${JSON.stringify(raw)} is not a duration`, AS_DURATION);
      const value = Math.round((Number(h) * 3600 + Number(m) * 60 + Number(s)) * 1000) / 1000;
      if (value > max) throw new InvalidValue(`${raw} is longer than ${spanOf(max)}`, `Use ${spanOf(max)} or less`);
      if (value < min) throw new InvalidValue(`${raw} is shorter than ${spanOf(min)}`, `Use ${spanOf(min)} or more`);
      if (!Number.isInteger(value)) throw new InvalidValue(`${raw} is not a whole number of seconds`, AS_DURATION);
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

/** A pasted credential; surrounding whitespace is removed, whitespace inside is an error. */
export const secret = ({isFile = false} = {}): Kind<Secret> => ({
  jsonSchema: {type: 'string', minLength: 1},
  hint: 'PATH',
  isFile,
  readsStdin: isFile,
  isSecret: true,
  parse(raw, {note}) {
    const given = String(raw).trim();
    const decoded = decodedBase64(given)?.trim() ?? '';
    // kubectl prints the data of a Secret in base64.
    const value = isToken(decoded) ? decoded : given;
    if (value !== given) note?.('is base64-encoded, and was decoded');
    if (value === '') throw new InvalidValue('The token is empty', 'Copy the token again from the agent pool page');
    if (/\s/.test(value)) throw new InvalidValue('The token contains whitespace', 'Copy the token again without spaces and line breaks');
    if (/^<.*>$/.test(value)) throw new InvalidValue('The token is a placeholder', 'Replace it with your agent pool token');
    return new Secret(value);
  },
  format: () => [],
});
