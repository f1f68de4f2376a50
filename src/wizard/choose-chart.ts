import {type ChartRequirements, type Reason, type Recommendation, recommend} from '../charts/recommend.ts';
import type {ChartName} from '../charts/schema.ts';
import {unsupported} from '../charts/support.ts';
import {newestOf} from '../charts/target.ts';
import {ExpectedError} from '../errors.ts';
import type {Choice} from '../ports/prompter.ts';
import {cloud} from '../settings/cluster.ts';
import {type Setting, spell} from '../settings/define.ts';
import {isolation, purpose} from '../settings/purpose.ts';
import {chart, chartVersion} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {choiceText, errorText} from '../ui/messages.ts';
import {paragraph} from '../ui/theme.ts';
import type {AnswerStore} from './answer-store.ts';
import type {InterviewDeps} from './interview.ts';

/** Shows the recommended chart with reasons, and prompts for a chart. */
export async function chooseChart(store: AnswerStore, facts: ChartRequirements, deps: InterviewDeps): Promise<void> {
  const {screen, say, prompter} = deps;
  const settings = settingsSoFar(store);
  if (settings === undefined) return;
  const found = recommendation(settings, facts, deps);
  if (found) say(`\n${choiceText(found, screen)}`);
  const names: ChartName[] = found ? [found.chart, ...found.rejected.map((each) => each.chart)] : ['agent-local', 'agent-job', 'agent-k8s'];
  const reasonsFor = (name: ChartName): readonly Reason[] =>
    name === found?.chart ? found.reasons : (found?.rejected.find((each) => each.chart === name)?.reasons ?? []);
  const picked = (await prompter.select({
    message: chart.question,
    help: [
      'All three charts run the same agent. They differ in where runs execute and in their cluster requirements.',
      'Answers that the selected chart does not support are removed and listed.',
      'Compare the charts with scalr-agent recommend. https://github.com/Scalr/agent-helm',
    ],
    choices: names.map((name) => choiceOf(name, reasonsFor(name), settings, name === found?.chart)),
    ...(found ? {default: found.chart} : {}),
  })) as ChartName;
  store.set(chart, {value: picked, source: 'prompt'});
  for (const {setting, message} of unsupported({chart: picked, version: versionOf(picked, settings)}, settings)) {
    store.delete(setting);
    store.asked.add(setting.id);
    say(paragraph('  ', `Removed ${spell(setting)}: ${message}.`, screen));
  }
  await deps.onAnswer();
}

/** Undefined if answers conflict; the review reports the conflict. */
function settingsSoFar(store: AnswerStore): Settings | undefined {
  try {
    return store.settings();
  } catch (error) {
    if (error instanceof ExpectedError) return undefined;
    throw error;
  }
}

function recommendation(settings: Settings, facts: ChartRequirements, {screen, say}: InterviewDeps): Recommendation | undefined {
  try {
    return recommend(settings, facts);
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    say(`\n${errorText(error, screen)}`);
    return undefined;
  }
}

const versionOf = (name: ChartName, settings: Settings): string => settings.get(chartVersion) ?? newestOf(name);

/** Facts about the cluster and the pool; no chart choice may drop them. */
const FACTS: readonly Setting[] = [cloud, purpose, isolation];

/** Facts, and settings from flags, variables and files are kept; a chart that does not support them is disabled. */
function choiceOf(name: ChartName, reasons: readonly Reason[], settings: Settings, isRecommended: boolean): Choice {
  const refused = unsupported({chart: name, version: versionOf(name, settings)}, settings);
  const given = refused.find(({setting}) => FACTS.includes(setting) || settings.answer(setting)?.source !== 'prompt');
  const excluded = reasons.find(({verdict, message}) => verdict === 'excluded' && !refused.some((each) => message === `${each.message}.`));
  const disabled = given?.message ?? excluded?.message;
  const loss = refused.length === 0 ? undefined : `Removes unsupported answers: ${refused.map(({flag}) => flag).join(', ')}.`;
  const argument = reasons.find(({verdict}) => verdict !== 'excluded')?.message;
  const description = [loss, isRecommended ? 'Recommended (reasons above).' : argument].filter((part) => part !== undefined).join(' ');
  return {value: name, label: name, ...(description === '' ? {} : {description}), ...(disabled === undefined ? {} : {disabled})};
}
