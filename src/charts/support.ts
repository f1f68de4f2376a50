import {type Setting, spell} from '../settings/define.ts';
import {set} from '../settings/escape-hatch.ts';
import type {Settings} from '../settings/settings.ts';
import type {Chart, Row, Scope, Target} from './define.ts';
import {CHARTS} from './index.ts';
import {rangeOf, within} from './releases.ts';
import {chartSchema, defaultsOf} from './schema.ts';

export const scopeOf = ({chart, version}: Target, get: Scope['get']): Scope => ({
  get,
  version,
  defaults: defaultsOf(chartSchema(chart), version),
});

/** The rows that can write this value of the setting here; none means that the chart has no place for it. */
export function rowsFor(chart: Chart, setting: Setting, value: unknown, scope: Scope): Row[] {
  return chart.rows.filter(
    (row) =>
      row.setting === setting && within(scope.version, row.in) && (row.when?.(scope.get) ?? true) && (row.accepts?.(value, scope) ?? true),
  );
}

/** Settings that are about the release or written without rows. */
export const needsNoRow = (setting: Setting): boolean => setting.group === 'Release' || setting.id === set.id;

/** True when the chart version has a place for what the setting says. */
export function takes(chart: Chart, setting: Setting, settings: Settings, scope: Scope): boolean {
  if (needsNoRow(setting)) return true;
  const written = setting.carriedBy?.() ?? setting;
  return rowsFor(chart, written, settings.get(written), scope).length > 0;
}

/** One setting a chart version cannot take, and what can. */
export interface Unsupported {
  setting: Setting;
  message: string;
  suggestions: string[];
}

/** Every explicit setting that the chart version has no place for. */
export function unsupported(target: Target, settings: Settings): Unsupported[] {
  const chart = CHARTS[target.chart];
  const scope = scopeOf(target, settings.get);
  return settings
    .entries()
    .filter(({setting}) => settings.isExplicit(setting) && !takes(chart, setting, settings, scope))
    .map(({setting}) => {
      const asked = spellWithValue(setting, settings);
      const written = setting.carriedBy?.() ?? setting;
      const reason = chart.refusals.find((each) => each.setting === written && within(target.version, each.in))?.reason;
      return {
        setting,
        message: `${target.chart} ${target.version} cannot take ${asked}${reason ? `: ${reason}` : ''}`,
        suggestions: [...whereElse(setting, settings), `Leave out ${spell(setting)}`],
      };
    });
}

/** A choice is named with its value, because another value may be fine. */
function spellWithValue(setting: Setting, settings: Settings): string {
  const value = settings.get(setting);
  if (setting.kind.isSwitch) return value === false ? `--no-${setting.id}` : `--${setting.id}`;
  return setting.kind.options ? `${spell(setting)} ${setting.kind.format(value)[0]}` : spell(setting);
}

/** Which versions of which charts can, in words. */
function whereElse(setting: Setting, settings: Settings): string[] {
  return Object.values(CHARTS).flatMap((chart) => {
    const all = chartSchema(chart.name)['x-releases'].map(({version}) => version);
    const able = all.filter((version) => takes(chart, setting, settings, scopeOf({chart: chart.name, version}, settings.get)));
    return able.length === 0 ? [] : [`${chart.name} can: ${describeRange(rangeOf(able, all))}`];
  });
}

const describeRange = (range: string): string =>
  range
    .split(' || ')
    .map((run) =>
      run === '*'
        ? 'every supported version'
        : run
            .replace(/^>=(.*)/, 'since $1')
            .replace(/^<=(.*)/, 'up to $1')
            .replace(' - ', ' to '),
    )
    .join(', ');
