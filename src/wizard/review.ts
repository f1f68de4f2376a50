import type {ChartRequirements} from '../charts/recommend.ts';
import {supports} from '../charts/support.ts';
import {exportHost} from '../extensions/machine/export.ts';
import type {HostPlan} from '../extensions/machine/plan.ts';
import {ExpectedError} from '../ground/errors.ts';
import type {Choice} from '../ground/system/system.ts';
import type {Plan} from '../operations/step.ts';
import {chartVersion, target} from '../settings/release.ts';
import {type Answer, Settings} from '../settings/settings.ts';
import {noticesOf, reviewLines} from '../ui/review.ts';
import type {Generated} from '../values/generate.ts';
import {type AnswerStore, type ChosenPool, targetOfPlace} from './answer-store.ts';
import {type AskDeps, chooseInReview, unlessBack} from './ask.ts';
import {
  changeSetting,
  commandsText,
  edit,
  type FilesDeps,
  filesText,
  isCurrent,
  type Reviewed,
  type ReviewedInstall,
  reopen,
  repeatText,
  type Saved,
  save,
} from './edit.ts';
import {changesOf} from './installed-agent.ts';
import type {Interview, InterviewDeps, Question} from './interview.ts';
import {hostOf, likelyTarget} from './possible-answers.ts';
import {type RequirementsDeps, useChart} from './requirements.ts';
import {otherAnswers, STEPS, summaryOf} from './steps.ts';

export interface ReviewDeps
  extends FilesDeps,
    InterviewDeps,
    RequirementsDeps,
    Omit<AskDeps, 'completePath' | 'typedPath'> {
  /** Reads the cluster without changes; what was read before is not read again. @throws ExpectedError if an install is not possible */
  prepare(generated: Generated): Promise<ReviewedInstall>;
  /** The values, checked; an unknown chart version is read. @throws ExpectedError */
  generate(settings: Settings, facts: ChartRequirements): Promise<Generated>;
  /** Plans the containers of an agent on this machine. @throws ExpectedError if Docker does not answer */
  planContainers(settings: Settings): Promise<HostPlan>;
}

/** What to install, with the plan that was shown; or how the user left. */
export type Decision =
  | {
      generated: Generated;
      plan: Plan /** Files with the same content that the user has saved. */;
      saved: readonly string[];
      pool?: ChosenPool;
    }
  | {onHost: Settings; plan: HostPlan}
  | 'saved'
  | 'quit';

type Action = 'again' | 'disk' | 'install' | 'edit' | 'fix' | 'view' | 'save' | 'print' | 'quit';

/** Asks the open questions and shows the review until the user installs or quits. */
export async function review(
  store: AnswerStore,
  interview: Interview,
  questions: readonly Question[],
  deps: ReviewDeps,
): Promise<Decision> {
  let saved: Saved | undefined;
  for (;;) {
    let last: Action | undefined;
    await interview.run();
    const reviewed = await prepareReview(store, deps.facts(), deps);
    const {generated, prepared, host} = reviewed;
    const isSaved = (): boolean => isCurrent(saved, reviewed, deps);
    let isChanged = false;
    while (!isChanged) {
      const action = await unlessBack(
        chooseAction(reviewed, store, interview, deps, {saved, last}),
        'back' as const,
      );
      // Enter after reading must not install.
      if (action !== 'back') last = action;
      if (action === 'install' && generated && prepared) {
        interview.finish();
        const files = isCurrent(saved, reviewed, deps) ? saved.paths : [];
        return {
          generated,
          plan: prepared.plan,
          saved: files,
          ...(store.pool === undefined ? {} : {pool: store.pool}),
        };
      }
      if (action === 'install' && host?.plan) {
        interview.finish();
        return {onHost: host.settings, plan: host.plan};
      }
      if (action === 'quit' && isSaved()) {
        interview.tell(`\n${commandsText(reviewed, store, saved, deps)}`);
        return 'saved';
      }
      const doubt =
        saved === undefined
          ? 'Quit without saving files?'
          : 'The saved files are out of date. Quit without saving again?';
      if (action === 'quit' && (await deps.prompter.confirm(`${doubt} --resume continues later.`)))
        return 'quit';
      if (action === 'back') {
        await interview.back();
        isChanged = true;
      } else if (action === 'again') isChanged = true;
      else if (action === 'disk') isChanged = await useChart(store, deps, {heading: ['Review']});
      else if (action === 'edit') isChanged = await edit(store, questions, interview, deps);
      else if (action === 'fix') isChanged = await fix(reviewed, store, questions, interview, deps);
      else if (action === 'save') saved = (await save(reviewed, interview, deps)) ?? saved;
      else if (action === 'view') interview.tell(`\n${filesText(reviewed, deps)}\n`);
      else if (action === 'print')
        interview.tell(`\n${commandsText(reviewed, store, saved, deps)}\n`);
    }
  }
}

async function prepareReview(
  store: AnswerStore,
  facts: ChartRequirements,
  deps: ReviewDeps,
): Promise<Reviewed> {
  let generated: Generated | undefined;
  let host: Reviewed['host'];
  try {
    const platform = hostOf(store);
    if (platform !== undefined) {
      const settings = confirmed(store, facts);
      host = {...exportHost(settings, platform), settings};
      if (platform === 'systemd') return {host};
      if (host.warnings.some(({code}) => code === 'NO_TOKEN')) return {host};
      return {
        host: {
          ...host,
          plan: await deps.prompter.wait('Reading the containers', deps.planContainers(settings), [
            'Review',
          ]),
        },
      };
    }
    generated = await deps.generate(confirmed(store, facts), facts);
    if (store.place?.kind === 'files') return {generated};
    return {
      generated,
      prepared: await deps.prompter.wait('Checking the cluster', deps.prepare(generated), [
        'Review',
      ]),
    };
  } catch (error) {
    if (!(error instanceof ExpectedError) || error.code === 'INTERRUPTED') throw error;
    return {generated, host, problem: error};
  }
}

/**
 * The settings after the user has seen them: supported values from the cluster become explicit, so that the answers file
 * gives the same values without the cluster and for the same chart version. @throws ExpectedError
 */
function confirmed(store: AnswerStore, facts: ChartRequirements): Settings {
  const settings = store.settings();
  const release = likelyTarget(store, facts);
  const fits = settings.entries().flatMap(({setting, answer}): (readonly [string, Answer])[] => {
    // The Scalr URL in the token would be lost with the token.
    if (answer.source === 'default' && setting.required)
      return [[setting.id, {value: answer.value, source: 'prompt' as const}] as const];
    if (answer.source !== 'cluster') return [[setting.id, answer] as const];
    const isTaken = release === undefined || supports(release, setting, settings);
    return isTaken ? [[setting.id, {value: answer.value, source: 'prompt' as const}] as const] : [];
  });
  const version =
    release === undefined
      ? []
      : [[chartVersion.id, {value: release.version, source: 'prompt' as const}] as const];
  const place = [
    target.id,
    {value: targetOfPlace(store.place), source: 'prompt' as const},
  ] as const;
  return new Settings(new Map([...version, ...fits, place]));
}

interface Shown {
  saved: Saved | undefined;
  last: Action | undefined;
}

async function chooseAction(
  reviewed: Reviewed,
  store: AnswerStore,
  interview: Interview,
  deps: ReviewDeps,
  shown: Shown,
): Promise<Action> {
  const {screen} = deps;
  const notes = [...interview.takeNotes(), ...notesOf(reviewed, store, deps, shown)];
  const where = summaryOf('Target', store, screen, deps.facts());
  const groups = groupsOf(store, deps);
  return (await deps.prompter.select({
    message: 'What do you want to do?',
    heading: reviewLines({...reviewed, groups, where, notes}, screen),
    canGoBack: true,
    help: [
      'Nothing has been changed yet. The cluster is changed only if you choose Install.',
      repeatText(store, deps),
      'https://github.com/Scalr/agent-helm',
    ],
    choices: actions(reviewed, store),
    default: preselected(reviewed, store, deps, shown),
  })) as Action;
}

/** The answers by step, or the changes of an installed release. */
const groupsOf = (
  store: AnswerStore,
  {screen, facts}: ReviewDeps,
): readonly (readonly [string, readonly string[]])[] =>
  store.installed !== undefined
    ? changesOf(store)
    : [
        ...STEPS.slice(1, -1).map(
          (step) => [step, summaryOf(step, store, screen, facts())] as const,
        ),
        ['Other', otherAnswers(store, screen)] as const,
      ];

const UNEDITED =
  'You have changed no setting. An update would still change the release: see "View values.yaml".';

function notesOf(
  reviewed: Reviewed,
  store: AnswerStore,
  deps: ReviewDeps,
  {saved}: Shown,
): string[] {
  const isSaved = isCurrent(saved, reviewed, deps);
  const files = saved?.paths.join(', ');
  const steps = reviewed.prepared?.plan.steps ?? [];
  return [
    ...(isUnedited(store) && steps.length > 0 ? [UNEDITED] : []),
    ...(files === undefined
      ? []
      : [`Saved: ${files}${isSaved ? '' : ' (out of date, save again)'}`]),
  ];
}

/** The settings of an installed release were opened, and none was changed yet. */
const isUnedited = (store: AnswerStore): boolean =>
  store.installedStatus === 'deployed' && changesOf(store).length === 0;

function preselected(
  reviewed: Reviewed,
  store: AnswerStore,
  deps: ReviewDeps,
  {saved, last}: Shown,
): Action {
  const {generated, prepared, host, problem} = reviewed;
  const isSaved = isCurrent(saved, reviewed, deps);
  if (last === 'save' && isSaved) return 'quit';
  if (last !== undefined) return last;
  const canSave = generated !== undefined || host !== undefined;
  const hasNothingToDo = store.installed !== undefined && prepared?.plan.steps.length === 0;
  if (!canSave || hasNothingToDo) return 'edit';
  if (problem !== undefined) return 'again';
  if (isUnedited(store)) return 'edit';
  const canInstall = prepared !== undefined || host?.plan !== undefined;
  const isStale = saved !== undefined && !isSaved;
  return isStale || !canInstall ? 'save' : 'install';
}

function actions(reviewed: Reviewed, store: AnswerStore): Choice[] {
  const {generated, prepared, host, problem} = reviewed;
  const disabled =
    generated === undefined && host === undefined ? 'not possible, see above' : undefined;
  const count = noticesOf(reviewed).length;
  const files = host === undefined ? 'values.yaml' : `${host.files.length} files`;
  return [
    ...(store.place?.kind === 'files' || store.place?.kind === 'systemd'
      ? []
      : [
          {
            value: 'install',
            label:
              prepared?.facts.release === undefined ? 'Install' : 'Update the installed release',
            disabled:
              prepared === undefined && host?.plan === undefined
                ? 'not possible, see above'
                : undefined,
          },
        ]),
    ...(problem === undefined
      ? []
      : [{value: 'again', label: 'Try again', description: 'check the same answers once more'}]),
    ...(/chart/i.test(problem?.message ?? '')
      ? [{value: 'disk', label: 'Use a chart on this disk…'}]
      : []),
    {value: 'edit', label: 'Edit an answer…'},
    ...(count === 0
      ? []
      : [
          {
            value: 'fix',
            label: count === 1 ? 'Show or fix the warning…' : 'Show or fix the warnings…',
          },
        ]),
    {
      value: 'view',
      label: host === undefined ? 'View values.yaml' : 'View the files without secrets',
      disabled,
    },
    {value: 'save', label: `Save files (${files}, answers.yaml)`, disabled},
    {value: 'print', label: 'Show the equivalent commands', disabled},
    {value: 'quit', label: 'Quit without changes'},
  ];
}

/** Lists the warnings, and changes the setting of the selected one. Returns true if an answer may have changed. */
async function fix(
  reviewed: Reviewed,
  store: AnswerStore,
  questions: readonly Question[],
  interview: Interview,
  deps: ReviewDeps,
): Promise<boolean> {
  const notices = noticesOf(reviewed);
  const question = {
    message: 'Which warning do you want to fix?',
    heading: [
      'Review',
      ...notices.flatMap(({text, remedy}) => [
        `! ${text}`,
        ...(remedy === undefined ? [] : [`  ${remedy}`]),
      ]),
    ],
    help: [
      'The answer that causes the warning is asked again.',
      'Warnings without a setting are fixed outside the wizard.',
      'https://docs.scalr.io/docs/agent-pools',
    ],
    choices: notices.flatMap(({settings: [setting], text}, index) =>
      setting === undefined
        ? []
        : [{value: String(index), label: setting.question, description: text}],
    ),
  };
  const picked = await chooseInReview(deps.prompter, question);
  const [setting] = notices[Number(picked ?? Number.NaN)]?.settings ?? [];
  if (setting === undefined) return false;
  if (!reopen(setting.id, questions, interview))
    await changeSetting(setting, store, interview, deps);
  return true;
}
