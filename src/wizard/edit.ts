import {token} from '../settings/agent.ts';
import {catalogue} from '../settings/catalogue.ts';
import {type Group, type Setting, spell} from '../settings/define.ts';
import {chart} from '../settings/release.ts';
import {answerText} from '../ui/conversation.ts';
import {paragraph} from '../ui/theme.ts';
import type {AnswerStore} from './answer-store.ts';
import {ask, unlessBack} from './ask.ts';
import {chartDefaultOf, isForeign} from './chart-refusals.ts';
import type {InterviewDeps} from './interview.ts';

const BACK = '';
/** Multi-line values, which can only be set by flags. */
const NOT_HERE: readonly Group[] = ['Chart values'];

/** Changes settings of one group until the user goes back. */
export async function edit(store: AnswerStore, deps: InterviewDeps): Promise<void> {
  const groups = [...new Set(catalogue.map(({group}) => group))].filter((group) => changeable(group, store).length > 0);
  const question = {
    message: 'What do you want to change?',
    help: [
      'Select a group to change its settings.',
      'Available as flags only: --values-file, --set and --extra-env.',
      'scalr-agent install --help',
    ],
    canGoBack: true,
    choices: [...groups.map((each) => ({value: each, label: each, description: summaryOf(each, store)})), {value: BACK, label: 'Back'}],
  };
  const group = await unlessBack(deps.prompter.select(question), BACK);
  if (group !== BACK) await editGroup(group as Group, store, deps);
}

async function editGroup(group: Group, store: AnswerStore, deps: InterviewDeps): Promise<void> {
  let last: string | undefined;
  for (;;) {
    const settings = changeable(group, store);
    const question = {
      message: `${group}: which setting do you want to change?`,
      help: [
        'Settings without a value use the chart default.',
        'Each question shows how to clear its value.',
        'scalr-agent install --help',
      ],
      canGoBack: true,
      choices: [...settings.map((setting) => choiceOf(setting, store)), {value: BACK, label: 'Done'}],
      default: last ?? BACK,
    };
    const picked = await unlessBack(deps.prompter.select(question), BACK);
    if (picked === BACK) return;
    last = picked;
    const setting = settings.find(({id}) => id === picked) as Setting;
    // chooseChart asks for the chart and shows the consequences.
    if (setting === chart) return store.delete(chart);
    const current = store.answer(setting) ?? {value: setting.fallback?.(store.get), source: 'default'};
    const options = current.value === undefined ? {orElse: chartDefaultOf(setting, store) ?? 'Not set'} : {current};
    const answer = await unlessBack(ask(setting, {...options, canGoBack: true}, store, deps), 'unchanged' as const);
    // A secret is not shown, so an empty answer keeps it.
    if (answer === 'unchanged' || (answer === undefined && setting === token)) continue;
    if (answer === undefined) store.delete(setting);
    else store.set(setting, answer);
    store.asked.add(setting.id);
    for (const dropped of store.dropUseless())
      deps.say(paragraph('  ', `Removed ${spell(dropped)}: it no longer has an effect.`, deps.screen));
    await deps.onAnswer();
  }
}

const changeable = (group: Group, store: AnswerStore): Setting[] =>
  NOT_HERE.includes(group)
    ? []
    : catalogue.filter(
        (setting) =>
          setting.group === group &&
          (setting.onlyEnv === undefined || setting === token) &&
          (setting.appliesWhen?.test(store.get) ?? true) &&
          !isForeign(setting, store),
      );

function choiceOf(setting: Setting, store: AnswerStore) {
  const answer = store.answer(setting);
  return {
    value: setting.id,
    label: answer === undefined ? setting.question : `${setting.question}: ${answerText(setting, answer)}`,
    description: setting.summary,
  };
}

const summaryOf = (group: Group, store: AnswerStore): string =>
  changeable(group, store)
    .flatMap((setting) => {
      const answer = store.answer(setting);
      return answer === undefined ? [] : [`${setting.id} ${answerText(setting, answer)}`];
    })
    .join(', ') || 'Chart defaults';
