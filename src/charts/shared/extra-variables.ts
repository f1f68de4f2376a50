import {at} from '../../ground/tree.ts';
import {catalog} from '../../settings/catalog.ts';
import {extraEnv} from '../../settings/chart-values.ts';
import type {Setting} from '../../settings/define.ts';
import {caFile} from '../../settings/tls.ts';
import {mapAt} from './pod-rows.ts';
import type {Row} from './row.ts';
import {row} from './row-kinds.ts';

interface VariableMap {
  path: string;
  /** Filter for variable names (default: all). */
  takes?: (name: string) => boolean;
}

/** Extra variables of the agent, without those that have a setting. */
export const extraVariables = (
  maps: readonly VariableMap[],
  {
    own = VARIABLES_OF_SETTINGS,
    ...options
  }: Pick<Row<object>, 'partly'> & {own?: ReadonlyMap<string, Setting>} = {},
): Row =>
  row({
    setting: extraEnv,
    paths: maps.map(({path}) => at(path)),
    write: (given) =>
      maps.flatMap(({path, takes = () => true}) =>
        Object.entries(given)
          .filter(([name]) => takes(name))
          .map(([name, value]) => [[...at(path), name], value] as const),
      ),
    read: (values) => {
      const found = maps.flatMap(({path}) => Object.entries(mapAt(values, path)));
      const free = found.filter(([name, value]) => typeof value === 'string' && !own.has(name)) as [
        string,
        string,
      ][];
      return free.length === 0
        ? undefined
        : Object.fromEntries(free.toSorted(([one], [other]) => (one < other ? -1 : 1)));
    },
    ...options,
  });

/** Variables that have their own setting, so they cannot be set twice. */
export const VARIABLES_OF_SETTINGS: ReadonlyMap<string, Setting> = new Map([
  ...catalog.flatMap((setting) =>
    setting.variable === undefined ? [] : [[setting.variable, setting] as const],
  ),
  ['SSL_CERT_FILE', caFile as Setting],
]);
