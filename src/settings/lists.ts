import {isMap, type Tree, type Values} from '../ground/tree.ts';
import {isReadAsString} from '../ground/yaml-text.ts';
import {InvalidValue, type Kind} from './define.ts';
import {text} from './kinds.ts';

const LINES = /\r?\n/;
const COMMAS_OR_LINES = /\r?\n|,/;

const asTexts = (raw: unknown): string[] => {
  if (!Array.isArray(raw) || raw.some((each) => typeof each !== 'string')) {
    throw new InvalidValue(
      `Expected a list of strings, got ${JSON.stringify(raw)}`,
      'Write one string per item',
    );
  }
  return raw.filter((each: string) => each.trim() !== '');
};

const asWords = (raw: unknown): string[] => asTexts(raw).map((each) => each.trim());

/** A list of unique strings of one kind, in the given order. */
export const listOf = (item: Kind<string>): Kind<string[]> => ({
  jsonSchema: {type: 'array', items: item.jsonSchema, minItems: 1},
  hint: item.hint,
  list: {separator: COMMAS_OR_LINES},
  parse: (raw, context) => [...new Set(asWords(raw).map((each) => item.parse(each, context)))],
  format: (value) => value,
  fromValues: textsIn,
});

/** Undefined for an empty list, which means "not set", and for one with other items. */
export const textsIn = (tree: Tree): string[] | undefined =>
  Array.isArray(tree) && tree.length > 0 && tree.every((each) => typeof each === 'string')
    ? tree
    : undefined;

interface PairRules {
  hint: string;
  key: RegExp;
  expected: string;
  value?: RegExp;
  /** Values may contain commas, so the environment variable contains one pair per line. */
  byLine?: boolean;
  /** Charts render the key without quotes, so it must not look like a number or boolean. */
  isBare?: boolean;
}

/** Pairs `key=value`; in an answers file a mapping. */
export const pairs = ({
  hint,
  key,
  expected,
  value = /^/,
  byLine = false,
  isBare = false,
}: PairRules): Kind<Readonly<Record<string, string>>> => ({
  jsonSchema: {
    anyOf: [
      {type: 'object', additionalProperties: {type: 'string'}},
      {type: 'array', items: {type: 'string', pattern: '='}},
    ],
  },
  hint,
  list: {separator: byLine ? LINES : COMMAS_OR_LINES},
  parse(raw) {
    const entries = entriesOf(raw, byLine ? asTexts : asWords);
    const seen = new Set<string>();
    const checked: [string, string][] = [];
    for (const [name, text] of entries) {
      if (seen.has(name)) throw new InvalidValue(`"${name}" is set twice`, 'Remove one of the two');
      seen.add(name);
      if (!key.test(name) || (isBare && !isReadAsString(name)))
        throw new InvalidValue(`"${name}" is not ${expected}`, `Use the form ${hint}`);
      if (typeof text !== 'string')
        throw new InvalidValue(
          `The value of "${name}" is not a string`,
          `Quote the value: ${name}: "${text}"`,
        );
      if (!value.test(text))
        throw new InvalidValue(
          `"${text}" is not a valid value for "${name}"`,
          'Use at most 63 letters, digits, -, _ and .',
        );
      checked.push([name, text]);
    }
    return Object.fromEntries(checked.toSorted(([one], [other]) => (one < other ? -1 : 1)));
  },
  format: (map) => Object.entries(map).map(([name, text]) => `${name}=${text}`),
  fromValues: textMapIn,
});

/** Undefined for an empty map, which means "not set", and for one with other values. */
export const textMapIn = (tree: Tree): Readonly<Record<string, string>> | undefined =>
  isMap(tree) &&
  Object.keys(tree).length > 0 &&
  Object.values(tree).every((value) => typeof value === 'string')
    ? (tree as Record<string, string>)
    : undefined;

function entriesOf(raw: unknown, asItems: (raw: unknown) => string[]): [string, unknown][] {
  if (Array.isArray(raw)) return asItems(raw).map(splitPair);
  if (typeof raw === 'object' && raw !== null) return Object.entries(raw);
  throw new InvalidValue(
    `Expected a mapping, got ${JSON.stringify(raw)}`,
    'Write one key and value per line',
  );
}

function splitPair(pair: string): [string, string] {
  const at = pair.indexOf('=');
  if (at < 1) throw new InvalidValue(`"${pair}" has no "="`, `Use ${pair}=value`);
  return [pair.slice(0, at).trim(), pair.slice(at + 1)];
}

const PREFIXED_NAME =
  /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

export const labels = () =>
  pairs({hint: 'key=value', key: PREFIXED_NAME, expected: 'a valid label key', value: LABEL_VALUE});
export const annotations = () =>
  pairs({hint: 'key=value', key: PREFIXED_NAME, expected: 'a valid annotation key', byLine: true});
export const variables = () =>
  pairs({
    hint: 'NAME=value',
    key: /^[A-Za-z_][A-Za-z0-9_]*$/,
    expected: 'a valid environment variable name',
    byLine: true,
    isBare: true,
  });

/** An object as Kubernetes defines it: JSON, in an answers file a mapping. */
export const object = (): Kind<Values> => ({
  jsonSchema: {anyOf: [{type: 'object'}, {type: 'string', minLength: 2}]},
  hint: 'JSON',
  parse(raw) {
    const value = typeof raw === 'string' ? parsedJson(raw) : raw;
    if (isMap(value) && Object.keys(value).length > 0) return value;
    throw new InvalidValue(
      'The value is not a JSON object',
      'Quote it for the shell, for example \'{"key": "value"}\'',
    );
  },
  format: (value) => [JSON.stringify(value)],
  fromValues: filled,
});

/** An empty object or list means "not set". */
const filled = <T extends Tree>(tree: Tree): T | undefined =>
  typeof tree === 'object' && tree !== null && Object.keys(tree).length > 0
    ? (tree as T)
    : undefined;

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Objects, one per item. */
export const objects = (): Kind<Values[]> => {
  const one = object();
  return {
    jsonSchema: {type: 'array', items: one.jsonSchema, minItems: 1},
    hint: one.hint,
    list: {separator: LINES},
    parse(raw, context) {
      if (!Array.isArray(raw))
        throw new InvalidValue(
          `Expected a list, got ${JSON.stringify(raw)}`,
          'Write one object per item',
        );
      return raw.map((each) => one.parse(each, context));
    },
    format: (list) => list.flatMap(one.format),
    fromValues: filled,
  };
};

/** An object of the namespace that is mounted in a container. */
export interface Mount {
  kind: 'secret' | 'configmap' | 'pvc';
  name: string;
  path: string;
}

/** `secret/NAME:/path`, `configmap/NAME:/path` or `pvc/NAME:/path`. */
export const mounts = (): Kind<Mount[]> => {
  const one = text({
    hint: 'KIND/NAME:PATH',
    pattern: /^(secret|configmap|pvc)\/[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?:\/[^:,\s]+$/,
    expected: 'a mount of a secret, configmap or pvc',
    example: 'secret/aws-credentials:/opt/aws',
  });
  const list = listOf(one);
  return {
    jsonSchema: list.jsonSchema,
    hint: one.hint,
    list: {separator: COMMAS_OR_LINES},
    parse: (raw, context) =>
      list.parse(raw, context).map((each) => {
        const [, kind, name = '', path = ''] = /^(\w+)\/([^:]+):(.*)$/.exec(each) ?? [];
        return {kind: kind as Mount['kind'], name, path};
      }),
    format: (all) => all.map(({kind, name, path}) => `${kind}/${name}:${path}`),
  };
};

/** The subset of Kubernetes tolerations that the syntax of `kubectl taint` can express. */
export interface Toleration {
  key: string;
  operator: 'Equal' | 'Exists';
  value?: string;
  effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** Tolerations in the syntax of `kubectl taint`: key=value:effect, key:effect, key=value or key. */
export const tolerations = (): Kind<Toleration[]> => ({
  jsonSchema: {type: 'array', items: {type: 'string'}, minItems: 1},
  hint: 'key=value:effect',
  list: {separator: COMMAS_OR_LINES},
  parse: (raw) => asWords(raw).map(parseToleration),
  format: (list) =>
    list.map(
      ({key, value, effect}) =>
        `${key}${value === undefined ? '' : `=${value}`}${effect ? `:${effect}` : ''}`,
    ),
  fromValues: (tree) =>
    Array.isArray(tree) && tree.length > 0 && tree.every(isPlainToleration)
      ? (tree as unknown as Toleration[])
      : undefined,
});

function isPlainToleration(tree: Tree): boolean {
  if (!isMap(tree) || typeof tree['key'] !== 'string') return false;
  const known = ['key', 'operator', 'value', 'effect'];
  const isExact = tree['operator'] === (typeof tree['value'] === 'string' ? 'Equal' : 'Exists');
  return (
    isExact &&
    Object.entries(tree).every(([key, value]) => known.includes(key) && typeof value === 'string')
  );
}

function parseToleration(text: string): Toleration {
  const [, key = '', value, effect] = /^([^=:]+)(?:=([^:]*))?(?::(.*))?$/.exec(text) ?? [];
  if (!PREFIXED_NAME.test(key))
    throw new InvalidValue(
      `"${text}" is not a valid toleration`,
      'Write it as key=value:effect, for example dedicated=scalr:NoSchedule',
    );
  if (value !== undefined && !LABEL_VALUE.test(value))
    throw new InvalidValue(
      `"${value}" is not a valid taint value`,
      'Use at most 63 letters, digits, -, _ and .',
    );
  if (effect !== undefined && !EFFECTS.includes(effect)) {
    throw new InvalidValue(
      `"${effect}" is not a valid taint effect`,
      `Use one of ${EFFECTS.join(', ')}`,
    );
  }
  return {
    key,
    operator: value === undefined ? 'Exists' : 'Equal',
    ...(value === undefined ? {} : {value}),
    ...(effect === undefined ? {} : {effect: effect as NonNullable<Toleration['effect']>}),
  };
}
