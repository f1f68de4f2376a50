import {CHARTS} from '../charts/charts.ts';
import type {Target} from '../charts/define.ts';
import {within} from '../charts/releases.ts';
import {needsNoRow, rowsFor, scopeOf, whyRefused} from '../charts/support.ts';
import {newestOf} from '../charts/target.ts';
import type {Setting} from '../settings/define.ts';
import {chart, chartVersion} from '../settings/release.ts';
import type {AnswerStore} from './answer-store.ts';

/** The chart that was chosen, if one was. */
export function chosenTarget({get}: Pick<AnswerStore, 'get'>): Target | undefined {
  const name = get(chart);
  return name === undefined ? undefined : {chart: name, version: get(chartVersion) ?? newestOf(name)};
}

/** Why the chosen chart cannot take this value; undefined where it can or none is chosen yet. */
export function refusalOf(setting: Setting, value: unknown, store: AnswerStore): string | undefined {
  const target = chosenTarget(store);
  if (target === undefined || needsNoRow(setting) || setting.carriedBy !== undefined) return undefined;
  const get: AnswerStore['get'] = (other) => (other === setting ? (value as never) : store.get(other));
  if (rowsFor(CHARTS[target.chart], setting, value, scopeOf(target, get)).length > 0) return undefined;
  const reason = whyRefused(target, setting, value);
  return `not with ${target.chart} ${target.version}${reason === undefined ? '' : `: ${reason}`}`;
}

/** True where the chosen chart takes no value of it whatever. */
export function isForeign(setting: Setting, store: AnswerStore): boolean {
  const target = chosenTarget(store);
  if (target === undefined || needsNoRow(setting)) return false;
  const written = setting.carriedBy?.() ?? setting;
  return !CHARTS[target.chart].rows.some((row) => row.setting === written && within(target.version, row.in));
}
