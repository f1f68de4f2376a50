import {isMap, type Tree} from '../../ground/tree.ts';
import {isReadAsString} from '../../ground/yaml-text.ts';
import {InvalidValue, type Kind, noAssignment} from './kind.ts';

export const LINES = /\r?\n/;
export const COMMAS_OR_LINES = /\r?\n|,/;

const asTexts = (raw: unknown): string[] => {
  if (!Array.isArray(raw) || raw.some((each) => typeof each !== 'string')) {
    throw new InvalidValue(
      `Expected a list of strings, got ${JSON.stringify(raw)}`,
      'Write one string per item',
    );
  }
  return raw.filter((each: string) => each.trim() !== '');
};

export const asWords = (raw: unknown): string[] => asTexts(raw).map((each) => each.trim());

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
    `Expected a mapping, got a ${typeof raw}`,
    'Write one key and value per line',
  );
}

function splitPair(pair: string): [string, string] {
  const at = pair.indexOf('=');
  if (at < 1) throw noAssignment(pair);
  return [pair.slice(0, at).trim(), pair.slice(at + 1)];
}

export const PREFIXED_NAME =
  /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
export const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

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
