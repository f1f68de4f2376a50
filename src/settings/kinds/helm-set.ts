import {InvalidValue, type Kind, noAssignment} from './kind.ts';
import {pairs} from './lists.ts';

/** Assignments to values paths, `a.b=value`; dots inside keys are escaped as `\.`. */
export function assignments(): Kind<Readonly<Record<string, string>>> {
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
    setPart(
      list,
      stepsOf(index, path),
      isJson(value) ? (JSON.parse(value) as Part) : helmTyped(value),
    );
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
    const list = JSON.stringify(split(rest.slice(1, end)).map((each) => helmTyped(each)));
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
      `Escape each comma of the value: ${path}=a\\,b`,
    );
  return [[path, unescaped(rest.slice(0, end))], ...assignmentsIn(others)];
}

const refuseBare = (text: string): never => {
  if (text.startsWith('='))
    throw new InvalidValue('The assignment has no key before "="', 'Use the form a.b[0].c=value');
  throw noAssignment(text);
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
export function helmTyped(text: string): Part {
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
    const child = childOf(holder, step, steps[at + 1]) ?? value;
    Object.defineProperty(holder, step, {
      value: child,
      writable: true,
      enumerable: true,
      configurable: true,
    });
    here = child;
  }
}

/** What holds the next step: what is already there, or a new list or map. Undefined after the last step. */
function childOf(
  holder: Readonly<Record<string | number, Part>>,
  step: string | number,
  next: string | number | undefined,
): Part {
  if (next === undefined) return undefined;
  const below = Object.hasOwn(holder, step) ? holder[step] : undefined;
  if (typeof below === 'object' && below !== null) return below;
  return typeof next === 'number' ? [] : {};
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
