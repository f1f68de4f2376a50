import {chartFor} from '../charts/chart-version.ts';
import type {Target} from '../charts/releases/target.ts';
import {rowsFor} from '../charts/shared/support.ts';
import {scopeOf} from '../charts/support.ts';
import {failed} from '../ground/errors.ts';
import {
  getAt,
  isMap,
  type Path,
  sameTree,
  spellPath,
  startsWith,
  type Tree,
  type Values,
  withoutLeaves,
} from '../ground/tree.ts';
import {debug} from '../settings/agent.ts';
import {effectiveValues, withEntries} from './reading/read-values.ts';

/** The environment variable of the agent; every key of a chart for debug logs sets it. */
const VARIABLE = 'SCALR_AGENT_DEBUG';

export interface DebugValues {
  values: Values;
  /** The keys that enable debug logs in this chart version. */
  keys: readonly string[];
  /** False when the release is already in this state. */
  isChanged: boolean;
  /** What the keys do not cover. */
  limits: readonly string[];
}

function debugEntries(target: Target, isOn: boolean) {
  const scope = scopeOf(target);
  const rows = rowsFor(chartFor(target), debug, isOn, scope);
  return {
    entries: rows.flatMap((row) => row.write(isOn, scope)),
    limits: isOn ? rows.flatMap((row) => row.partly?.(isOn, scope) ?? []) : [],
    defaults: scope.defaults,
  };
}

/** The values of a release with debug logs on or off; a key is removed if the chart default has the same value. Pure. @throws ExpectedError */
export function withDebug(given: Values, target: Target, isOn: boolean): DebugValues {
  const {entries, limits, defaults} = debugEntries(target, isOn);
  const keys = entries.map(([path]) => spellPath(path));
  const other = debugVariables(given)
    .map(spellPath)
    .find((key) => !keys.includes(key));
  if (other !== undefined)
    throw failed(
      'CONFLICTING_SETTINGS',
      `The release values set ${VARIABLE} in ${other}, which overrides ${keys.join(', ')}.`,
      [`Remove ${other} from the release values, then run this command again`],
    );
  if (isDebugOn(given, target) === isOn) return {values: given, keys, isChanged: false, limits};
  const values = entries.reduce((before, [path, value]) => {
    const fallback = getAt(defaults, path);
    const isDefault = !isOn && (fallback === undefined || sameTree(fallback, value));
    return isDefault
      ? withoutLeaves(before, (leaf) => startsWith(leaf, path))
      : withEntries(before, [[path, value]]);
  }, given);
  return {values, keys, isChanged: true, limits};
}

/** Whether the values enable debug logs; `--set` of Helm writes numbers, and the agent reads 1 and true alike. Pure. */
export function isDebugOn(given: Values, target: Target): boolean {
  const effective = effectiveValues(given, target);
  const paths = [
    ...debugEntries(target, true).entries.map(([path]) => path),
    ...debugVariables(given),
  ];
  return paths.some((path) => /^(1|true)$/i.test(String(getAt(effective, path))));
}

/** Every place of the variable in values: maps of variables, and lists as in a pod. */
function debugVariables(tree: Tree, path: Path = []): Path[] {
  if (Array.isArray(tree))
    return tree.flatMap((each) => (isMap(each) && each['name'] === VARIABLE ? [path] : []));
  if (!isMap(tree)) return [];
  return Object.entries(tree).flatMap(([key, below]) =>
    key === VARIABLE ? [[...path, key]] : debugVariables(below, [...path, key]),
  );
}
