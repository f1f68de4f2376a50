import {chartFor} from '../../src/charts/chart-version.ts';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {newestOf} from '../../src/charts/releases/target.ts';
import type {Row} from '../../src/charts/shared/row.ts';
import {isWrittenWithoutRow} from '../../src/charts/shared/support.ts';
import {scopeOf} from '../../src/charts/support.ts';
import {catalog} from '../../src/settings/catalog.ts';
import type {Get, Setting} from '../../src/settings/define.ts';
import {CHART_NAMES} from '../support/versions.ts';

/** Every setting that is a flag. */
export const settings = catalog.filter(({onlyEnv}) => onlyEnv === undefined);

export const spelled = ({id, kind}: Setting): string =>
  kind.isSwitch ? `\`--[no-]${id}\`` : `\`--${id} ${kind.hint}\``;

const rowsOf = (chart: ChartName): readonly Row[] =>
  chartFor({chart, version: newestOf(chart)}).rows;

/** The charts whose newest version accepts the setting; a switch that must be off is not accepted. */
export function takenBy(setting: Setting): string {
  return isWrittenWithoutRow(setting) ? 'all' : shortly(chartsWith(setting));
}

function chartsWith(setting: Setting): ChartName[] {
  const {options = [undefined], isSwitch} = setting.kind;
  const values = isSwitch ? [true] : options;
  return CHART_NAMES.filter((name) => values.some((each) => accepts(name, setting, each)));
}

/** True if a row has a place for the value; other settings may be necessary. */
export function accepts(name: ChartName, setting: Setting, value: unknown): boolean {
  const written = setting.carriedBy?.() ?? setting;
  const scope = scopeOf({chart: name, version: newestOf(name)});
  return rowsOf(name).some(
    (row) =>
      row.setting === written && (value === undefined || (row.accepts?.(value, scope) ?? true)),
  );
}

/** The choices that only some of these charts accept, with their charts: `azure`: k8s, job. */
export function partlyTaken(setting: Setting): string[] {
  const {id, kind} = setting;
  const {options = []} = kind;
  if (isWrittenWithoutRow(setting)) return [];
  const choices = kind.isSwitch
    ? [{value: false, spelled: `\`--no-${id}\``}]
    : options.map((value) => ({value: value as unknown, spelled: `\`${value}\``}));
  const byCharts = new Map<string, string[]>();
  for (const {value, spelled} of choices) {
    const charts = shortly(chartsWith(setting).filter((name) => accepts(name, setting, value)));
    byCharts.set(charts, [...(byCharts.get(charts) ?? []), spelled]);
  }
  return [...byCharts]
    .filter(([charts]) => charts !== takenBy(setting))
    .map(([charts, options]) => `${options.join(', ')}: ${charts}`);
}

const shortly = (names: readonly ChartName[]): string =>
  names.length === CHART_NAMES.length
    ? 'all'
    : names.map((name) => name.replace('agent-', '')).join(', ');

/** The charts that take the setting and write nothing, although it is a key of others. */
export function withoutKey(setting: Setting): string {
  const rowsIn = (name: ChartName) =>
    rowsOf(name).filter((row) => row.setting === (setting.carriedBy?.() ?? setting));
  const isWritten = (name: ChartName): boolean => rowsIn(name).some(({paths}) => paths.length > 0);
  const isTaken = (name: ChartName): boolean =>
    rowsIn(name).length > 0 && (!setting.kind.isSwitch || accepts(name, setting, true));
  return CHART_NAMES.some(isWritten)
    ? shortly(CHART_NAMES.filter((name) => isTaken(name) && !isWritten(name)))
    : '';
}

/** What it is where nobody says anything; empty where the chart decides. */
export function defaultOf({kind, fallback, fallbackFrom}: Setting): string {
  if (fallbackFrom !== undefined) return fallbackFrom;
  const value = fallback?.(() => undefined);
  if (value === undefined) return '';
  if (kind.isSwitch) return value ? 'on' : 'off';
  const text = kind.format(value).join(', ');
  return text === '' ? '' : `\`${text}\``;
}

/** What the newest version of each chart uses without the setting; charts with the same value are listed together. */
export function chartDefaultsOf(setting: Setting): string {
  const byValue = new Map<string, ChartName[]>();
  for (const name of CHART_NAMES) {
    const text = chartDefault(setting, name);
    if (text !== '') byValue.set(text, [...(byValue.get(text) ?? []), name]);
  }
  const texts = [...byValue].map(([text, names]) =>
    byValue.size === 1 && names.length === CHART_NAMES.length
      ? text
      : `${text} (${shortly(names)})`,
  );
  return texts.join(', ');
}

function chartDefault(setting: Setting, chart: ChartName): string {
  const byDefault: Get = (other) => valueIn(other as Setting, chart, () => undefined) as never;
  const value = valueIn(setting, chart, byDefault);
  if (value === undefined) return '';
  if (setting.kind.isSwitch) return value ? 'on' : 'off';
  const text = setting.kind.format(value as never).join(', ');
  return text === '' ? '' : `\`${text}\``;
}

/** What the rows read from the defaults of the chart, where they apply. */
function valueIn(setting: Setting, chart: ChartName, get: Get): unknown {
  const scope = scopeOf({chart, version: newestOf(chart)}, get);
  return rowsOf(chart)
    .filter((row) => row.setting === setting && row.paths.length > 0 && (row.when?.(get) ?? true))
    .map((row) => row.read(scope.defaults, scope))
    .find((each) => each !== undefined);
}
