import {CHARTS} from '../charts/charts.ts';
import type {Row, Target} from '../charts/define.ts';
import {oncePerRelease, within} from '../charts/releases.ts';
import {scopeOf} from '../charts/support.ts';
import {getAt, leafPaths, type Path, sameTree, startsWith, type Values} from '../charts/tree.ts';
import {catalogue} from '../settings/catalogue.ts';
import type {Get, Setting} from '../settings/define.ts';
import {effectiveValues} from './effective.ts';

export interface ReadValues {
  /** Effective settings, the chart's own defaults included. */
  settings: ReadonlyMap<string, unknown>;
  /** What differs from the chart's defaults and no setting can say. */
  rest: readonly Path[];
}

/** Reads values.yaml of one chart version back into settings. */
export function readValues(values: Values, target: Target): ReadValues {
  const {defaults} = scopeOf(target, () => undefined);
  const {settings, claimed} = readEffective(effectiveValues(values, target), target);
  return {
    settings,
    get rest() {
      return leafPaths(values).filter(
        (path) => !claimed.some((claim) => startsWith(path, claim)) && !sameTree(getAt(defaults, path), getAt(values, path)),
      );
    },
  };
}

interface Reading {
  settings: ReadonlyMap<string, unknown>;
  /** The keys that settings stand for. */
  claimed: Path[];
}

/** The same for values that stand over the defaults already. */
export const readEffective = (effective: Values, target: Target): Reading =>
  // A row may depend on a setting that comes later in the catalogue, so a first reading finds them all.
  readOnce(effective, target, readOnce(effective, target, new Map()).settings);

function readOnce(effective: Values, target: Target, known: ReadonlyMap<string, unknown>): Reading {
  const settings = new Map<string, unknown>();
  const get: Get = <T>(setting: Setting<T>) => (settings.get(setting.id) ?? known.get(setting.id)) as T | undefined;
  const scope = scopeOf(target, get);
  const claimed: Path[] = [];
  for (const row of rowsOf(target)) {
    if (!(row.when?.(get) ?? true)) continue;
    const value = row.read(effective, scope);
    if (value === undefined) continue;
    if (!settings.has(row.setting.id)) settings.set(row.setting.id, value);
    claimed.push(...row.paths);
  }
  return {settings, claimed};
}

/** The rows of a version in the order of the catalogue. */
const rowsOf = oncePerRelease(({chart, version}: Target): readonly Row[] =>
  catalogue.flatMap((setting) => CHARTS[chart].rows.filter((row) => row.setting === setting && within(version, row.in))),
);
