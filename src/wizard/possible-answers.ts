import {ChartVersion, chartFor} from '../charts/chart-version.ts';
import {CHARTS} from '../charts/charts.ts';
import {HOSTS, type HostTarget} from '../charts/host/host.ts';
import {RUNS_PER_AGENT} from '../charts/host/rows.ts';
import {type ChartRequirements, type Recommendation, recommend} from '../charts/recommend.ts';
import type {ChartName} from '../charts/releases/chart-name.ts';
import type {Target} from '../charts/releases/target.ts';
import {newestOf} from '../charts/releases/target.ts';
import {isWrittenWithoutRow} from '../charts/shared/support.ts';
import {hasKey, scopeOf, supports, unsupported} from '../charts/support.ts';
import {hostAgent} from '../extensions/machine/agent.ts';
import {ExpectedError} from '../ground/errors.ts';
import {lowerFirst} from '../ground/text.ts';
import {token} from '../settings/agent.ts';
import {cache, cachePath} from '../settings/cache.ts';
import {type Setting, settingName} from '../settings/define.ts';
import {noProxy} from '../settings/network.ts';
import {concurrency, isolation, missingFor, purpose} from '../settings/purpose.ts';
import {chart, chartVersion} from '../settings/release.ts';
import {type Answer, Settings} from '../settings/settings.ts';
import {spellAsQuestion} from '../settings/spelling.ts';
import {generate} from '../values/generate.ts';
import type {Answers} from './answers.ts';
import {hostOf} from './place.ts';
import type {WizardState} from './wizard-state.ts';

/** The recommendation for the answers so far, a selected chart left out; undefined if no chart supports them. */
export function recommendSoFar(
  state: WizardState,
  facts: ChartRequirements,
): Recommendation | undefined {
  try {
    return recommend(state.answers.without(chart).unchecked(), facts, state.versions);
  } catch (error) {
    if (error instanceof ExpectedError) return undefined;
    throw error;
  }
}

/** The selected chart, or the one that is recommended so far; undefined without Kubernetes. */
export function likelyTarget(state: WizardState, facts: ChartRequirements): Target | undefined {
  if (hostOf(state) !== undefined) return undefined;
  const name = state.answers.get(chart) ?? recommendSoFar(state, facts)?.chart;
  return name === undefined ? undefined : versionOf(name, state);
}

/** The version of a chart that would be installed. */
function versionOf(name: ChartName, {answers, readChart, versions}: WizardState): Target {
  if (readChart?.chart === name) return readChart;
  const version = answers.get(chartVersion) ?? newestOf(name);
  return (
    versions?.find((each) => each.chart === name && each.version === version) ??
    new ChartVersion({chart: name, version})
  );
}

/** Why the chosen chart, or no chart that is left, supports this value; undefined if one does. */
export function whyExcluded(
  setting: Setting,
  value: unknown,
  state: WizardState,
  facts: ChartRequirements,
): string | undefined {
  const host = hostOf(state);
  if (host !== undefined) return whyExcludedOn(host, setting, value, state);
  const chosen = state.answers.get(chart);
  // An answer must not exclude its alternatives.
  const before = withoutAnswer(setting, state);
  const charts = chosen === undefined ? eligibleCharts(before, facts) : [chosen];
  return whyExcludedBy(charts, setting, value, before);
}

/** Why a chart cannot be installed with some settings. */
interface Exclusion {
  /** Begins in lower case, and without a full stop. */
  reason: string;
  /** The chart has no key for a setting. */
  isUnsupported: boolean;
}

function whyExcludedBy(
  charts: readonly ChartName[],
  setting: Setting,
  value: unknown,
  before: WizardState,
): string | undefined {
  const answer: Answer = {value, source: 'prompt'};
  const exclusions = charts
    .map((name) => ({
      answers: before.answers.with(chart, {value: name, source: 'prompt'}),
      target: versionOf(name, before),
    }))
    .filter(({answers, target}) => exclusionOf(answers, target) === undefined)
    .map(({answers, target}) => exclusionOf(withoutUseless(answers.with(setting, answer)), target));
  if (!exclusions.every((each) => each !== undefined)) return undefined;
  // A chart that supports the setting gives the better reason.
  const exclusion = exclusions.find((each) => !each.isUnsupported) ?? exclusions[0];
  if (exclusion === undefined) return undefined;
  const {answers} = before;
  const able = exclusion.isUnsupported
    ? chartsWith(setting, answers.with(setting, answer).unchecked())
    : [];
  return able.length > 0 ? onlyWith(able, answers.unchecked()) : exclusion.reason;
}

/** The charts that support a value, and the answers that exclude them. */
function onlyWith(charts: readonly ChartName[], settings: Settings): string {
  const obstacles = charts.flatMap((chart) =>
    unsupported({chart, version: newestOf(chart)}, settings),
  );
  const names = [...new Set(obstacles.map(({setting}) => settingName(setting)))].join(' and ');
  return `only with ${charts.join(' and ')}${names === '' ? '' : `, which your answer for ${names} excludes`}`;
}

/** Also without answers that depend on it, because the setting falls back to what they imply. */
function withoutAnswer(setting: Setting, state: WizardState): WizardState {
  const {answers} = state;
  const others = (setting.kind.options ?? []).map((value) =>
    answers.with(setting, {value, source: 'prompt'}),
  );
  const dependent = others.flatMap((each) => uselessIn(each)).filter((each) => each !== setting);
  const left = [setting, ...dependent].reduce((all, each) => all.without(each), answers);
  return {...state, answers: left};
}

/** The answers without which another chart would be recommended. */
export function answersForChart(state: WizardState, facts: ChartRequirements): Setting[] {
  if (state.answers.answer(chart) !== undefined) return [];
  const name = recommendSoFar(state, facts)?.chart;
  return state.answers
    .entries()
    .filter(({answer}) => answer.source === 'prompt')
    .map(({setting}) => setting)
    .filter((each) => recommendSoFar(withoutAnswer(each, state), facts)?.chart !== name);
}

/** Settings with a prompted answer that has no effect. */
const uselessIn = (answers: Answers): Setting[] =>
  answers
    .entries()
    .filter(
      ({setting, answer}) =>
        answer.source === 'prompt' && missingFor(setting, answers.get) !== undefined,
    )
    .map(({setting}) => setting);

const withoutUseless = (answers: Answers): Answers =>
  uselessIn(answers).reduce((left, setting) => left.without(setting), answers);

function eligibleCharts(state: WizardState, facts: ChartRequirements): ChartName[] {
  const found = recommendSoFar(state, facts);
  if (found === undefined) return [];
  return [
    found.chart,
    ...found.rejected
      .filter(({reasons}) => reasons.every(({verdict}) => verdict !== 'excluded'))
      .map((each) => each.chart),
  ];
}

/** Why these settings give no values. */
function exclusionOf(answers: Answers, target: Target): Exclusion | undefined {
  const settings = answers.unchecked();
  // To generate values would also find the charts that support them.
  const [refused] = unsupported(target, settings);
  if (refused !== undefined) return {reason: refused.reason, isUnsupported: true};
  try {
    generate(settings, {spell: spellAsQuestion}, target);
    return undefined;
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    const {message} = error.problems[0] ?? error;
    return {reason: lowerFirst(message.replace(/\.$/, '')), isUnsupported: false};
  }
}

/** What the likely chart, or an agent on this machine, does without an answer; undefined if it has no value. */
export function chartDefaultOf(
  setting: Setting,
  state: WizardState,
  facts: ChartRequirements,
): unknown {
  if (hostOf(state) !== undefined) return defaultOnHost(setting, state);
  const target = likelyTarget(state, facts);
  if (target === undefined) return undefined;
  const {rows, defaults} = chartFor(target);
  const scope = scopeOf(target, state.answers.get);
  const derived = defaults
    .filter((each) => each.setting === setting)
    .map(({value}) => value(state.answers.get)?.value);
  const read = rows
    .filter((row) => row.setting === setting && (row.when?.(state.answers.get) ?? true))
    .map((row) => row.read(scope.defaults, scope));
  return [...derived, ...read].find((each) => each !== undefined);
}

/** Whose default an empty answer leaves in force. */
export const defaultWord = (state: Pick<WizardState, 'place'>): string =>
  hostOf(state) === undefined ? 'chart default' : 'default';

/** True if a number limits the concurrent runs: agent-job and agent-k8s start a pod for every run. */
export function limitsRuns(state: WizardState, facts: ChartRequirements): boolean {
  const target = likelyTarget(state, facts);
  return target === undefined || hasKey(target, concurrency);
}

/** True if the selected chart, or an agent on this machine, supports no value of the setting. */
export function isForeign(setting: Setting, state: WizardState): boolean {
  const host = hostOf(state);
  if (host !== undefined) {
    const hasRow = HOSTS[host].rows.some(
      (row) => row.setting === setting && (row.when?.(state.answers.get) ?? true),
    );
    return (host === 'systemd' && setting.id === isolation.id) || !hasRow;
  }
  const name = state.answers.get(chart);
  if (name === undefined || isWrittenWithoutRow(setting)) return false;
  const written = setting.carriedBy?.() ?? setting;
  return !chartFor(versionOf(name, state)).rows.some((row) => row.setting === written);
}

/** Why an agent on this machine does not support a value. */
function whyExcludedOn(
  target: HostTarget,
  setting: Setting,
  value: unknown,
  state: WizardState,
): string | undefined {
  // Other answers that are excluded are reported by the review.
  const decisive = state.answers
    .entries()
    .filter((each) => each.setting === purpose || each.setting === (isolation as Setting));
  const answers = decisive.map((each) => [each.setting.id, each.answer] as const);
  try {
    hostAgent(new Settings(new Map([...answers, [setting.id, {value, source: 'prompt'}]])), target);
    return undefined;
  } catch (error) {
    if (error instanceof ExpectedError) return error.message;
    throw error;
  }
}

/** Meaning of an empty answer, and the preselected choice. */
export function emptyOnHost(setting: Setting): {orElse?: string | undefined; suggested?: string} {
  if (setting === (token as Setting)) return {orElse: 'Enter: add it to agent.env later'};
  if (setting === (noProxy as Setting)) return {orElse: 'local addresses only'};
  return setting === (isolation as Setting) ? {orElse: undefined, suggested: 'per-run'} : {};
}

/** What an agent on this machine does without an answer; undefined if it depends on more. */
function defaultOnHost({id}: Setting, {answers, place}: WizardState): unknown {
  const isShared = place?.kind === 'docker' && answers.get(isolation) === 'shared';
  if (id === concurrency.id) return isShared ? 1 : RUNS_PER_AGENT;
  if (id !== cache.id) return undefined;
  return isShared ? 'ephemeral' : 'hostpath';
}

type Words = Partial<Pick<Setting, 'question' | 'labels' | 'meanings'>>;

const ON_HOST = new Map<Setting, Words>([
  [
    isolation as Setting,
    {
      question: 'Isolate each run in its own container?',
      meanings: {
        shared: 'runs execute in the agent container, one at a time',
        'per-run': 'each run gets its own container; requires the Docker socket',
      },
    },
  ],
  [
    cache as Setting,
    {
      labels: {hostpath: 'Directory on this machine', ephemeral: 'In the container'},
      meanings: {hostpath: 'outlives the agent container', ephemeral: 'deleted with the container'},
    },
  ],
  [cachePath as Setting, {question: 'Cache directory on this machine'}],
]);

export function hostWording(state: WizardState, setting: Setting): Setting {
  const words = hostOf(state) === undefined ? undefined : ON_HOST.get(setting);
  return words === undefined ? setting : {...setting, ...words};
}

/** The charts whose newest version supports the setting. */
const chartsWith = (setting: Setting, settings: Settings): ChartName[] =>
  Object.values(CHARTS)
    .map(({name}) => name)
    .filter((name) => supports({chart: name, version: newestOf(name)}, setting, settings));
