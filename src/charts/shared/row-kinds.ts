import {at, copyOf, getAt, type Path, sameTree, type Tree} from '../../ground/tree.ts';
import type {Setting} from '../../settings/define.ts';
import type {Codec} from './codecs.ts';
import type {Row} from './row.ts';

export type Options<T> = Partial<
  Pick<Row<T>, 'in' | 'when' | 'accepts' | 'partly' | 'code' | 'from'>
>;

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

/** The setting is an environment variable in a map of extra variables; `name` is needed only if the setting declares none. */
export const variable = <T>(
  setting: Setting<T>,
  {map, name = setting.variable, ...options}: VariableOptions<T> & {map: string; name?: string},
): Row<T> => {
  if (name === undefined) throw new Error(`${setting.id} declares no variable of the agent.`);
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

export const onlyIn = (range: string, rows: readonly Row[]): Row[] =>
  rows.map((each) => ({...each, in: range}));

/** A row as a literal, its types checked against its setting. */
export const row = <T>(definition: Row<T>): Row<T> => definition;
