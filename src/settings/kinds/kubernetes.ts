import {isMap, type Tree, type Values} from '../../ground/tree.ts';
import {InvalidValue, type Kind} from './kind.ts';
import {asWords, COMMAS_OR_LINES, LABEL_VALUE, LINES, listOf, PREFIXED_NAME} from './lists.ts';
import {text} from './texts.ts';

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

const TOLERATION = 'Write it as key=value:effect, for example dedicated=scalr:NoSchedule';
const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** Tolerations in the syntax of `kubectl taint`: key=value:effect, key:effect, key=value or key. */
export const tolerations = (): Kind<Toleration[]> => ({
  jsonSchema: {type: 'array', items: {type: 'string'}, minItems: 1},
  hint: 'key=value:effect',
  list: {separator: COMMAS_OR_LINES},
  parse: (raw) => {
    if (Array.isArray(raw) && raw.some(isMap))
      throw new InvalidValue('Expected a list of strings, not of objects', TOLERATION);
    return asWords(raw).map(parseToleration);
  },
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
    throw new InvalidValue(`"${text}" is not a valid toleration`, TOLERATION);
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
