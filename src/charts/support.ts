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

/** The rows that can write this value of the setting here; none means that the chart has no place for it. */
export function rowsFor(chart: Chart, setting: Setting, value: unknown, scope: Scope): Row[] {
  return chart.rows.filter(
    (row) =>
      row.setting === setting && within(scope.version, row.in) && (row.when?.(scope.get) ?? true) && (row.accepts?.(value, scope) ?? true),
  );
}

/** Settings that are about the release or written without rows. */
export const needsNoRow = (setting: Setting): boolean =>
  setting.group === 'Release' || setting.id === set.id || setting.id === valuesFile.id;

/** True when the chart version has a place for what the setting says. */
export function takes(chart: Chart, setting: Setting, settings: Settings, scope: Scope): boolean {
  if (needsNoRow(setting)) return true;
  const written = setting.carriedBy?.() ?? setting;
  return rowsFor(chart, written, settings.get(written), scope).length > 0;
}

/** One setting a chart version cannot take, and why. */
export interface Unsupported {
  setting: Setting;
  /** As the operator gave it. */
  flag: string;
  message: string;
}

/** Every explicit setting that the chart version has no place for. */
export function unsupported(target: Target, settings: Settings): Unsupported[] {
  const chart = CHARTS[target.chart];
  const scope = scopeOf(target, settings.get);
  return settings
    .entries()
    .filter(({setting}) => settings.isExplicit(setting) && !takes(chart, setting, settings, scope))
    .map(({setting}) => {
      const written = setting.carriedBy?.() ?? setting;
      const reason = whyRefused(target, written, settings.get(written));
      const asked = spellWithValue(setting, settings);
      return {setting, flag: asked, message: `${target.chart} ${target.version} cannot take ${asked}${reason ? `: ${reason}` : ''}`};
    });
}

/** The reason where one is known. */
export const whyRefused = ({chart, version}: Target, setting: Setting, value: unknown): string | undefined =>
  CHARTS[chart].refusals.find(
    (each) => each.setting === setting && within(version, each.in) && (each.of === undefined || each.of === value),
  )?.reason;

/** A choice is named with its value, because another value may be fine. */
function spellWithValue(setting: Setting, settings: Settings): string {
  const value = settings.get(setting);
  if (setting.kind.isSwitch) return value === false ? `--no-${setting.id}` : `--${setting.id}`;
  return setting.kind.options ? `${spell(setting)} ${setting.kind.format(value)[0]}` : spell(setting);
}

/** Which versions of which charts can take everything that was asked for, or at least what was refused; as next steps. */
export function suggestCharts(refused: readonly Setting[], settings: Settings): string[] {
  const explicit = settings.entries().flatMap(({setting}) => (settings.isExplicit(setting) ? [setting] : []));
  const withAll = chartsThatTake(explicit, settings);
  if (withAll.length > 0) return withAll.map(({chart, range}) => `Use --chart ${chart}, which can (${range})`);
  return chartsThatTake(refused, settings).map(({chart, range}) => `${chart} can (${range}), but not everything else that was asked for`);
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
