import {CHARTS} from '../charts/charts.ts';
import type {Target} from '../charts/define.ts';
import {type ChartRequirements, type Recommendation, recommend} from '../charts/recommend.ts';
import {within} from '../charts/releases.ts';
import {needsNoRow, scopeOf} from '../charts/support.ts';
import {newestOf} from '../charts/target.ts';
import {ExpectedError} from '../ground/errors.ts';
import {InvalidValue, type Setting} from '../settings/define.ts';
import {missingFor} from '../settings/purpose.ts';
import {chart, chartVersion} from '../settings/release.ts';
import {type Answer, Settings} from '../settings/settings.ts';
import {answerText} from '../ui/prompt-text.ts';
import {generate} from '../values/generate.ts';
import type {AnswerStore} from './answer-store.ts';
import {hostOf, isForeignOn, whyExcludedOn} from './host-steps.ts';
import {CHART_DEFAULT} from './steps.ts';

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
  return name === undefined ? undefined : {chart: name, version: store.get(chartVersion) ?? newestOf(name)};
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
  return reason && shortened(reason);
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

/** The reason without the flag, which the user did not type: "agent-local 0.6.5: the cache must be a PVC" */
const shortened = (message: string): string =>
  (message.split(/\.?\n|; /)[0] as string).replace(/ does not support --[^:]*: /, ': ').replace(/\.$/, '');

/** The chart default with its value; undefined if the likely chart has no value for the setting. */
export function chartDefaultOf(setting: Setting, store: AnswerStore, facts: ChartRequirements): string | undefined {
  if (hostOf(store) !== undefined) return 'Default';
  const target = likelyTarget(store, facts);
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
