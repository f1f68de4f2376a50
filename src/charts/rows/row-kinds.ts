import type {Get, Setting} from '../../settings/define.ts';
import {asText, type Codec} from '../codecs.ts';
import type {Row} from '../define.ts';
import {at, getAt, type Path} from '../tree.ts';

type Extra<T> = Partial<Pick<Row<T>, 'in' | 'when' | 'accepts' | 'partly'>>;

/** The setting is one key. */
export function key<T>(setting: Setting<T>, path: string | Path, codec: Codec<T>, extra: Extra<T> = {}): Row<T> {
  const where = typeof path === 'string' ? at(path) : path;
  return {
    setting,
    ...extra,
    paths: [where],
    write: (value) => [[where, codec.write(value)]],
    read: (values) => {
      const found = getAt(values, where);
      return found === undefined ? undefined : codec.read(found);
    },
  };
}

export const textKey = (setting: Setting<string>, path: string, extra: Extra<string> = {}): Row<string> =>
  key(setting, path, asText, extra);

/** The setting is an environment variable in a map of extra ones. */
export const variable = <T>(setting: Setting<T>, map: string, name: string, codec: Codec<T>, extra: Extra<T> = {}): Row<T> => ({
  ...key(setting, [...at(map), name], codec, extra),
  paths: [at(map)],
});

/** The chart always behaves in this way, so only this value can be asked for. */
export const always = <T>(setting: Setting<T>, value: T, extra: Extra<T> = {}): Row<T> => ({
  setting,
  accepts: (asked) => asked === value,
  ...extra,
  paths: [],
  write: () => [],
  read: () => value,
});

/** Known to the program, not to values.yaml: it decides other settings or is checked elsewhere. */
export const unwritten = <T>(setting: Setting<T>, extra: Extra<T> = {}): Row<T> => ({
  setting,
  ...extra,
  paths: [],
  write: () => [],
  read: () => undefined,
});

/** A row whose value lies in other rows' keys: nothing to write, something to read. */
export const implied = <T>(setting: Setting<T>, read: Row<T>['read'], extra: Extra<T> = {}): Row<T> => ({
  setting,
  ...extra,
  paths: [],
  write: () => [],
  read,
});

/** The same rows for some versions or situations only. */
export const only = (extra: {in?: string; when?: (get: Get) => boolean}, rows: readonly Row[]): Row[] =>
  rows.map((row) => ({
    ...row,
    ...(extra.in === undefined ? {} : {in: row.in === undefined ? extra.in : intersect(extra.in, row.in)}),
    ...(extra.when === undefined ? {} : {when: (get: Get) => (row.when?.(get) ?? true) && (extra.when as (get: Get) => boolean)(get)}),
  }));

/** `a || b` and `c` make `a c || b c`, which is how semver spells an intersection. */
function intersect(one: string, other: string): string {
  return one
    .split('||')
    .flatMap((left) => other.split('||').map((right) => `${left.trim()} ${right.trim()}`))
    .join(' || ');
}

/** A row as a literal, its types checked against its setting. */
export const row = <T>(definition: Row<T>): Row<T> => definition;
