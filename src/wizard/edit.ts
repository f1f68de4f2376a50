import {token} from '../settings/agent.ts';
import {catalogue} from '../settings/catalogue.ts';
import type {Group, Setting} from '../settings/define.ts';
import {chart} from '../settings/release.ts';
import {answerText} from '../ui/conversation.ts';
import {paragraph} from '../ui/theme.ts';
import {ask} from './ask.ts';
import {isForeign} from './chart-refusals.ts';
import type {InterviewWorld} from './interview.ts';
import type {Knowledge} from './knowledge.ts';

const BACK = '';
/** Its answers would need lines of their own, so they are given as flags. */
const NOT_HERE: readonly Group[] = ['Escape hatch'];

/** Changes settings of one group until the operator goes back. */
export async function edit(known: Knowledge, world: InterviewWorld): Promise<void> {
  const groups = [...new Set(catalogue.map(({group}) => group))].filter((group) => changeable(group, known).length > 0);
  const group = await world.prompter.choose({
    message: 'What do you want to change?',
    help: ['Every setting of the group can be changed.', 'What stands only in flags: --set and --extra-env.', 'scalr-agent install --help'],
    choices: [...groups.map((each) => ({value: each, label: each, meaning: summaryOf(each, known)})), {value: BACK, label: 'Back'}],
  });
  if (group !== BACK) await editGroup(group as Group, known, world);
}

async function editGroup(group: Group, known: Knowledge, world: InterviewWorld): Promise<void> {
  let last: string | undefined;
  for (;;) {
    const settings = changeable(group, known);
    const picked = await world.prompter.choose({
      message: `${group}: which setting?`,
      help: ['What is empty is left to the chart.', 'A line that you empty takes the answer back.', 'scalr-agent install --help'],
      choices: [...settings.map((setting) => choiceOf(setting, known)), {value: BACK, label: 'Done'}],
      default: last ?? BACK,
    });
    if (picked === BACK) return;
    last = picked;
    const setting = settings.find(({id}) => id === picked) as Setting;
    // The chart has a question of its own, which says what it costs.
    if (setting === chart) return known.forget(chart);
    const current = known.answer(setting) ?? {value: setting.fallback?.(known.get), source: 'default'};
    const answer = await ask(setting, current.value === undefined ? {orElse: 'not decided here'} : {current}, known, world);
    // Nobody can see a secret to take it over, so an empty line keeps it.
    if (answer === undefined && setting === token) continue;
    if (answer === undefined) known.forget(setting);
    else known.say(setting, answer);
    known.asked.add(setting.id);
    for (const {question} of known.dropUseless())
      world.say(paragraph('  ', `Dropped ${question}: it would do nothing any more.`, world.screen));
    await world.onAnswer();
  }
}

const changeable = (group: Group, known: Knowledge): Setting[] =>
  NOT_HERE.includes(group)
    ? []
    : catalogue.filter(
        (setting) =>
          setting.group === group &&
          (setting.onlyEnv === undefined || setting === token) &&
          (setting.appliesWhen?.test(known.get) ?? true) &&
          !isForeign(setting, known),
      );

function choiceOf(setting: Setting, known: Knowledge) {
  const answer = known.answer(setting);
  return {
    value: setting.id,
    label: answer === undefined ? setting.question : `${setting.question}: ${answerText(setting, answer)}`,
    meaning: setting.summary,
  };
}

const summaryOf = (group: Group, known: Knowledge): string =>
  changeable(group, known)
    .flatMap((setting) => {
      const answer = known.answer(setting);
      return answer === undefined ? [] : [`${setting.id} ${answerText(setting, answer)}`];
    })
    .join(', ') || 'Nothing is said of it: as the chart does it.';
