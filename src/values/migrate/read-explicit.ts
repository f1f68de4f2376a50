import {CHARTS, chartFor} from '../../charts/charts.ts';
import type {Target, ValuesEntry} from '../../charts/define.ts';
import {within} from '../../charts/releases.ts';
import {needsNoRow, rowsFor, scopeOf} from '../../charts/support.ts';
import {at, copyOf, getAt, isMap, leafPaths, type Path, sameTree, setAt, startsWith, type Tree, type Values} from '../../ground/tree.ts';
import type {Get, Setting} from '../../settings/define.ts';
import {canonicalQuantity} from '../../settings/kinds.ts';
import {catalogue} from '../../settings/settings.ts';
import {effectiveValues, readEffective, writtenSettings} from '../read-values.ts';

/** A setting of the old values, and what the rows of a chart version write for it. */
export interface SettingEntries {
  setting: Setting;
  value: unknown;
  /** The keys of the old values that express it. */
  leaves: readonly Path[];
  before: readonly ValuesEntry[];
}

/** The settings that values express, without chart defaults, in the order of the catalogue. */
export function explicitSettings(given: Values, from: Target): SettingEntries[] {
  const values = withTextVariables(given, from);
  const read = readEffective(effectiveValues(values, from), from).settings;
  const usual = readEffective(effectiveValues({}, from), from).settings;
  const written = writtenSettings(values, from);
  const rows = chartFor(from).rows.filter((row) => within(from.version, row.in));
  const scope = scopeOf(from, getFrom(read));
  const leaves = leafPaths(values);
  return catalogue.flatMap((setting) => {
    if (needsNoRow(setting)) return [];
    const value = written.get(setting.id) ?? read.get(setting.id);
    if (value === undefined) return [];
    const hasKeys = rows.some((row) => row.setting === setting && row.paths.length > 0);
    // A setting without keys can follow from other keys, such as the scope of a CA bundle.
    if (!hasKeys) return sameTree(value, usual.get(setting.id)) ? [] : [{setting, value, leaves: [], before: []}];
    if (!written.has(setting.id)) return [];
    const before = rowsFor(chartFor(from), setting, value, scope).flatMap((row) => row.write(value, scope));
    const own = leaves.filter((path) => expresses(before, path, values));
    return own.length === 0 ? [] : [{setting, value, leaves: own, before}];
  });
}

export const getFrom =
  (settings: ReadonlyMap<string, unknown>): Get =>
  <T>(setting: Setting<T>) =>
    settings.get(setting.id) as T | undefined;

/** True if the entries write this key with this value; the only entry beside a switch can spell the value in another way. */
function expresses(entries: readonly ValuesEntry[], path: Path, values: Values): boolean {
  const found = getAt(values, path) as Tree;
  const isOnly = entries.filter(([, value]) => value !== true).length <= 1;
  return entries.some(([key, value]) => {
    if (!startsWith(path, key)) return false;
    const own = isMap(value) ? getAt(value, path.slice(key.length)) : value;
    return own !== undefined && (entries.length === 1 || (isOnly && own !== true) || isSameValue(own, found));
  });
}

/** True for the same value, also as a text or as another notation of the same quantity. */
export const isSameValue = (one: Tree | undefined, other: Tree | undefined): boolean =>
  sameTree(one, other) || (isScalar(one) && isScalar(other) && quantityOf(one) === quantityOf(other));

const isScalar = (tree: Tree | undefined): boolean => tree !== undefined && tree !== null && typeof tree !== 'object';
const quantityOf = (tree: Tree | undefined): string => canonicalQuantity(String(tree)) ?? String(tree);

/** Variables as texts, because templates print them as texts. */
function withTextVariables(values: Values, {chart, version}: Target): Values {
  const copy = copyOf(values);
  const maps = CHARTS[chart].containers.filter((each) => within(version, each.in)).flatMap(({extraEnv}) => extraEnv.map(at));
  for (const map of maps) {
    const found = getAt(copy, map);
    for (const [name, value] of Object.entries(isMap(found) ? found : {}))
      if (Number.isSafeInteger(value) || typeof value === 'boolean') setAt(copy, [...map, name], String(value));
  }
  return copy;
}
