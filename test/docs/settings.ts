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

/** The charts whose newest version has a place for the setting. */
export function takenBy(setting: Setting): string {
  if (isWrittenWithoutRow(setting)) return 'all';
  const written = setting.carriedBy?.() ?? setting;
  const names = CHART_NAMES.filter((name) =>
    rowsOf(name).some(({setting: each}) => each === written),
  );
  return names.length === CHART_NAMES.length ? 'all' : shortly(names);
}

const shortly = (names: readonly string[]): string =>
  names.map((name) => name.replace('agent-', '')).join(', ');

/** The charts that take the setting and write nothing, although it is a key of others. */
export function withoutKey(setting: Setting): string {
  const rowsIn = (name: ChartName) =>
    rowsOf(name).filter((row) => row.setting === (setting.carriedBy?.() ?? setting));
  const isWritten = (name: ChartName): boolean => rowsIn(name).some(({paths}) => paths.length > 0);
  return CHART_NAMES.some(isWritten)
    ? shortly(CHART_NAMES.filter((name) => rowsIn(name).length > 0 && !isWritten(name)))
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
