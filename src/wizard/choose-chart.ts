import {CHARTS} from '../charts/charts.ts';
import type {ChartRequirements, Reason} from '../charts/recommend.ts';
import type {ChartName} from '../charts/schema.ts';
import {hasKey, unsupported} from '../charts/support.ts';
import {newestOf} from '../charts/target.ts';
import {GoBack} from '../ground/errors.ts';
import type {Choice} from '../ports/prompter.ts';
import {type Setting, settingName} from '../settings/define.ts';
import {concurrency, isolation, purpose} from '../settings/purpose.ts';
import {chart, chartSource, chartVersion, cloud} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import type {AnswerStore} from './answer-store.ts';
import type {InterviewDeps, Question} from './interview.ts';
import {hostOf, recommendSoFar, refusalInWords, unsettled} from './possible-answers.ts';

/** The three charts with reasons. Opens again when another chart is recommended after a change, or the chart does not support an answer. */
export function chartQuestion(
  store: AnswerStore,
  facts: () => ChartRequirements,
  {prompter}: Pick<InterviewDeps, 'prompter'>,
  onRemoved: (setting: Setting, reason: string) => void,
): Question {
  /** Why the selected chart is asked for again. */
  const news = (): string | undefined => {
    const chosen = store.get(chart);
    if (chosen === undefined || store.isFixed(chart)) return undefined;
    const [refused] = unsupported(targetOf(chosen, store), unsettled(store));
    if (refused !== undefined) return `${chosen} does not support an answer: ${refusalInWords(refused.message)}.`;
    const now = recommendSoFar(store, facts())?.chart;
    return now === undefined || now === store.recommended || now === chosen
      ? undefined
      : `With these answers, ${now} is recommended instead of ${chosen}.`;
  };
  return {
    id: chart.id,
    step: 'Chart',
    message: chart.question,
    isOpen: () =>
      hostOf(store) === undefined &&
      !store.isFixed(chart) &&
      store.answer(chartSource) === undefined &&
      recommendSoFar(store, facts()) !== undefined &&
      (!store.asked.has(chart.id) || news() !== undefined),
    async ask(shown) {
      const found = recommendSoFar(store, facts());
      if (found === undefined) throw new GoBack();
      const change = news();
      const settings = unsettled(store);
      const reasons = new Map([found, ...found.rejected].map((each) => [each.chart, each.reasons]));
      const picked = (await prompter.select({
        ...shown,
        heading: change === undefined ? shown.heading : [...shown.heading, change],
        message: chart.question,
        help: [
          'All three charts run the same agent. They differ in where runs execute and in their cluster requirements.',
          'Answers that the selected chart does not support are removed and listed.',
          'Compare the charts with scalr-agent recommend. https://github.com/Scalr/agent-helm',
        ],
        choices: [...reasons].map(([name, each]) => choiceOf(name, each, settings, name === found.chart)),
        default: change === undefined ? (store.get(chart) ?? found.chart) : found.chart,
      })) as ChartName;
      store.set(chart, {value: picked, source: 'prompt'});
      store.recommended = found.chart;
      for (const {setting, message} of unsupported(targetOf(picked, store), settings)) {
        store.delete(setting);
        store.asked.add(setting.id);
        onRemoved(setting, refusalInWords(message));
      }
      if (store.answer(concurrency)?.source === 'prompt' && !hasKey(targetOf(picked, store), concurrency)) {
        store.delete(concurrency);
        onRemoved(concurrency, 'the chart starts a pod for every run');
      }
      return picked;
    },
  };
}

const targetOf = (name: ChartName, {get}: Pick<Settings, 'get'>) => ({chart: name, version: get(chartVersion) ?? newestOf(name)});

/** Facts about the cluster and the pool; no chart choice may drop them. */
const FACTS: readonly Setting[] = [cloud, purpose, isolation];

/** Facts, and settings from flags, variables and files are kept; a chart that does not support them is disabled. */
function choiceOf(name: ChartName, reasons: readonly Reason[], settings: Settings, isRecommended: boolean): Choice {
  const target = targetOf(name, settings);
  const refused = unsupported(target, settings);
  const given = refused.find(({setting}) => FACTS.includes(setting) || settings.answer(setting)?.source !== 'prompt');
  const excluded = reasons.find(({verdict, message}) => verdict === 'excluded' && !refused.some((each) => message === `${each.message}.`));
  const disabled = given === undefined ? excluded?.message.replace(/\.$/, '') : refusalInWords(given.message);
  const lost = refused.map(({setting}) => settingName(setting)).join(', ');
  const character = settings.get(purpose) === 'vcs' ? 'connects Scalr with a private VCS' : CHARTS[name].character;
  return {
    value: name,
    label: `${name} ${target.version}`,
    description: `${isRecommended ? 'recommended: ' : ''}${character}${lost === '' ? '' : `; removes your answer for ${lost}`}`,
    ...(disabled === undefined ? {} : {disabled: `not possible here: ${disabled}`}),
  };
}
