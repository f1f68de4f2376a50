import {CHARTS} from '../charts/charts.ts';
import type {ChartRequirements} from '../charts/recommend.ts';
import {scopeOf, takes} from '../charts/support.ts';
import type {InstallFacts} from '../cluster/install-facts.ts';
import type {Program} from '../command-line.ts';
import {ExpectedError} from '../errors.ts';
import type {Plan} from '../plan/step.ts';
import type {WantedRelease} from '../plan/wanted-release.ts';
import type {Choice} from '../ports/prompter.ts';
import type {Checked} from '../preflight/check.ts';
import {chartVersion} from '../settings/release.ts';
import {Settings} from '../settings/settings.ts';
import {elsewhereText, type Notice, noticesOf, reviewLines, sameAgainText} from '../ui/review.ts';
import {isPrivate} from '../values/document.ts';
import type {Generated} from '../values/generate.ts';
import {generateChecked} from '../values/generate-checked.ts';
import type {AnswerStore} from './answer-store.ts';
import type {AskDeps} from './ask.ts';
import {unlessBack} from './ask.ts';
import {likelyTarget} from './charts-left.ts';
import {changeSetting, edit, reopen} from './edit.ts';
import type {Interview, InterviewDeps, Question} from './interview.ts';
import {STEPS} from './steps.ts';
import {otherAnswers, summaryOf} from './summary.ts';

/** The plan of an install, and its warnings. */
export interface Prepared {
  plan: Plan;
  facts: InstallFacts;
  warnings: readonly Checked[];
}

export interface ReviewDeps extends InterviewDeps, AskDeps {
  /** Flags that select the cluster, for the printed command. */
  where(): readonly string[];
  wanted(generated: Generated): Omit<WantedRelease, 'manifest'>;
  /** Reads the cluster without changes; what was read before is not read again. @throws ExpectedError if an install is not possible */
  prepare(generated: Generated): Promise<Prepared>;
  /** Returns the paths of the written files. @throws ExpectedError */
  save(directory: string, generated: Generated): Promise<readonly string[]>;
  /** How the user started this program. */
  program: Program;
  /** Facts of the cluster that exclude charts. */
  facts(): ChartRequirements;
  /** Continuations of a typed path. */
  completePath(text: string): Promise<readonly string[]>;
}

/** What to install, with the plan that was shown; or how the user left. */
export type Decision = {generated: Generated; plan: Plan} | 'saved' | 'quit';

/** What the review shows. */
interface Reviewed {
  generated?: Generated;
  prepared?: Prepared;
  /** Why there is no plan. */
  problem?: ExpectedError;
}

type Action = 'install' | 'edit' | 'fix' | 'view' | 'save' | 'print' | 'quit';

/** Asks the open questions and shows the review until the user installs or quits. */
export async function review(
  store: AnswerStore,
  interview: Interview,
  questions: readonly Question[],
  deps: ReviewDeps,
): Promise<Decision> {
  let saved: readonly string[] | undefined;
  for (;;) {
    let last: Action | undefined;
    await interview.run();
    const reviewed = await prepareReview(store, deps.facts(), deps);
    const {generated, prepared} = reviewed;
    let isChanged = false;
    while (!isChanged) {
      const action = await unlessBack(chooseAction(reviewed, store, interview, deps, {saved, last}), 'back' as const);
      // Enter after reading must not install.
      if (action !== 'back') last = action;
      if (action === 'install' && generated && prepared) {
        interview.finish();
        return {generated, plan: prepared.plan};
      }
      if (action === 'quit' && saved !== undefined && generated) {
        interview.tell(`\n${commandsText(generated, store, saved, deps)}`);
        return 'saved';
      }
      if (action === 'quit' && (await deps.prompter.confirm('Quit without saving files? --resume continues later.'))) return 'quit';
      if (action === 'back') {
        await interview.back();
        isChanged = true;
      } else if (action === 'edit') isChanged = await edit(store, questions, interview, deps);
      else if (action === 'fix') isChanged = await fix(reviewed, store, questions, interview, deps);
      else if (generated !== undefined) {
        if (action === 'save') saved = (await save(generated, interview, deps)) ?? saved;
        if (action === 'view') interview.tell(`\n${deps.wanted(generated).yaml}\n`);
        if (action === 'print') interview.tell(`\n${commandsText(generated, store, saved, deps)}\n`);
      }
    }
  }
}

async function prepareReview(store: AnswerStore, facts: ChartRequirements, deps: ReviewDeps): Promise<Reviewed> {
  let generated: Generated | undefined;
  try {
    generated = await generateChecked(confirmed(store, facts), facts);
    if (store.place?.kind === 'files') return {generated};
    return {generated, prepared: await deps.prompter.wait('Checking the cluster', deps.prepare(generated), ['Review'])};
  } catch (error) {
    if (!(error instanceof ExpectedError) || error.code === 'INTERRUPTED') throw error;
    return {...(generated === undefined ? {} : {generated}), problem: error};
  }
}

/**
 * The settings after the user has seen them: supported values from the cluster become explicit, so that the answers file
 * gives the same values without the cluster and for the same chart version. @throws ExpectedError
 */
function confirmed(store: AnswerStore, facts: ChartRequirements): Settings {
  const settings = store.settings();
  const target = likelyTarget(store, facts);
  const fits = settings.entries().flatMap(({setting, answer}) => {
    // The Scalr URL in the token would be lost with the token.
    if (answer.source === 'default' && setting.required) return [[setting.id, {value: answer.value, source: 'prompt' as const}] as const];
    if (answer.source !== 'cluster') return [[setting.id, answer] as const];
    const isTaken = target === undefined || takes(CHARTS[target.chart], setting, settings, scopeOf(target, settings.get));
    return isTaken ? [[setting.id, {value: answer.value, source: 'prompt' as const}] as const] : [];
  });
  const version = target === undefined ? [] : [[chartVersion.id, {value: target.version, source: 'prompt' as const}] as const];
  return new Settings(new Map([...version, ...fits]));
}

/** Values from the cluster keep the cluster as their source. */
const decided = ({settings}: Generated, store: AnswerStore) =>
  settings.entries().map(({setting, answer}) => ({setting, answer: store.answer(setting) ?? answer}));

async function chooseAction(
  reviewed: Reviewed,
  store: AnswerStore,
  interview: Interview,
  {prompter, screen}: ReviewDeps,
  {saved, last}: {saved: readonly string[] | undefined; last: Action | undefined},
): Promise<Action> {
  const {generated, prepared} = reviewed;
  const heading = reviewLines(
    {
      ...reviewed,
      groups: [
        ...STEPS.slice(1, -1).map((step) => [step, summaryOf(step, store, screen)] as const),
        ['Other', otherAnswers(store, screen)] as const,
      ],
      where: summaryOf('Target', store, screen),
      notes: [...interview.takeNotes(), ...(saved === undefined ? [] : [`Saved: ${saved.join(', ')}`])],
    },
    screen,
  );
  const choices = actions(reviewed, store);
  return (await prompter.select({
    message: 'What do you want to do?',
    heading,
    canGoBack: true,
    help: [
      'Nothing has been changed yet. The cluster is changed only if you choose Install.',
      'Saved answers repeat this session: scalr-agent install --answers answers.yaml',
      'https://github.com/Scalr/agent-helm',
    ],
    choices,
    default: last === 'save' && saved !== undefined ? 'quit' : (last ?? (prepared ? 'install' : generated === undefined ? 'edit' : 'save')),
  })) as Action;
}

function actions({generated, prepared}: Reviewed, store: AnswerStore): Choice[] {
  const broken = generated === undefined ? {disabled: 'not possible, see above'} : {};
  const count = noticesOf({...(generated ? {generated} : {}), ...(prepared ? {prepared} : {})}).length;
  return [
    ...(store.place?.kind === 'files'
      ? []
      : [
          {
            value: 'install',
            label: prepared?.facts.release === undefined ? 'Install' : 'Update the installed release',
            ...(prepared === undefined ? {disabled: 'not possible, see above'} : {}),
          },
        ]),
    {value: 'edit', label: 'Edit an answer…'},
    ...(count === 0 ? [] : [{value: 'fix', label: count === 1 ? 'Show or fix the warning…' : 'Show or fix the warnings…'}]),
    {value: 'view', label: 'View values.yaml', ...broken},
    {value: 'save', label: 'Save files (values.yaml, answers.yaml)', ...broken},
    {value: 'print', label: 'Show the equivalent commands', ...broken},
    {value: 'quit', label: 'Quit without changes'},
  ];
}

const NOTHING = '';

/** Lists the warnings, and changes the setting of the selected one. Returns true if an answer may have changed. */
async function fix(
  {generated, prepared}: Reviewed,
  store: AnswerStore,
  questions: readonly Question[],
  interview: Interview,
  deps: ReviewDeps,
): Promise<boolean> {
  const notices = noticesOf({...(generated ? {generated} : {}), ...(prepared ? {prepared} : {})});
  const settingOf = ({settings}: Notice) => settings[0];
  const question = {
    message: 'Which warning do you want to fix?',
    heading: ['Review', ...notices.flatMap(({text, remedy}) => [`! ${text}`, ...(remedy === undefined ? [] : [`  ${remedy}`])])],
    help: [
      'The answer that causes the warning is asked again.',
      'Warnings without a setting are fixed outside the wizard.',
      'https://docs.scalr.io/docs/agent-pools',
    ],
    canGoBack: true,
    choices: [
      ...notices.flatMap((notice, index) => {
        const setting = settingOf(notice);
        return setting === undefined ? [] : [{value: String(index), label: setting.question, description: notice.text}];
      }),
      {value: NOTHING, label: 'Back to the review'},
    ],
  };
  const picked = await unlessBack(deps.prompter.select(question), NOTHING);
  const setting = picked === NOTHING ? undefined : settingOf(notices[Number(picked)] as Notice);
  if (setting === undefined) return false;
  if (!reopen(setting.id, questions, interview)) await changeSetting(setting, store, interview, deps);
  return true;
}

function commandsText(generated: Generated, store: AnswerStore, saved: readonly string[] | undefined, deps: ReviewDeps): string {
  const entries = decided(generated, store);
  const file = saved?.find((path) => path.endsWith('values.yaml'));
  const again = sameAgainText({entries, target: generated.target, where: deps.where(), program: deps.program});
  return `${again}\n${elsewhereText({...deps.wanted(generated), entries, target: generated.target, program: deps.program, file}, deps.screen)}`;
}

/** Returns the written files; undefined after an error, which the review shows. */
async function save(
  generated: Generated,
  interview: Interview,
  {prompter, save: write, completePath}: ReviewDeps,
): Promise<readonly string[] | undefined> {
  const secret = isPrivate(generated);
  const question = {
    message: 'Directory to save to',
    heading: ['Review', ...(secret ? ['values.yaml will contain the password of the proxy URL; answers.yaml leaves it out.'] : [])],
    help: [
      secret ? 'Do not commit values.yaml. Only you can read the files.' : 'Both files are readable only by you and contain no secrets.',
      'A missing directory is created; existing files are replaced only after confirmation. Tab completes the path.',
      'Flag --save DIRECTORY',
    ],
    default: './scalr-agent',
    complete: completePath,
    canGoBack: true,
  };
  const directory = await unlessBack(prompter.input(question), undefined);
  if (directory === undefined) return undefined;
  try {
    return await write(directory, generated);
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    interview.note(error.message);
    return undefined;
  }
}
