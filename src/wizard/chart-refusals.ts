import {CHARTS} from '../charts/charts.ts';
import type {Target} from '../charts/define.ts';
import {within} from '../charts/releases.ts';
import {needsNoRow, rowsFor, scopeOf, whyRefused} from '../charts/support.ts';
import {newestOf} from '../charts/target.ts';
import type {Setting} from '../settings/define.ts';
import {chart, chartVersion} from '../settings/release.ts';
import {answerText} from '../ui/conversation.ts';
import type {AnswerStore} from './answer-store.ts';

/** The selected chart, if any. */
export function chosenTarget({get}: Pick<AnswerStore, 'get'>): Target | undefined {
  const name = get(chart);
  return name === undefined ? undefined : {chart: name, version: get(chartVersion) ?? newestOf(name)};
}

/** Why the selected chart does not support this value; undefined if it does or no chart is selected. */
export function refusalOf(setting: Setting, value: unknown, store: AnswerStore): string | undefined {
  const target = chosenTarget(store);
  if (target === undefined || needsNoRow(setting) || setting.carriedBy !== undefined) return undefined;
  const get: AnswerStore['get'] = (other) => (other === setting ? (value as never) : store.get(other));
  if (rowsFor(CHARTS[target.chart], setting, value, scopeOf(target, get)).length > 0) return undefined;
  const reason = whyRefused(target, setting, value);
  return `not supported by ${target.chart} ${target.version}${reason === undefined ? '' : `: ${reason}`}`;
}

export const CHART_DEFAULT = 'Chart default';

/** The chart default with its value; undefined if no chart is selected or it has no value for the setting. */
export function chartDefaultOf(setting: Setting, store: AnswerStore): string | undefined {
  const target = chosenTarget(store);
  if (target === undefined) return undefined;
  const {rows, defaults} = CHARTS[target.chart];
  const scope = scopeOf(target, store.get);
  const derived = defaults
    .filter((each) => each.setting === setting && within(target.version, each.in))
    .map(({value}) => value(store.get)?.value);
  const read = rows
    .filter((row) => row.setting === setting && within(target.version, row.in) && (row.when?.(store.get) ?? true))
    .map((row) => row.read(scope.defaults, scope));
  const value = [...derived, ...read].find((each) => each !== undefined);
  return value === undefined ? undefined : `${CHART_DEFAULT} (${answerText(setting, {value, source: 'chart'})})`;
}

/** True if the selected chart supports no value of the setting. */
export function isForeign(setting: Setting, store: AnswerStore): boolean {
  const target = chosenTarget(store);
  if (target === undefined || needsNoRow(setting)) return false;
  const written = setting.carriedBy?.() ?? setting;
  return !CHARTS[target.chart].rows.some((row) => row.setting === written && within(target.version, row.in));
}
