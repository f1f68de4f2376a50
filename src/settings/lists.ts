import {InvalidValue, type Kind} from './define.ts';
import {staysText} from './text.ts';

const LINES = /\r?\n/;
const COMMAS_OR_LINES = /\r?\n|,/;

const asTexts = (raw: unknown): string[] => {
  if (!Array.isArray(raw) || raw.some((each) => typeof each !== 'string')) {
    throw new InvalidValue(`expected a list of texts, got ${JSON.stringify(raw)}`, 'Write one text an item');
  }
  return raw.filter((each: string) => each.trim() !== '');
};

const asWords = (raw: unknown): string[] => asTexts(raw).map((each) => each.trim());

/** A list of texts of one kind, each once, in the order given. */
export const listOf = (item: Kind<string>): Kind<string[]> => ({
  jsonSchema: {type: 'array', items: item.jsonSchema, minItems: 1},
  hint: item.hint,
  list: {separator: COMMAS_OR_LINES},
  parse: (raw, context) => [...new Set(asWords(raw).map((each) => item.parse(each, context)))],
  format: (value) => value,
});

interface PairRules {
  hint: string;
  key: RegExp;
  expected: string;
  value?: RegExp;
  /** Values may hold commas, so the environment variable holds one pair a line. */
  byLine?: boolean;
  /** Charts write the key without quotes, so it must not look like a number or a switch. */
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
      if (seen.has(name)) throw new InvalidValue(`"${name}" is given twice`, 'Keep one of the two');
      seen.add(name);
      if (!key.test(name) || (isBare && !staysText(name))) throw new InvalidValue(`"${name}" is not ${expected}`, `Write ${hint}`);
      if (typeof text !== 'string') throw new InvalidValue(`the value of "${name}" is not a text`, `Put it in quotes: ${name}: "${text}"`);
      if (!value.test(text))
        throw new InvalidValue(`"${text}" cannot be the value of "${name}"`, 'Use at most 63 letters, digits, -, _ and .');
      checked.push([name, text]);
    }
    return Object.fromEntries(checked.toSorted(([one], [other]) => (one < other ? -1 : 1)));
  },
  format: (map) => Object.entries(map).map(([name, text]) => `${name}=${text}`),
});

function entriesOf(raw: unknown, asItems: (raw: unknown) => string[]): [string, unknown][] {
  if (Array.isArray(raw)) return asItems(raw).map(splitPair);
  if (typeof raw === 'object' && raw !== null) return Object.entries(raw);
  throw new InvalidValue(`expected a mapping, got ${JSON.stringify(raw)}`, 'Write one key and value a line');
}

function splitPair(pair: string): [string, string] {
  const at = pair.indexOf('=');
  if (at < 1) throw new InvalidValue(`"${pair}" has no "="`, `Write ${pair}=value`);
  return [pair.slice(0, at).trim(), pair.slice(at + 1)];
}

const PREFIXED_NAME = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

export const labels = () => pairs({hint: 'key=value', key: PREFIXED_NAME, expected: 'a label key', value: LABEL_VALUE});
export const annotations = () => pairs({hint: 'key=value', key: PREFIXED_NAME, expected: 'an annotation key', byLine: true});
export const variables = () =>
  pairs({hint: 'NAME=value', key: /^[A-Za-z_][A-Za-z0-9_]*$/, expected: 'the name of an environment variable', byLine: true, isBare: true});

/** A Kubernetes toleration as far as kubectl's taint spelling can say it. */
export interface Toleration {
  key: string;
  operator: 'Equal' | 'Exists';
  value?: string;
  effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** Tolerations in the spelling of `kubectl taint`: key=value:effect, key:effect, key=value or key. */
export const tolerations = (): Kind<Toleration[]> => ({
  jsonSchema: {type: 'array', items: {type: 'string'}, minItems: 1},
  hint: 'key=value:effect',
  list: {separator: COMMAS_OR_LINES},
  parse: (raw) => asWords(raw).map(parseToleration),
  format: (list) => list.map(({key, value, effect}) => `${key}${value === undefined ? '' : `=${value}`}${effect ? `:${effect}` : ''}`),
});

function parseToleration(text: string): Toleration {
  const [, key = '', value, effect] = /^([^=:]+)(?:=([^:]*))?(?::(.*))?$/.exec(text) ?? [];
  if (!PREFIXED_NAME.test(key))
    throw new InvalidValue(`"${text}" is not a toleration`, 'Write it as kubectl taint does: dedicated=scalr:NoSchedule');
  if (value !== undefined && !LABEL_VALUE.test(value))
    throw new InvalidValue(`"${value}" cannot be the value of a taint`, 'Use at most 63 letters, digits, -, _ and .');
  if (effect !== undefined && !EFFECTS.includes(effect)) {
    throw new InvalidValue(`"${effect}" is not an effect`, `Use one of ${EFFECTS.join(', ')}`);
  }
  return {
    key,
    operator: value === undefined ? 'Exists' : 'Equal',
    ...(value === undefined ? {} : {value}),
    ...(effect === undefined ? {} : {effect: effect as NonNullable<Toleration['effect']>}),
  };
}
