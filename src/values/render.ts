import {CHARTS} from '../charts/charts.ts';
import type {Entry, Row, Scope, Target} from '../charts/define.ts';
import {needsNoRow, rowsFor, scopeOf} from '../charts/support.ts';
import {getAt, type Path, sameTree, setAt, startsWith, type Values} from '../charts/tree.ts';
import type {Warning} from '../errors.ts';
import {InvalidValue, type Setting, spell} from '../settings/define.ts';
import {set} from '../settings/escape-hatch.ts';
import type {Settings} from '../settings/settings.ts';
import {withoutLargeNumbers} from './large-numbers.ts';
import {assignment} from './set-assignment.ts';

/** A key of values.yaml and the setting that wrote it. */
export interface Origin {
  path: Path;
  setting: Setting;
  /** What the setting itself does not explain. */
  why?: string;
}

export interface Rendered {
  values: Values;
  origins: readonly Origin[];
  warnings: readonly Warning[];
}

/**
 * Writes settings as values of one chart version: only what differs from the defaults of the chart.
 * Settings without a place must have been refused before. @throws InvalidValue for an assignment that cannot be meant
 */
export function renderValues(settings: Settings, target: Target): Rendered {
  const chart = CHARTS[target.chart];
  const scope = scopeOf(target, settings.get);
  const values: Values = {};
  const origins: Origin[] = [];
  const warnings: Warning[] = [];
  for (const {setting, answer} of settings.entries()) {
    if (needsNoRow(setting)) continue;
    for (const row of rowsFor(chart, setting, answer.value, scope)) {
      const entries = changes(row, answer.value, scope);
      for (const [path, value] of entries) setAt(values, path, value);
      origins.push(...entries.map(([path, , why]) => ({path, setting, ...(why === undefined ? {} : {why})})));
      const message = settings.isExplicit(setting) ? row.partly?.(answer.value, scope) : undefined;
      if (message !== undefined && !warnings.some((each) => each.message === message))
        warnings.push({code: 'PARTLY_SUPPORTED', setting: setting.id, message});
    }
  }
  for (const [text, value] of Object.entries(settings.get(set) ?? {})) {
    const assigned = assignment(text, value, target);
    refuseConflict(text, assigned.path, origins, settings);
    setAt(values, assigned.path, assigned.value);
    origins.push({path: assigned.path, setting: set as Setting});
  }
  return {values: withoutLargeNumbers(values, target), origins, warnings};
}

/** What the row writes beyond the chart's defaults; the same amount in another spelling is no change. */
function changes(row: Row, value: unknown, scope: Scope): readonly Entry[] {
  const entries = row.write(value, scope).filter(([path, tree]) => !sameTree(getAt(scope.defaults, path), tree));
  const isDefault = entries.length === 1 && sameTree(row.read(scope.defaults, scope), value);
  return isDefault ? [] : entries;
}

function refuseConflict(text: string, path: Path, origins: readonly Origin[], settings: Settings): void {
  const other = origins.find(
    (origin) => (startsWith(origin.path, path) || startsWith(path, origin.path)) && settings.isExplicit(origin.setting),
  );
  if (other) throw new InvalidValue(`"${text}" is already written by ${spell(other.setting)}`, 'Keep one of the two');
}
