import type {Reason} from '../charts/recommend.ts';
import type {ChartName} from '../charts/releases/chart-name.ts';
import {newestOf} from '../charts/releases/target.ts';
import {unsupported} from '../charts/support.ts';
import type {Choice} from '../ground/system/system.ts';
import {lowerFirst} from '../ground/text.ts';
import {cloud} from '../settings/cluster.ts';
import {type Setting, settingName} from '../settings/define.ts';
import {isolation, purpose} from '../settings/purpose.ts';
import {chart, chartSource, chartVersion} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import type {Asking} from './asking.ts';
import {type KnownFacts, requirementsOf} from './gathered-facts.ts';
import {recommendSoFar} from './possible-answers.ts';
import type {Reply} from './reply.ts';
import type {WizardState} from './wizard-state.ts';

/** What a chart means for isolation, start time and rights. */
export const CHART_MEANINGS: Readonly<Record<ChartName, string>> = {
  'agent-local': 'shared pods, always running; no cluster role',
  'agent-job': 'a pod started for each run; CRD and cluster role',
  'agent-k8s': 'a pod started for each run; root and node directories',
};

/** The charts with reasons, the recommended one first. */
export async function askChart({state, known, frame, deps}: Asking): Promise<Reply> {
  const choices = chartChoices(state, known);
  const recommended = choices[0]?.value;
  const name = (await deps.prompter.select({
    ...frame,
    message: chart.question,
    help: [
      'All three charts run the same agent. Answers that a chart does not support are removed and listed.',
      'Compare the charts with scalr-agent recommend. https://github.com/Scalr/agent-helm',
    ],
    choices,
    default: state.answers.get(chart) ?? recommended,
  })) as ChartName;
  return {question: chart.id, answers: [[chart, {value: name, source: 'prompt'}]]};
}

/** Empty if no chart supports the answers. */
export function chartChoices(state: WizardState, known: KnownFacts): Choice[] {
  const found = recommendSoFar(state, requirementsOf(known));
  if (found === undefined) return [];
  const settings = state.answers.unchecked();
  return [found, ...found.rejected].map(({chart: name, reasons}) =>
    choiceOf(name, reasons, settings, name === found.chart),
  );
}

/** Facts about the cluster and the pool; no chart choice may drop them. */
const FACTS: readonly Setting[] = [cloud, purpose, isolation];

/** Facts, and settings from flags, variables and files are kept; a chart that does not support them is disabled. */
function choiceOf(
  name: ChartName,
  reasons: readonly Reason[],
  settings: Settings,
  isRecommended: boolean,
): Choice {
  const target = {chart: name, version: settings.get(chartVersion) ?? newestOf(name)};
  const refused = unsupported(target, settings);
  const lost = refused.map(({setting}) => settingName(setting)).join(', ');
  const isForVcs = settings.get(purpose) === 'vcs';
  const meaning = [
    isRecommended ? 'recommended' : undefined,
    isForVcs ? 'connects Scalr with a private VCS' : CHART_MEANINGS[name],
    lost === '' ? undefined : `removes your answer for ${lost}`,
  ];
  return {
    value: name,
    label: `${name} ${target.version}`,
    description: meaning.filter(Boolean).join('; '),
    disabled: whyNotInSource(name, settings) ?? whyNot(refused, reasons, settings),
  };
}

/** A chart source has one chart. */
function whyNotInSource(name: ChartName, {get}: Settings): string | undefined {
  const given = get(chartSource) === undefined ? undefined : get(chart);
  return given === undefined || given === name ? undefined : `the chart source is ${given}`;
}

function whyNot(
  refused: ReturnType<typeof unsupported>,
  reasons: readonly Reason[],
  settings: Settings,
): string | undefined {
  const given = refused.find(
    ({setting}) => FACTS.includes(setting) || settings.answer(setting)?.source !== 'prompt',
  );
  if (given !== undefined) return given.reason;
  const excluded = reasons.find(
    ({verdict, setting}) => verdict === 'excluded' && setting === undefined,
  );
  return excluded && lowerFirst(excluded.message.replace(/\.$/, ''));
}
