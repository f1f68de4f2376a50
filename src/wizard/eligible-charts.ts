import {CHARTS, chartFor} from '../charts/charts.ts';
import type {Target} from '../charts/define.ts';
import {type ChartRequirements, type Recommendation, recommend} from '../charts/recommend.ts';
import {within} from '../charts/releases.ts';
import {hasKey, needsNoRow, scopeOf} from '../charts/support.ts';
import {newestOf} from '../charts/target.ts';
import {ExpectedError} from '../ground/errors.ts';
import {InvalidValue, type Setting} from '../settings/define.ts';
import {concurrency, missingFor} from '../settings/purpose.ts';
import {chart, chartVersion} from '../settings/release.ts';
import {type Answer, Settings} from '../settings/settings.ts';
import {answerText} from '../ui/prompt-text.ts';
import {generate} from '../values/generate.ts';
import type {AnswerStore} from './answer-store.ts';
import {defaultOnHost, hostOf, isForeignOn, whyExcludedOn} from './host-steps.ts';
import {chartsWith, refusalInWords} from './in-words.ts';

/** The answers as they are: incomplete, and not validated against each other. */
export const unsettled = (store: AnswerStore): Settings =>
  new Settings(new Map(store.entries().map(({setting, answer}) => [setting.id, answer])));

/** The recommendation for the answers so far, a selected chart left out; undefined if no chart supports them. */
export function recommendSoFar(store: AnswerStore, facts: ChartRequirements): Recommendation | undefined {
  const answers = new Map(store.entries().flatMap(({setting, answer}) => (setting === chart ? [] : [[setting.id, answer] as const])));
  try {
    return recommend(new Settings(answers), facts);
  } catch (error) {
    if (error instanceof ExpectedError) return undefined;
    throw error;
  }
}

/** The selected chart, or the one that is recommended so far; undefined without Kubernetes. */
export function likelyTarget(store: AnswerStore, facts: ChartRequirements): Target | undefined {
  if (hostOf(store) !== undefined) return undefined;
  const name = store.get(chart) ?? recommendSoFar(store, facts)?.chart;
  if (name === undefined) return undefined;
  return store.readChart?.chart === name ? store.readChart : {chart: name, version: store.get(chartVersion) ?? newestOf(name)};
}

/** Why no chart that is left supports this value; undefined if one does. A chart that was selected by prompt can still be changed. */
export function whyExcluded(setting: Setting, value: unknown, store: AnswerStore, facts: ChartRequirements): string | undefined {
  const host = hostOf(store);
  if (host !== undefined) return whyExcludedOn(host, setting, value, store);
  const answer: Answer = {value, source: 'prompt'};
  const before = unsettled(store);
  const reasons = eligibleCharts(store, facts)
    .map((name) => before.with(chart, {value: name, source: 'prompt'}))
    .filter((settings) => failureOf(settings) === undefined)
    .map((settings) => failureOf(withoutUseless(settings.with(setting, answer))));
  if (!reasons.every((each) => each !== undefined)) return undefined;
  // A chart that supports the setting gives the better reason.
  const reason = reasons.find((each) => !each.includes(' does not support ')) ?? reasons[0];
  if (reason === undefined) return undefined;
  const able = reason.includes(' does not support ') ? chartsWith(setting, before.with(setting, answer)) : [];
  return able.length > 0 ? `only with ${able.join(' and ')}` : refusalInWords(reason);
}

/** Without prompted answers that the change leaves without effect. */
const withoutUseless = (settings: Settings): Settings =>
  new Settings(
    new Map(
      settings
        .entries()
        .filter(({setting, answer}) => answer.source !== 'prompt' || missingFor(setting, settings.get) === undefined)
        .map(({setting, answer}) => [setting.id, answer]),
    ),
  );

function eligibleCharts(store: AnswerStore, facts: ChartRequirements): string[] {
  if (store.isFixed(chart)) return [String(store.get(chart))];
  const found = recommendSoFar(store, facts);
  if (found === undefined) return [];
  return [
    found.chart,
    ...found.rejected.filter(({reasons}) => reasons.every(({verdict}) => verdict !== 'excluded')).map((each) => each.chart),
  ];
}

/** The error with which these settings give no values. */
function failureOf(settings: Settings): string | undefined {
  try {
    generate(settings);
    return undefined;
  } catch (error) {
    if (error instanceof ExpectedError || error instanceof InvalidValue) return error.message;
    throw error;
  }
}

/** What the likely chart, or an agent on this machine, does without an answer; undefined if it has no value. */
export function chartDefaultOf(setting: Setting, store: AnswerStore, facts: ChartRequirements): unknown {
  if (hostOf(store) !== undefined) return defaultOnHost(setting, store);
  const target = likelyTarget(store, facts);
  if (target === undefined) return undefined;
  const {rows, defaults} = chartFor(target);
  const scope = scopeOf(target, store.get);
  const derived = defaults
    .filter((each) => each.setting === setting && within(target.version, each.in))
    .map(({value}) => value(store.get)?.value);
  const read = rows
    .filter((row) => row.setting === setting && within(target.version, row.in) && (row.when?.(store.get) ?? true))
    .map((row) => row.read(scope.defaults, scope));
  return [...derived, ...read].find((each) => each !== undefined);
}

/** The same as text with its source: "20Gi (chart default)". */
export function defaultText(setting: Setting, store: AnswerStore, facts: ChartRequirements): string | undefined {
  const value = chartDefaultOf(setting, store, facts);
  return value === undefined ? undefined : `${answerText(setting, {value, source: 'chart'})} (${defaultWord(store)})`;
}

/** Whose default an empty answer leaves in force. */
export const defaultWord = (store: Pick<AnswerStore, 'place'>): string => (hostOf(store) === undefined ? 'chart default' : 'default');

/** True if a number limits the concurrent runs: agent-job and agent-k8s start a pod for every run. */
export function limitsRuns(store: AnswerStore, facts: ChartRequirements): boolean {
  const target = likelyTarget(store, facts);
  return target === undefined || hasKey(target, concurrency);
}

/** True if the selected chart, or an agent on this machine, supports no value of the setting. */
export function isForeign(setting: Setting, store: AnswerStore): boolean {
  const host = hostOf(store);
  if (host !== undefined) return isForeignOn(host, setting, store);
  const name = store.get(chart);
  if (name === undefined || needsNoRow(setting)) return false;
  const version = store.get(chartVersion) ?? newestOf(name);
  const written = setting.carriedBy?.() ?? setting;
  return !CHARTS[name].rows.some((row) => row.setting === written && within(version, row.in));
}
