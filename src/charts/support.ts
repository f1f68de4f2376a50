import {type Setting, spell} from '../settings/define.ts';
import {set, valuesFile} from '../settings/escape-hatch.ts';
import type {Settings} from '../settings/settings.ts';
import {CHARTS} from './charts.ts';
import type {Chart, Row, Scope, Target} from './define.ts';
import {describeRange, oncePerVersion, rangeOf, within} from './releases.ts';
import {chartSchema, defaultsOf, schemaOf} from './schema.ts';

const shipped = oncePerVersion(defaultsOf);

export const scopeOf = (target: Target, get: Scope['get']): Scope => ({
  get,
  version: target.version,
  defaults: shipped(schemaOf(target), target.version),
});

/** The rows that write this value; empty if the chart does not support it. */
export function rowsFor(chart: Chart, setting: Setting, value: unknown, scope: Scope): Row[] {
  return chart.rows.filter(
    (row) =>
      row.setting === setting && within(scope.version, row.in) && (row.when?.(scope.get) ?? true) && (row.accepts?.(value, scope) ?? true),
  );
}

/** Settings of the release, and settings that are written without rows. */
export const needsNoRow = (setting: Setting): boolean =>
  setting.group === 'Release' || setting.id === set.id || setting.id === valuesFile.id;

/** True if the chart version has a key for the setting. */
export const hasKey = <T>({chart, version}: Target, setting: Setting<T>): boolean =>
  CHARTS[chart].rows.some((row) => row.setting.id === setting.id && within(version, row.in) && row.paths.length > 0);

/** True if the chart version supports the value of the setting. */
export function takes(chart: Chart, setting: Setting, settings: Settings, scope: Scope): boolean {
  if (needsNoRow(setting)) return true;
  const written = setting.carriedBy?.() ?? setting;
  return rowsFor(chart, written, settings.get(written), scope).length > 0;
}

/** An unsupported setting, and the reason. */
export interface Unsupported {
  setting: Setting;
  /** As the user typed it. */
  flag: string;
  message: string;
}

/** Every explicit setting that the chart version does not support. */
export function unsupported(target: Target, settings: Settings): Unsupported[] {
  const chart = CHARTS[target.chart];
  const scope = scopeOf(target, settings.get);
  return settings
    .entries()
    .filter(({setting}) => settings.isExplicit(setting) && !takes(chart, setting, settings, scope))
    .map(({setting}) => {
      const written = setting.carriedBy?.() ?? setting;
      const reason = whyRefused(target, written, settings.get(written));
      const flag = spellWithValue(setting, settings);
      return {setting, flag, message: `${target.chart} ${target.version} does not support ${flag}${reason ? `: ${reason}` : ''}`};
    });
}

/** The reason, if known. */
export const whyRefused = ({chart, version}: Target, setting: Setting, value: unknown): string | undefined =>
  CHARTS[chart].refusals.find(
    (each) => each.setting === setting && within(version, each.in) && (each.of === undefined || each.of === value),
  )?.reason;

/** A choice is shown with its value, because other values may be supported. */
function spellWithValue(setting: Setting, settings: Settings): string {
  const value = settings.get(setting);
  if (setting.kind.isSwitch) return value === false ? `--no-${setting.id}` : `--${setting.id}`;
  return setting.kind.options ? `${spell(setting)} ${setting.kind.format(value)[0]}` : spell(setting);
}

/** Next steps: chart versions that support all settings, or at least the unsupported ones. */
export function suggestCharts(refused: readonly Setting[], settings: Settings): string[] {
  const explicit = settings.entries().flatMap(({setting}) => (settings.isExplicit(setting) ? [setting] : []));
  const withAll = chartsThatTake(explicit, settings);
  if (withAll.length > 0) return withAll.map(({chart, range}) => `Use --chart ${chart}, which supports it (${range})`);
  return chartsThatTake(refused, settings).map(({chart, range}) => `${chart} supports it (${range}), but not all other settings`);
}

function chartsThatTake(wanted: readonly Setting[], settings: Settings): {chart: string; range: string}[] {
  return Object.values(CHARTS).flatMap((chart) => {
    const all = chartSchema(chart.name)['x-releases'].map(({version}) => version);
    const able = all.filter((version) => {
      const scope = scopeOf({chart: chart.name, version}, settings.get);
      return wanted.every((setting) => takes(chart, setting, settings, scope));
    });
    return able.length === 0 ? [] : [{chart: chart.name, range: describeRange(rangeOf(able, all))}];
  });
}
