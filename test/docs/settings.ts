import {CHARTS} from '../../src/charts/charts.ts';
import {within} from '../../src/charts/releases.ts';
import {needsNoRow} from '../../src/charts/support.ts';
import {newestOf} from '../../src/charts/target.ts';
import {catalogue} from '../../src/settings/catalogue.ts';
import type {Setting} from '../../src/settings/define.ts';
import {CHART_NAMES} from '../support/versions.ts';

/** Every setting that is a flag. */
export const settings = catalogue.filter(({onlyEnv}) => onlyEnv === undefined);

export const spelled = ({id, kind}: Setting): string => (kind.isSwitch ? `\`--[no-]${id}\`` : `\`--${id} ${kind.hint}\``);

/** The charts whose newest version has a place for the setting. */
export function takenBy(setting: Setting): string {
  if (needsNoRow(setting)) return 'all';
  const written = setting.carriedBy?.() ?? setting;
  const names = CHART_NAMES.filter((name) => CHARTS[name].rows.some((row) => row.setting === written && within(newestOf(name), row.in)));
  return names.length === CHART_NAMES.length ? 'all' : names.map((name) => name.replace('agent-', '')).join(', ');
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
