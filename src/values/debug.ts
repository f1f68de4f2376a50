import {chartFor} from '../charts/charts.ts';
import type {Target} from '../charts/define.ts';
import {rowsFor, scopeOf} from '../charts/support.ts';
import {type ExpectedError, failed} from '../ground/errors.ts';
import {
  copyOf,
  getAt,
  isMap,
  type Path,
  sameTree,
  setAt,
  spellPath,
  startsWith,
  type Tree,
  type Values,
  withoutLeaves,
} from '../ground/tree.ts';
import {debug} from '../settings/agent.ts';
import {effectiveValues} from './read-values.ts';

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

/** The values of a release with debug logs on or off; a key is removed if the chart default has the same value. Pure. @throws ExpectedError */
export function withDebug(given: Values, target: Target, isOn: boolean): DebugValues {
  const scope = scopeOf(target, () => undefined);
  const rows = rowsFor(chartFor(target), debug, isOn, scope);
  const entries = rows.flatMap((row) => row.write(isOn, scope));
  const keys = entries.map(([path]) => spellPath(path));
  const other = debugVariables(given)
    .map((path) => spellPath(path))
    .find((key) => !keys.includes(key));
  if (other !== undefined) throw conflicting(other, keys);
  const isDone = isDebugOn(given, target) === isOn;
  const values = entries.reduce((before, [path, value]) => {
    const fallback = getAt(scope.defaults, path);
    if (!isOn && (fallback === undefined || sameTree(fallback, value))) return withoutLeaves(before, (leaf) => startsWith(leaf, path));
    const changed = copyOf(before);
    setAt(changed, path, value);
    return changed;
  }, given);
  return {
    values: isDone ? given : values,
    keys,
    isChanged: !isDone,
    limits: isOn ? rows.flatMap((row) => row.partly?.(isOn, scope) ?? []) : [],
  };
}

/** Whether the values enable debug logs; `--set` of Helm writes numbers, and the agent reads 1 and true alike. Pure. */
export function isDebugOn(given: Values, target: Target): boolean {
  const scope = scopeOf(target, () => undefined);
  const entries = rowsFor(chartFor(target), debug, true, scope).flatMap((row) => row.write(true, scope));
  const effective = effectiveValues(given, target);
  return [...entries.map(([path]) => path), ...debugVariables(given)].some((path) => /^(1|true)$/i.test(String(getAt(effective, path))));
}

/** Every place of the variable in values: maps of variables, and lists as in a pod. */
function debugVariables(tree: Tree, path: Path = []): Path[] {
  if (Array.isArray(tree)) return tree.flatMap((each) => (isMap(each) && each['name'] === VARIABLE ? [path] : []));
  if (!isMap(tree)) return [];
  return Object.entries(tree).flatMap(([key, below]) => (key === VARIABLE ? [[...path, key]] : debugVariables(below, [...path, key])));
}

const conflicting = (other: string, keys: readonly string[]): ExpectedError =>
  failed('CONFLICTING_SETTINGS', `The release values set ${VARIABLE} in ${other}, which overrides ${keys.join(', ')}.`, [
    `Remove ${other} from the release values, then run this command again`,
  ]);
