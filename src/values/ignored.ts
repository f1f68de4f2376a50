import {CHARTS} from '../charts/charts.ts';
import type {IgnoredKey, Target} from '../charts/define.ts';
import {within} from '../charts/releases.ts';
import {scopeOf} from '../charts/support.ts';
import {at, getAt, sameTree, type Values} from '../charts/tree.ts';

/** The keys of these values that the version accepts and no template reads; `effective` are the values over its defaults. */
export function ignoredIn(values: Values, effective: Values, target: Target): IgnoredKey[] {
  const {defaults} = scopeOf(target, () => undefined);
  return CHARTS[target.chart].ignoredKeys.filter(
    ({in: range, path, unless}) =>
      within(target.version, range) &&
      getAt(values, at(path)) !== undefined &&
      !sameTree(getAt(effective, at(path)), getAt(defaults, at(path))) &&
      !unless?.(effective),
  );
}
