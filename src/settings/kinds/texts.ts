import {maskSecrets} from '../../ground/errors.ts';
import {closest} from '../../ground/similar-text.ts';
import type {Tree} from '../../ground/tree.ts';
import {isReadAsString} from '../../ground/yaml-text.ts';
import {InvalidValue, type Kind} from './kind.ts';

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
        const similar = maskSecrets(value) === value ? near?.(value) : undefined;
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

/** `versioned`: the flag with the version of what is chosen, for those who write it as NAME@VERSION. */
export function choice<const O extends readonly string[]>(
  options: O,
  versioned?: string,
): Kind<O[number]> {
  return {
    jsonSchema: {enum: options},
    hint: options.join('|'),
    options,
    parse(raw) {
      if (options.includes(raw as string)) return raw as O[number];
      const [name = '', version] = String(raw).split('@');
      const near = closest(name, options);
      const more = version && versioned ? ` ${versioned} ${version}` : '';
      throw new InvalidValue(
        `"${raw}" is not one of ${options.join(', ')}`,
        near && `Did you mean ${near}${more}?`,
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
