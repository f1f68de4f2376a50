import {
  at,
  copyOf,
  getAt,
  isMap,
  type Path,
  sameTree,
  type Tree,
  type Values,
} from '../ground/tree.ts';
import {concurrency} from '../settings/agent.ts';
import {catalog} from '../settings/catalog.ts';
import type {Setting} from '../settings/define.ts';
import {canonicalQuantity, integerIn, MEBIBYTE, milliOf, quantityIn} from '../settings/kinds.ts';
import {textsIn} from '../settings/lists.ts';
import {gracePeriod, shutdownMode} from '../settings/pods.ts';
import type {Row} from './define.ts';
import type {ChartName} from './schema.ts';

/** Conversion of a value to and from values.yaml; `read` returns undefined for values that the setting cannot express. */
export interface Codec<T> {
  write(value: T): Tree;
  read(tree: Tree): T | undefined;
}

export const asOnOff = (on: string, off: string): Codec<boolean> => ({
  write: (value) => (value ? on : off),
  read: (tree) => (tree === on || tree === off ? tree === on : undefined),
});

/** A choice with the names that the chart uses. */
export function asEnum<K extends string>(values: Readonly<Record<K, string | boolean>>): Codec<K> {
  return {
    write: (value) => values[value],
    read: (tree) => (Object.keys(values) as K[]).find((each) => values[each] === tree),
  };
}

/** CPU as a plain number of cores. */
export const asCores: Codec<string> = {
  write: (value) => Number(milliOf(value)) / 1000,
  read: quantityIn,
};

export const isWholeMebibytes = (quantity: string): boolean =>
  (milliOf(quantity) ?? 0n) % MEBIBYTE === 0n;

/** Memory as a plain number of mebibytes (the charts call them MB); a fraction is rounded up. */
export const asMebibytes: Codec<string> = {
  write: (value) => Number(((milliOf(value) ?? 0n) + MEBIBYTE - 1n) / MEBIBYTE),
  read: (tree) => (integerIn(tree) === undefined ? undefined : canonicalQuantity(`${tree}Mi`)),
};

/** A size in the two units that the charts can convert, without a fraction. */
export const asGibibytes: Codec<string> = {
  write: (value) => {
    const mebibytes = Number(asMebibytes.write(value));
    return mebibytes % 1024 === 0 ? `${mebibytes / 1024}Gi` : `${mebibytes}Mi`;
  },
  read: quantityIn,
};

export const asBase64: Codec<string> = {
  write: (value) => Buffer.from(value).toString('base64'),
  read: (tree) =>
    typeof tree === 'string' && /-----BEGIN/.test(decode(tree)) ? decode(tree) : undefined,
};
const decode = (text: string): string => Buffer.from(text, 'base64').toString();

/** Texts as a list of objects with one field; objects with further fields have no setting. */
const asItemsWith = (field: string): Codec<string[]> => ({
  write: (texts) => texts.map((text) => ({[field]: text})),
  read: (tree) =>
    textsIn(
      Array.isArray(tree)
        ? tree.map((each) =>
            isMap(each) && Object.keys(each).length === 1 ? (each[field] ?? null) : null,
          )
        : null,
    ),
});

/** Names as a Kubernetes list of object references. */
export const asReferences = asItemsWith('name');

/** URLs as a list of mirrors. */
export const asMirrors = asItemsWith('url');

/** The same as JSON, for a variable. */
export const asMirrorsText: Codec<string[]> = {
  write: (urls) => JSON.stringify(asMirrors.write(urls)),
  read: (tree) => asMirrors.read(parsedList(String(tree))),
};

/** A JSON list of objects; empty for everything else. */
export function parsedList(text = '[]'): Values[] {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.filter(isMap) : [];
  } catch {
    // Validation of the variable reports it.
    return [];
  }
}

type Options<T> = Partial<Pick<Row<T>, 'in' | 'when' | 'accepts' | 'partly'>>;

/** As the setting spells it. */
const asItIs = <T>({kind}: Setting<T>): Codec<T> => ({
  write: (value) => copyOf(value as Tree),
  read: (tree) => kind.fromValues?.(tree),
});

/** The setting is one key. `as` converts the value, where the chart spells it in another way than the setting. */
export const key = <T>(
  setting: Setting<T>,
  path: string | Path,
  options: Options<T> & {as?: Codec<T>} = {},
): Row<T> => atPaths(setting, [typeof path === 'string' ? at(path) : path], options);

/** The setting is the same value at several keys. */
export const keys = <T>(
  setting: Setting<T>,
  paths: readonly string[],
  options: Options<T> & {as?: Codec<T>} = {},
): Row<T> => atPaths(setting, paths.map(at), options);

const atPaths = <T>(
  setting: Setting<T>,
  paths: readonly Path[],
  {as: {write, read} = asItIs(setting), ...options}: Options<T> & {as?: Codec<T>},
): Row<T> => ({
  setting,
  ...options,
  paths,
  write: (value) => paths.map((path) => [path, write(value)] as const),
  read: (values) => {
    const [found, ...others] = paths.map((path) => getAt(values, path));
    return found !== undefined && others.every((each) => sameTree(each, found))
      ? read(found)
      : undefined;
  },
});

/** A boolean that sets several keys, each with its value for true and false. */
export const switched = (
  setting: Setting<boolean>,
  values: Readonly<Record<string, {on: Tree; off: Tree | undefined}>>,
): Row<boolean> => {
  const entries = Object.entries(values).map(([path, each]) => ({path: at(path), ...each}));
  return {
    setting,
    paths: entries.map(({path}) => path),
    write: (isOn) => (isOn ? entries.map(({path, on}) => [path, on] as const) : []),
    read: (found) => {
      if (entries.every(({path, on}) => getAt(found, path) === on)) return true;
      return entries.every(({path, off}) => getAt(found, path) === off) ? false : undefined;
    },
  };
};

export type VariableOptions<T> = Options<T> & {as?: Codec<T>};

/** The setting is the environment variable `name` in a map of extra variables. */
export const variable = <T>(
  setting: Setting<T>,
  {map, name, ...options}: VariableOptions<T> & {map: string; name: string},
): Row<T> => {
  const plain = key(setting, [...at(map), name], options);
  const write: Row<T>['write'] = (value, scope) =>
    plain.write(value, scope).map(([path, tree]) => [path, String(tree)]);
  return {...plain, paths: [at(map)], write};
};

/** The chart has fixed behavior, so only this value is supported. */
export const fixedValue = <T>(setting: Setting<T>, value: T, options: Options<T> = {}): Row<T> => ({
  accepts: (asked) => asked === value,
  ...implied(setting, () => value, options),
});

/** Not written to values.yaml: the setting affects other settings or is validated elsewhere. */
export const notWritten = <T>(setting: Setting<T>, options: Options<T> = {}): Row<T> =>
  implied(setting, () => undefined, options);

/** A row whose value is read from the keys of other rows. */
export const implied = <T>(
  setting: Setting<T>,
  read: Row<T>['read'],
  options: Options<T> = {},
): Row<T> => ({
  setting,
  ...options,
  paths: [],
  write: () => [],
  read,
});

/** Rows that require a switch; each row enables it. */
export const behindSwitch = (path: string, rows: readonly Row[]): Row[] => {
  const enabled = at(path);
  return rows.map((plain) => ({
    ...plain,
    paths: [...plain.paths, enabled],
    write: (value, scope) => [[enabled, true], ...plain.write(value, scope)],
    read: (values, scope) =>
      getAt(values, enabled) === true ? plain.read(values, scope) : undefined,
  }));
};

/** The rows in the order of the catalog, in which settings are read. */
export const inCatalogOrder = (rows: readonly Row[]): Row[] =>
  catalog.flatMap((setting) => rows.filter((each) => each.setting === setting));

export const onlyIn = (range: string, rows: readonly Row[]): Row[] =>
  rows.map((row) => ({...row, in: row.in === undefined ? range : intersect(range, row.in)}));

/** `a || b` and `c` make `a c || b c`, which is how semver spells an intersection. */
const intersect = (one: string, other: string): string =>
  one
    .split('||')
    .flatMap((left) => other.split('||').map((right) => `${left.trim()} ${right.trim()}`))
    .join(' || ');

/** A row as a literal, its types checked against its setting. */
export const row = <T>(definition: Row<T>): Row<T> => definition;

/** What the agent does when it is stopped. */
export const asStopAction = asEnum({
  graceful: 'grace-shutdown',
  drain: 'drain',
  force: 'force-shutdown',
});

/** The time until a pod or container is killed, and the timeouts of the agent, which must end before. */
export const stopPeriod = (
  {grace, drain, stop}: Readonly<Record<'grace' | 'drain' | 'stop', string>>,
  {
    timeoutAs = (seconds) => seconds,
    ...options
  }: Options<number> & {timeoutAs?(seconds: number): Tree} = {},
): Row<number> => ({
  setting: gracePeriod,
  ...options,
  paths: [grace, drain, stop].map(at),
  write: (period, {get}) => {
    const mode = get(shutdownMode) ?? 'drain';
    return [
      [at(grace), period],
      ...(mode === 'drain' ? [[at(drain), timeoutAs(period - 60)] as const] : []),
      ...(mode === 'graceful' ? [[at(stop), timeoutAs(period - 10)] as const] : []),
    ];
  },
  read: (values) => integerIn(getAt(values, at(grace)) ?? null),
});

/** The agent pool decides how many runs start: the chart has no key for a limit. */
export const noRunLimit = (chart: ChartName, perRun: string): Row<number> =>
  notWritten(concurrency, {
    partly: (value) =>
      `${chart} does not limit concurrent runs: it starts a ${perRun} for each run that the agent pool assigns. The number is only used to plan capacity; the nodes need capacity for ${value} run pods.`,
  });
