import {ChartVersion} from '../../charts/chart-version.ts';
import type {Target} from '../../charts/releases/target.ts';
import type {ValuesEntry} from '../../charts/shared/row.ts';
import {type Reading, readRows} from '../../charts/shared/support.ts';
import {scopeOf} from '../../charts/support.ts';
import {
  copyOf,
  getAt,
  isMap,
  leafPaths,
  mergeValues,
  type Path,
  sameTree,
  setAt,
  startsWith,
  type Tree,
  type Values,
} from '../../ground/tree.ts';
import {catalog} from '../../settings/catalog.ts';
import type {Get, Setting} from '../../settings/define.ts';
import type {Settings} from '../../settings/settings.ts';

/** The values over the defaults of the release, as the templates see them. */
export const effectiveValues = (values: Values, target: Target): Values =>
  mergeValues(scopeOf(target).defaults, values);

/** A copy without the keys toString and valueOf, which JavaScript would call to read such a map as a number or text. */
export function withoutMethodNames<T extends Tree>(tree: T): T {
  if (Array.isArray(tree)) return tree.map(withoutMethodNames) as T;
  if (!isMap(tree)) return tree;
  const entries = Object.entries(tree).filter(([key]) => key !== 'toString' && key !== 'valueOf');
  return Object.fromEntries(entries.map(([key, below]) => [key, withoutMethodNames(below)])) as T;
}

/** A copy of the values with what rows write; maps merge. */
export function withEntries(values: Values, entries: readonly ValuesEntry[]): Values {
  const copy = copyOf(values);
  for (const [path, value] of entries) {
    const before = getAt(copy, path);
    setAt(copy, path, isMap(value) && isMap(before) ? mergeValues(before, value) : copyOf(value));
  }
  return copy;
}

/** Effective settings: explicit ones; else those read from the values, which --set may have changed; else the default. */
export const effectiveGet =
  (settings: Settings, read: ReadonlyMap<string, unknown>): Get =>
  <T>(setting: Setting<T>) => {
    if (settings.isExplicit(setting)) return settings.get(setting);
    return (read.get(setting.id) as T | undefined) ?? settings.get(setting);
  };

export interface ReadValues {
  /** Effective settings, chart defaults included. */
  settings: ReadonlyMap<string, unknown>;
  /** Paths that differ from the chart defaults and that no setting can express. */
  rest: readonly Path[];
}

/** Reads values.yaml of one chart version back into settings. */
export function readValues(values: Values, target: Target): ReadValues {
  const version = ChartVersion.of(target);
  const {defaults} = version;
  const {settings, claimed} = readEffective(effectiveValues(values, version), version);
  return {
    settings,
    get rest() {
      return leafPaths(values).filter(
        (path) =>
          !claimed.some((claim) => startsWith(path, claim)) &&
          !sameTree(getAt(defaults, path), getAt(values, path)),
      );
    },
  };
}

/** The settings of these values, by id, without those that come from chart defaults only. */
export function writtenSettings(values: Values, target: Target): Map<string, unknown> {
  const version = ChartVersion.of(target);
  const {settings} = readValues(values, version);
  const usual = readValues({}, version).settings;
  const {rows} = version.description;
  const isWritten = (id: string, value: unknown): boolean => {
    const own = rows.filter(({setting}) => setting.id === id);
    const hasKey = own.some(({paths}) => paths.some((path) => getAt(values, path) !== undefined));
    // Some settings follow from other keys, such as the public roots from the CA bundle.
    const isImplied = own.some(({paths}) => paths.length === 0);
    return (
      hasKey || (isImplied && !sameTree(value, usual.get(id)) && !sameTree(value, fallbackOf(id)))
    );
  };
  return new Map([...settings].filter(([id, value]) => isWritten(id, value)));
}

const fallbackOf = (id: string): unknown =>
  catalog.find((setting) => setting.id === id)?.fallback?.(() => undefined);

/** The same for values that are merged over the defaults already. */
export function readEffective(effective: Values, target: Target): Reading {
  const version = ChartVersion.of(target);
  const {rows, derived = []} = version.description;
  const {settings, claimed} = readRows(rows, effective, (get) => scopeOf(version, get));
  return {settings, claimed: [...derived.flatMap(({paths}) => paths), ...claimed]};
}
