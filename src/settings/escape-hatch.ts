import {keySoundsSecret, variableSoundsSecret} from '../ground/secret.ts';
import {defineSetting, InvalidValue, type Kind} from './define.ts';
import {text} from './kinds.ts';
import {listOf, pairs, variables} from './lists.ts';

/** A file path as given, and the file content. */
export interface ValuesFile {
  file: string;
  text: string;
}

export const valuesFile = defineSetting('Chart values', 'values-file', {
  question: 'Values file',
  summary:
    'Values file for the chart. Flags override its values. Can be repeated; later files override earlier files, as in Helm.',
  kind: valuesFiles(),
});

export const set = defineSetting('Chart values', 'set', {
  question: 'Chart value without a flag',
  summary: 'Chart value that has no flag. Validated against the chart version. Can be repeated.',
  kind: assignments(),
  holdsSecret: (map) =>
    Object.entries(map).some(([path, text]) =>
      [keyAtEnd(path), ...keysIn(text)].some(keySoundsSecret),
    ),
});

export const extraEnv = defineSetting('Chart values', 'extra-env', {
  question: 'Extra environment variable',
  summary:
    'Extra environment variable for the agent and, if the chart supports it, for runs; can be repeated.',
  kind: variables(),
  holdsSecret: (map) => Object.keys(map).some(variableSoundsSecret),
  caution: (map) => {
    const secret = Object.keys(map).find(variableSoundsSecret);
    return secret === undefined
      ? undefined
      : `${secret} looks like a secret, but is stored in clear text in values.yaml, the Helm release and every pod. Store it in a Secret or in Scalr.`;
  },
});

const keyAtEnd = (path: string): string => path.split(/(?<!\\)\./).at(-1) as string;
/** The keys of a JSON value, and the variable names in a list of variables. */
const keysIn = (text: string): string[] =>
  [...text.matchAll(/"([^"]+)"\s*(?::|,\s*"value"\s*:)/g)].map(([, key]) => key as string);

function valuesFiles(): Kind<readonly ValuesFile[]> {
  const {fromValues: _, ...names} = listOf(text({hint: 'FILE'}));
  return {
    ...names,
    isFile: true,
    parse: (raw) => raw as ValuesFile[],
    format: (files) => files.map(({file}) => file),
    shown: (files) => files.map(({file}) => file).join(', '),
  };
}

/** Assignments to values paths, `a.b=value`; dots inside keys are escaped as `\.`. */
function assignments(): Kind<Readonly<Record<string, string>>> {
  const kind = pairs({
    hint: 'path=value',
    key: /^[^\s=]+$/,
    expected: 'a valid values path',
    byLine: true,
  });
  return {
    ...kind,
    // A mapping in an answers file separates paths and values; Helm syntax applies to strings only.
    parse: (raw, context) =>
      kind.parse(
        isListOfTexts(raw) ? readHelmSet(raw.filter((each) => each.trim() !== '')) : raw,
        context,
      ),
    format: (map) => Object.entries(map).map(([path, value]) => asHelmSet(path, value)),
  };
}

const isListOfTexts = (raw: unknown): raw is string[] =>
  Array.isArray(raw) && raw.every((each) => typeof each === 'string');

/** A value of a list under construction; missing items are undefined. */
type Part = string | number | boolean | null | Part[] | {[key: string]: Part} | undefined;

/**
 * Reads `--set` as Helm does: commas between assignments, `{a,b}` for lists, `a[0].b` for items, backslashes before
 * special characters. JSON lists are an extension. Returns assignments of one path and one value each.
 * @throws InvalidValue
 */
export function readHelmSet(items: readonly string[]): string[] {
  const pairs = items.flatMap(assignmentsIn);
  const lists = new Map<string, Part[]>();
  const read = pairs.flatMap(([path, value]) => {
    const [, base, index] = /^(.+?)(\[\d+\].*)$/.exec(path) ?? [];
    if (base === undefined || index === undefined) return [`${path}=${value}`];
    const isFirst = !lists.has(base);
    const list = lists.get(base) ?? [];
    lists.set(base, list);
    setPart(list, stepsOf(index, path), isJson(value) ? (JSON.parse(value) as Part) : typed(value));
    return isFirst ? [base] : [];
  });
  return read.map((each) =>
    lists.has(each) ? `${each}=${listText(each, lists.get(each) as Part[])}` : each,
  );
}

/** The text of an assignment for `--set`: JSON unchanged, other text with escaped commas and backslashes. */
export const asHelmSet = (path: string, value: string): string =>
  `${path}=${isJson(value) ? value : value.replaceAll(/[\\,]/g, '\\$&')}`;

const isJson = (text: string): boolean => {
  if (!/^[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

function assignmentsIn(item: string): [path: string, value: string][] {
  const at = item.indexOf('=');
  if (at < 1) return [[item, '']].map(([text = '']) => refuseBare(text));
  const path = withoutQuotes(item.slice(0, at).trim());
  const rest = item.slice(at + 1);
  // YAML lists, as in [a, b], are parsed later.
  if (isJson(rest) || rest.startsWith('[')) return [[path, rest]];
  if (rest.startsWith('{')) {
    const end = endOfList(rest);
    if (end === undefined)
      throw new InvalidValue(`The list of "${path}" has no closing "}"`, `Use ${path}={a,b}`);
    const list = JSON.stringify(split(rest.slice(1, end)).map((each) => typed(each)));
    const others = rest.slice(end + 1);
    if (others !== '' && !others.startsWith(','))
      throw new InvalidValue(
        `Unexpected "${others}" after the list of "${path}"`,
        'Separate assignments with a comma',
      );
    return [[path, list], ...(others === '' ? [] : assignmentsIn(others.slice(1)))];
  }
  const comma = /(?<!\\)(?:\\\\)*,/.exec(rest);
  if (comma === null) return [[path, unescaped(rest)]];
  const end = comma.index + comma[0].length - 1;
  const others = rest.slice(end + 1);
  if (others === '') return [[path, unescaped(rest.slice(0, end))]];
  if (!/^(?:\\.|[^=,\\])+=/.test(others))
    throw new InvalidValue(
      `The comma in the value of "${path}" starts another assignment, as in Helm`,
      `Escape the comma: ${asHelmSet(path, unescaped(rest))}`,
    );
  return [[path, unescaped(rest.slice(0, end))], ...assignmentsIn(others)];
}

const refuseBare = (text: string): never => {
  if (text.startsWith('='))
    throw new InvalidValue(`"${text}" has no key before "="`, 'Use the form a.b[0].c=value');
  throw new InvalidValue(
    `"${text}" has no "="`,
    `Use ${/^[^:]+:./.test(text) ? text.replace(/:\s*/, '=') : `${text}=value`}`,
  );
};

/** `a."b.c"` is `a.b\.c`: READMEs quote keys for the shell, and escape dots and slashes inside the quotes. */
const withoutQuotes = (path: string): string =>
  path
    .replaceAll(/"([^"]*)"/g, (_, key: string) => key.replaceAll('\\', '').replaceAll('.', '\\.'))
    .replaceAll(/\\([^.])/g, '$1');

const unescaped = (text: string): string => text.replaceAll(/\\(.)/gs, '$1');

/** Splits at unescaped commas. */
const split = (text: string): string[] =>
  text === '' ? [] : text.split(/(?<!\\),/).map((each) => unescaped(each));

function endOfList(text: string): number | undefined {
  const found = /(?<!\\)\}/.exec(text);
  return found === null ? undefined : found.index;
}

/** Helm types: true, false, null and integers without a leading zero; everything else is a string. */
function typed(text: string): Part {
  if (text === 'true' || text === 'false') return text === 'true';
  if (text === 'null') return null;
  return /^(0|-?[1-9]\d*)$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text;
}

/** `[0].a\.b[1]` as steps. */
function stepsOf(index: string, path: string): (string | number)[] {
  const steps = [...index.matchAll(/\[(\d+)\]|\.((?:\\.|[^.[\\])+)/g)];
  if (steps.map(([text]) => text).join('') !== index)
    throw new InvalidValue(`"${path}" is not a valid values path`, 'Use the form a.b[0].c=value');
  return steps.map(([, number, key]) =>
    number === undefined ? unescaped(key as string) : Number(number),
  );
}

const MAX_ITEMS = 1000;

function setPart(target: Part[], steps: readonly (string | number)[], value: Part): void {
  let here: Part = target;
  for (const [at, step] of steps.entries()) {
    if (typeof step === 'number' && step >= MAX_ITEMS)
      throw new InvalidValue(`List index [${step}] is too large`, 'List indexes start at [0]');
    const holder = here as Record<string | number, Part>;
    const below = Object.hasOwn(holder, step) ? holder[step] : undefined;
    const next = steps[at + 1];
    const child: Part =
      next === undefined
        ? value
        : typeof below === 'object' && below !== null
          ? below
          : typeof next === 'number'
            ? []
            : {};
    Object.defineProperty(holder, step, {
      value: child,
      writable: true,
      enumerable: true,
      configurable: true,
    });
    here = child;
  }
}

/** A list without missing items as JSON. @throws InvalidValue */
function listText(path: string, list: readonly Part[]): string {
  const hole = Array.from(list).indexOf(undefined);
  if (hole >= 0)
    throw new InvalidValue(
      `"${path}" has no item [${hole}]`,
      'Set list items from [0] without gaps',
    );
  return JSON.stringify(list);
}
