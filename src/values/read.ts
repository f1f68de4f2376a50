import {CHARTS} from '../charts/charts.ts';
import type {Target} from '../charts/define.ts';
import {within} from '../charts/releases.ts';
import {scopeOf} from '../charts/support.ts';
import {getAt, leafPaths, mergeValues, type Path, sameTree, startsWith, type Values} from '../charts/tree.ts';
import {catalogue} from '../settings/catalogue.ts';
import type {Get, Setting} from '../settings/define.ts';

export interface ReadValues {
  /** Effective settings, the chart's own defaults included. */
  settings: ReadonlyMap<string, unknown>;
  /** What differs from the chart's defaults and no setting can say. */
  rest: readonly Path[];
}

/** Reads values.yaml of one chart version back into settings. */
export function readValues(values: Values, target: Target): ReadValues {
  // A row may depend on a setting that comes later in the catalogue, so a first reading finds them all.
  const first = readOnce(values, target, new Map());
  return readOnce(values, target, first.settings);
}

function readOnce(values: Values, target: Target, known: ReadonlyMap<string, unknown>): ReadValues {
  const found = new Map<string, unknown>();
  const get: Get = <T>(setting: Setting<T>) => (found.get(setting.id) ?? known.get(setting.id)) as T | undefined;
  const scope = scopeOf(target, get);
  const effective = mergeValues(scope.defaults, values);
  const claimed: Path[] = [];
  const rows = CHARTS[target.chart].rows.filter((row) => within(target.version, row.in));
  for (const setting of catalogue) {
    for (const row of rows) {
      if (row.setting !== setting || !(row.when?.(get) ?? true)) continue;
      const value = row.read(effective, scope);
      if (value === undefined) continue;
      if (!found.has(setting.id)) found.set(setting.id, value);
      claimed.push(...row.paths);
    }
  }
  const rest = leafPaths(values).filter(
    (path) => !claimed.some((claim) => startsWith(path, claim)) && !sameTree(getAt(scope.defaults, path), getAt(values, path)),
  );
  return {settings: found, rest};
}
