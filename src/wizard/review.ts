import {CHARTS} from '../charts/charts.ts';
import type {ChartRequirements} from '../charts/recommend.ts';
import {scopeOf, takes} from '../charts/support.ts';
import type {InstallFacts} from '../cluster/install-facts.ts';
import {ExpectedError} from '../errors.ts';
import type {Plan} from '../plan/step.ts';
import type {WantedRelease} from '../plan/wanted-release.ts';
import type {Choice} from '../ports/prompter.ts';
import type {Checked} from '../preflight/check.ts';
import type {Setting} from '../settings/define.ts';
import {type Answer, Settings} from '../settings/settings.ts';
import {errorText, warningText} from '../ui/messages.ts';
import {decidedText, elsewhereText, preparedText, sameAgainText} from '../ui/review.ts';
import type {Generated} from '../values/generate.ts';
import {generateChecked} from '../values/generate-checked.ts';
import type {AnswerStore} from './answer-store.ts';
import {unlessBack} from './ask.ts';
import {chosenTarget} from './chart-refusals.ts';
import {edit} from './edit.ts';
import type {InterviewDeps} from './interview.ts';

/** What an install would do, and what speaks against it. */
export interface Prepared {
  plan: Plan;
  facts: InstallFacts;
  warnings: readonly Checked[];
}

export interface ReviewDeps extends InterviewDeps {
  /** Flags that say which cluster, for the printed command. */
  where: readonly string[];
  wanted(generated: Generated): Omit<WantedRelease, 'manifest'>;
  /** Looks at the cluster; changes nothing. @throws ExpectedError where an install is not possible */
  prepare(generated: Generated): Promise<Prepared>;
  /** Returns the paths of what was written. @throws ExpectedError */
  save(directory: string, generated: Generated): Promise<readonly string[]>;
}

type Action = 'install' | 'change' | 'save' | 'print' | 'leave';

/** What is to be installed, with the plan that was shown; undefined where the operator leaves. */
export type Decision = {generated: Generated; plan: Plan} | undefined;

/** Shows everything that was decided and does what the operator wants, until that is to install or to leave. */
export async function review(
  store: AnswerStore,
  facts: ChartRequirements,
  askAgain: () => Promise<void>,
  deps: ReviewDeps,
): Promise<Decision> {
  for (;;) {
    const generated = await tryGenerate(store, facts, deps);
    const prepared = generated && (await tryPrepare(generated, store, deps));
    const decision = await actOn(generated, prepared, store, deps);
    if (decision === 'change') {
      await edit(store, deps);
      await askAgain();
    } else return decision;
  }
}

async function tryGenerate(store: AnswerStore, facts: ChartRequirements, {screen, say}: ReviewDeps): Promise<Generated | undefined> {
  try {
    const generated = await generateChecked(confirmed(store), facts);
    if (generated.warnings.length > 0) say('\n');
    for (const warning of generated.warnings) say(warningText(warning, screen));
    return generated;
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    say(`\n${errorText(error, screen)}`);
    return undefined;
  }
}

/**
 * The settings once somebody has seen them: what the cluster said and the chart takes counts as said by the operator, so
 * that the answers file gives the same values without the cluster. @throws ExpectedError
 */
function confirmed(store: AnswerStore): Settings {
  const settings = store.settings();
  const target = chosenTarget(store);
  const {get} = settings;
  const fits = settings.entries().flatMap(({setting, answer}) => {
    if (answer.source !== 'cluster') return [[setting.id, answer] as const];
    if (!store.told.has(setting.id)) return [];
    const isTaken = target === undefined || takes(CHARTS[target.chart], setting, settings, scopeOf(target, get));
    return isTaken ? [[setting.id, {value: answer.value, source: 'prompt' as const}] as const] : [];
  });
  return new Settings(new Map(fits));
}

async function tryPrepare(generated: Generated, store: AnswerStore, deps: ReviewDeps): Promise<Prepared | undefined> {
  const {screen, say} = deps;
  const {target} = generated;
  const {name, yaml} = deps.wanted(generated);
  say(decidedText(decided(generated, store), `${target.chart} ${target.version}`, yaml, screen));
  try {
    const prepared = await deps.prepare(generated);
    say(preparedText(prepared.plan, name, prepared.facts, prepared.warnings, screen));
    return prepared;
  } catch (error) {
    if (!(error instanceof ExpectedError) || error.code === 'INTERRUPTED') throw error;
    say(`An install from here is not possible now:\n${errorText(error, screen)}\n`);
    return undefined;
  }
}

/** What holds, as it was said: what the cluster answered is shown as its answer. */
const decided = ({settings}: Generated, store: AnswerStore): {setting: Setting; answer: Answer}[] =>
  settings.entries().map(({setting, answer}) => ({setting, answer: store.answer(setting) ?? answer}));

async function actOn(
  generated: Generated | undefined,
  prepared: Prepared | undefined,
  store: AnswerStore,
  deps: ReviewDeps,
): Promise<Decision | 'change'> {
  const {prompter, say, screen} = deps;
  let next: Action | undefined;
  for (;;) {
    const action = (await prompter.select({
      message: 'What now?',
      help: [
        'Nothing has been changed so far, and nothing is before you choose to install.',
        'Saved answers replay this conversation: scalr-agent install --answers answers.yaml',
        'https://github.com/Scalr/agent-helm',
      ],
      choices: actions(generated, prepared),
      default: next ?? (prepared ? 'install' : generated ? 'save' : 'change'),
    })) as Action;
    if (action === 'change' || action === 'leave') return action === 'change' ? 'change' : undefined;
    if (generated === undefined) continue;
    if (action === 'install') return prepared && {generated, plan: prepared.plan};
    if (action === 'save') await save(generated, deps);
    if (action === 'print' || prepared === undefined) {
      say(`\n${sameAgainText(decided(generated, store), deps.where)}`);
      say(`\n${elsewhereText(deps.wanted(generated), screen)}\n`);
    }
    next = prepared ? 'install' : 'leave';
  }
}

function actions(generated: Generated | undefined, prepared: Prepared | undefined): Choice[] {
  const broken = generated === undefined ? {disabled: 'the answers contradict each other'} : {};
  return [
    {value: 'install', label: 'Install', ...(prepared === undefined ? {disabled: 'not possible now, see above'} : {})},
    {value: 'change', label: 'Change something'},
    {value: 'save', label: 'Save values.yaml and answers.yaml', ...broken},
    {value: 'print', label: 'Print the commands that do the same', ...broken},
    {value: 'leave', label: 'Leave without installing'},
  ];
}

/** What cannot be written there may go somewhere else. */
async function save(generated: Generated, {prompter, say, screen, save: write}: ReviewDeps): Promise<void> {
  const question = {
    message: 'Into which directory?',
    help: [
      'Both files are readable by you alone and hold no secret.',
      'What is there already is replaced only after a yes.',
      '--save DIRECTORY does the same.',
    ],
    default: '.',
    canGoBack: true,
  };
  const directory = await unlessBack(prompter.input(question), undefined);
  if (directory === undefined) return;
  try {
    say(`Saved: ${(await write(directory, generated)).join(', ')}\n`);
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    say(errorText(error, screen));
  }
}
