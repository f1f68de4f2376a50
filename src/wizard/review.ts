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
import {isPrivate} from '../values/document.ts';
import type {Generated} from '../values/generate.ts';
import {generateChecked} from '../values/generate-checked.ts';
import type {AnswerStore} from './answer-store.ts';
import {unlessBack} from './ask.ts';
import {chosenTarget} from './chart-refusals.ts';
import {edit} from './edit.ts';
import type {InterviewDeps} from './interview.ts';

/** The plan of an install, and its warnings. */
export interface Prepared {
  plan: Plan;
  facts: InstallFacts;
  warnings: readonly Checked[];
}

export interface ReviewDeps extends InterviewDeps {
  /** Flags that select the cluster, for the printed command. */
  where: readonly string[];
  wanted(generated: Generated): Omit<WantedRelease, 'manifest'>;
  /** Reads the cluster without changes. @throws ExpectedError if an install is not possible */
  prepare(generated: Generated): Promise<Prepared>;
  /** Returns the paths of the written files. @throws ExpectedError */
  save(directory: string, generated: Generated): Promise<readonly string[]>;
}

type Action = 'install' | 'change' | 'save' | 'print' | 'leave';

/** What to install, with the plan that was shown; undefined if the user exits. */
export type Decision = {generated: Generated; plan: Plan} | undefined;

/** Shows all settings and the plan, and repeats the action menu until the user installs or exits. */
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
 * The settings after the user has seen them: supported values from the cluster become explicit, so that the answers file
 * gives the same values without the cluster. @throws ExpectedError
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
    say(`Cannot install:\n${errorText(error, screen)}\n`);
    return undefined;
  }
}

/** The effective settings; values from the cluster keep the cluster as their source. */
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
      message: 'What do you want to do?',
      help: [
        'Nothing has been changed yet. The cluster is changed only if you choose to install.',
        'Saved answers repeat this session: scalr-agent install --answers answers.yaml',
        'https://github.com/Scalr/agent-helm',
      ],
      choices: actions(generated, prepared),
      default: next ?? (prepared ? 'install' : generated ? 'save' : 'change'),
    })) as Action;
    if (action === 'change' || action === 'leave') return action === 'change' ? 'change' : undefined;
    if (generated === undefined) continue;
    if (action === 'install') return prepared && {generated, plan: prepared.plan};
    const isSaved = action === 'save' && (await save(generated, deps));
    if (action === 'save' && !isSaved) continue;
    if (action === 'print' || prepared === undefined) {
      say(`\n${sameAgainText(decided(generated, store), deps.where)}`);
      say(`\n${elsewhereText(deps.wanted(generated), screen)}\n`);
    }
    next = prepared ? 'install' : 'leave';
  }
}

function actions(generated: Generated | undefined, prepared: Prepared | undefined): Choice[] {
  const broken = generated === undefined ? {disabled: 'the answers conflict with each other'} : {};
  return [
    {value: 'install', label: 'Install', ...(prepared === undefined ? {disabled: 'not possible, see above'} : {})},
    {value: 'change', label: 'Change answers'},
    {value: 'save', label: 'Save values.yaml and answers.yaml', ...broken},
    {value: 'print', label: 'Print the equivalent commands', ...broken},
    {value: 'leave', label: 'Exit without installing'},
  ];
}

/** Returns whether the files were written. After an error, the menu is shown again. */
async function save(generated: Generated, {prompter, say, screen, save: write}: ReviewDeps): Promise<boolean> {
  const question = {
    message: 'Directory to save to',
    help: [
      isPrivate(generated)
        ? 'values.yaml contains the password of the proxy URL, and answers.yaml leaves the proxy out. Only you can read the files.'
        : 'Both files are readable only by you and contain no secrets.',
      'Existing files are replaced only after confirmation.',
      'Flag --save DIRECTORY',
    ],
    default: '.',
    canGoBack: true,
  };
  const directory = await unlessBack(prompter.input(question), undefined);
  if (directory === undefined) return false;
  try {
    say(`Saved: ${(await write(directory, generated)).join(', ')}\n`);
    return true;
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    say(errorText(error, screen));
    return false;
  }
}
