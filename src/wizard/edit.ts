import {dirname} from 'node:path';
import {answersText} from '../answers/answers-file.ts';
import type {ChartRequirements} from '../charts/recommend.ts';
import type {Checked} from '../checks/preflight/checks/check.ts';
import type {DesiredRelease} from '../cluster/release/desired-release.ts';
import type {InstallFacts} from '../cluster/release/read-release.ts';
import type {HostExport} from '../extensions/machine/export.ts';
import type {HostPlan} from '../extensions/machine/plan.ts';
import {type ExpectedError, onFailure} from '../ground/errors.ts';
import type {Program} from '../ground/program.ts';
import type {Choice} from '../ground/system/system.ts';
import {count} from '../ground/text.ts';
import type {Plan} from '../operations/step.ts';
import {token} from '../settings/agent.ts';
import {catalog} from '../settings/catalog.ts';
import {type Group, type Setting, settingLabel, settingName} from '../settings/define.ts';
import {certificatesIn} from '../settings/kinds/certificates.ts';
import {missingFor, purpose} from '../settings/purpose.ts';
import {chart, target} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {helmCommandsText, type PrintedPool} from '../ui/helm-commands.ts';
import {answerText} from '../ui/prompt-text.ts';
import {equivalentCommandText, hostCommandsText} from '../ui/review.ts';
import {isPrivate} from '../values/document.ts';
import type {Generated} from '../values/generate.ts';
import type {AnswerStore} from './answer-store.ts';
import {type AskDeps, ask, chooseInReview, unlessBack} from './ask.ts';
import type {Interview, InterviewDeps, Question} from './interview.ts';
import {chartDefaultOf, defaultText, defaultWord, hostOf, isForeign} from './possible-answers.ts';

/** The plan of an install, and the preflight checks. */
export interface ReviewedInstall {
  plan: Plan;
  facts: InstallFacts;
  checks: readonly Checked[];
  /** Changes in the Scalr account, before those in the cluster. */
  accountSteps?: readonly {title: string}[];
}

export interface Reviewed {
  generated?: Generated | undefined;
  prepared?: ReviewedInstall;
  /** Without Kubernetes. */
  host?: (HostExport & {plan?: HostPlan; settings: Settings}) | undefined;
  /** Why there is no plan. */
  problem?: ExpectedError;
}

export interface FilesDeps extends Pick<InterviewDeps, 'prompter' | 'screen'> {
  /** Flags that select the cluster, for the printed command. */
  where(): readonly string[];
  desired(generated: Generated): DesiredRelease;
  /** Writes the texts and answers.yaml. Returns their paths. @throws ExpectedError */
  save(
    directory: string,
    settings: Settings,
    texts: readonly {path: string; text: string}[],
  ): Promise<readonly string[]>;
  program: Program;
  completePath(text: string): Promise<readonly string[]>;
}

/** Values from the cluster keep the cluster as their source. */
const decided = ({settings}: {settings: Settings}, store: AnswerStore) =>
  settings
    .entries()
    .map(({setting, answer}) => ({setting, answer: store.answer(setting) ?? answer}));

/** Files that were saved from the review. */
export interface Saved {
  directory: string;
  paths: readonly string[];
  contents: string;
}

/** What Save writes besides answers.yaml; undefined if there are no settings to save. */
function contentsOf(
  {generated, host}: Reviewed,
  {desired}: FilesDeps,
): {settings: Settings; texts: Parameters<FilesDeps['save']>[2]} | undefined {
  if (generated !== undefined)
    return {
      settings: generated.settings,
      texts: [{path: 'values.yaml', text: desired(generated).yaml}],
    };
  return host && {settings: host.settings, texts: host.files};
}

/** Everything that the saved files depend on. */
function fingerprintOf(reviewed: Reviewed, deps: FilesDeps): string | undefined {
  const found = contentsOf(reviewed, deps);
  return found && JSON.stringify([answersText(found.settings), found.texts, deps.where()]);
}

/** True if saving again would write the same. */
export const isCurrent = (
  saved: Saved | undefined,
  reviewed: Reviewed,
  deps: FilesDeps,
): saved is Saved => saved !== undefined && saved.contents === fingerprintOf(reviewed, deps);

/** Commands that give the same result without the wizard; they use saved files only if these are current. */
export function commandsText(
  reviewed: Reviewed,
  store: AnswerStore,
  saved: Saved | undefined,
  deps: FilesDeps,
): string {
  const {generated, host} = reviewed;
  const {program} = deps;
  const directory = isCurrent(saved, reviewed, deps) ? saved.directory : undefined;
  if (host !== undefined)
    return hostCommandsText(hostOf(store) ?? 'docker', decided(host, store), host, {
      directory,
      program,
    });
  if (generated === undefined) return '';
  const printed = {
    entries: decided(generated, store),
    target: generated.target,
    directory,
    program,
    pool: poolOf(store),
  };
  return `${equivalentCommandText({...printed, where: deps.where()})}\n${helmCommandsText({...deps.desired(generated), ...printed}, deps.screen)}`;
}

const poolOf = ({pool, get}: AnswerStore): PrintedPool | undefined =>
  pool && {
    name: pool.name,
    url: `https://${pool.host}`,
    isNew: pool.id === undefined && pool.mustExist !== true,
    isForVcs: get(purpose) === 'vcs',
  };

/** The command that repeats the session with its saved answers. */
export const repeatText = (store: AnswerStore, {program}: FilesDeps): string =>
  hostOf(store) === 'systemd'
    ? `Saved answers write the same files: ${program.other.replace(/^scalr-agent$/, 'scalr-agent-install')} export systemd --answers answers.yaml`
    : `Saved answers repeat this session: ${program.install} --answers answers.yaml`;

const CERTIFICATES =
  /(?:^( *)-----BEGIN CERTIFICATE-----\n[\s\S]*?-----END CERTIFICATE-----\n?)+/gm;

/** The files of the review to read: without those with secrets, and with the number of certificates instead of them. */
export function filesText({generated, host}: Reviewed, {desired}: FilesDeps): string {
  const text =
    generated === undefined
      ? (host?.files ?? [])
          .flatMap((file) => (file.isPrivate ? [] : [`# ${file.path}\n${file.text}`]))
          .join('\n')
      : desired(generated).yaml;
  return text.replaceAll(
    CERTIFICATES,
    (all, indent) => `${indent}… ${count(certificatesIn(all), 'certificate')}\n`,
  );
}

/** Returns the written files; undefined after an error, which the review shows. */
export async function save(
  reviewed: Reviewed,
  interview: Interview,
  deps: FilesDeps,
): Promise<Saved | undefined> {
  const {generated, host} = reviewed;
  const found = contentsOf(reviewed, deps);
  if (found === undefined) return undefined;
  const secretFile =
    host?.files.find(({isPrivate}) => isPrivate)?.path ??
    (generated && isPrivate(generated) ? 'values.yaml' : undefined);
  const warning =
    host === undefined
      ? 'the password of the proxy URL; answers.yaml leaves it out'
      : 'the secrets; answers.yaml leaves them out';
  const question = {
    message: 'Directory to save to',
    heading: ['Review', ...(secretFile ? [`${secretFile} will contain ${warning}.`] : [])],
    help: [
      secretFile
        ? `Do not commit ${secretFile}. Only you can read the files.`
        : 'The files are readable only by you and contain no secrets.',
      'A missing directory is created; existing files are replaced only after confirmation. Tab completes the path.',
      'Flag --save DIRECTORY',
    ],
    default: './scalr-agent',
    complete: deps.completePath,
    canGoBack: true,
  };
  const directory = await unlessBack(deps.prompter.input(question), undefined);
  if (directory === undefined) return undefined;
  const paths = await deps
    .save(directory, found.settings, found.texts)
    .catch(onFailure(({message}) => void interview.note(message)));
  return paths
    ? {
        directory: dirname(paths[0] as string),
        paths,
        contents: fingerprintOf(reviewed, deps) as string,
      }
    : undefined;
}

const MORE = 'more';
/** Multi-line values, which can only be set by flags. */
const NOT_HERE: readonly Group[] = ['Chart values'];

type EditDeps = InterviewDeps & AskDeps & {facts(): ChartRequirements};

/** Reopens an answered question, or changes other settings. Returns false if the user went back. */
export async function edit(
  store: AnswerStore,
  questions: readonly Question[],
  interview: Interview,
  deps: EditDeps,
): Promise<boolean> {
  const picked = await chooseInReview(deps.prompter, {
    message: 'Which answer do you want to change?',
    help: [
      'The question is asked again; other answers are kept.',
      'Configure more… lists all settings of the chart.',
      'scalr-agent install --help',
    ],
    choices: [
      ...interview.answered().map(({id, answer}) => ({value: id, ...rowOf(id, answer, store)})),
      {
        value: MORE,
        label: 'Configure more…',
        description: 'all other settings: resources, placement, images, TLS, logs',
      },
    ],
  });
  if (picked === undefined) return false;
  if (picked === MORE) return configureMore(store, questions, interview, deps);
  reopen(picked, questions, interview);
  return true;
}

/** A short name, so that all answers stand in one column, and the answer, which the cluster may have given after the question was left open. */
function rowOf(
  id: string,
  text: string,
  store: AnswerStore,
): Pick<Choice, 'label' | 'description'> {
  const setting = catalog.find((each) => each.id === id);
  if (setting === undefined)
    return {label: id.replace(/^./, (first) => first.toUpperCase()), description: text};
  const answer = store.answer(setting);
  return {
    label: settingLabel(setting),
    description: answer?.source === 'cluster' ? answerText(setting, answer) : text,
  };
}

/** Returns whether the user has answered the question of the setting in the flow. */
export function reopen(id: string, questions: readonly Question[], interview: Interview): boolean {
  const isAnswered = interview.answered().some((each) => each.id === id);
  const question = isAnswered ? questions.find((each) => each.id === id) : undefined;
  if (question !== undefined) interview.reopen(question);
  return question !== undefined;
}

async function configureMore(
  store: AnswerStore,
  questions: readonly Question[],
  interview: Interview,
  deps: EditDeps,
): Promise<boolean> {
  const groups = [...new Set(catalog.map(({group}) => group))].filter(
    (group) => changeable(group, store).length > 0,
  );
  let isChanged = false;
  let last: string | undefined;
  for (;;) {
    const group = await chooseInReview(deps.prompter, {
      default: last,
      message: 'What do you want to configure?',
      help: [
        'Select a group to see its settings.',
        'Available as flags only: --values-file, --set and --extra-env.',
        'scalr-agent install --help',
      ],
      choices: groups.map((each) => ({
        value: each,
        label: each,
        description: summaryOf(each, store),
      })),
    });
    if (group === undefined) return isChanged;
    last = group;
    let before: string | undefined;
    for (;;) {
      const setting = await chooseSetting(group as Group, store, deps, before);
      if (setting === undefined) break;
      before = setting.id;
      isChanged = true;
      // Its question shows the reasons and the consequences.
      if (setting.id === chart.id && reopen(chart.id, questions, interview)) return true;
      await changeSetting(setting, store, interview, deps);
    }
  }
}

async function chooseSetting(
  group: Group,
  store: AnswerStore,
  deps: EditDeps,
  before: string | undefined,
): Promise<Setting | undefined> {
  const settings = changeable(group, store);
  const question = {
    message: `${group}: which setting do you want to change?`,
    default: before,
    help: [
      'Settings without a value use the chart default.',
      'Each question shows how to clear its value.',
      'scalr-agent install --help',
    ],
    choices: settings.map((setting) => {
      const answer = store.answer(setting);
      const description =
        answer === undefined
          ? (defaultText(setting, store, deps.facts()) ?? 'not set')
          : answerText(setting, answer);
      return {value: setting.id, label: settingLabel(setting), description};
    }),
  };
  const picked = await chooseInReview(deps.prompter, question, 'Done');
  return settings.find(({id}) => id === picked);
}

/** Asks for one setting outside the flow. */
export async function changeSetting(
  setting: Setting,
  store: AnswerStore,
  interview: Interview,
  deps: EditDeps,
): Promise<void> {
  const fallback = setting.fallback?.(store.get);
  const current =
    store.answer(setting) ??
    (fallback === undefined ? undefined : {value: fallback, source: 'default' as const});
  const orElse = setting.required ? undefined : 'Not set';
  const byDefault = setting.required ? undefined : chartDefaultOf(setting, store, deps.facts());
  const unset = defaultText(setting, store, deps.facts()) ?? 'Not set';
  const orElseMeaning = byDefault === undefined ? undefined : `uses the ${defaultWord(store)}`;
  const options = {
    orElse,
    orElseMeaning,
    byDefault,
    defaultOf: defaultWord(store),
    current,
    heading: ['Review', ...interview.takeNotes()],
    canGoBack: true,
    canClear: true,
  };
  const answer = await unlessBack(ask(setting, options, store, deps), 'unchanged' as const);
  // A secret is not shown, so an empty answer keeps it.
  if (answer === 'unchanged' || (answer === undefined && setting.id === token.id)) return;
  if (answer === undefined) store.delete(setting);
  else store.set(setting, answer);
  store.asked.add(setting.id);
  interview.update(setting.id, answer === undefined ? unset : answerText(setting, answer));
  for (const dropped of store.dropUseless(setting))
    interview.note(`Removed the answer for ${settingName(dropped)}: it no longer applies.`);
  await deps.onAnswer();
}

const changeable = (group: Group, store: AnswerStore): Setting[] =>
  NOT_HERE.includes(group)
    ? []
    : catalog.filter(
        (setting) =>
          setting.group === group &&
          setting.id !== target.id &&
          (setting.onlyEnv === undefined || setting.id === token.id) &&
          missingFor(setting, store.get) === undefined &&
          !isForeign(setting, store),
      );

const summaryOf = (group: Group, store: AnswerStore): string =>
  changeable(group, store)
    .flatMap((setting) => {
      const answer = store.answer(setting);
      return answer === undefined ? [] : [`${settingName(setting)} ${answerText(setting, answer)}`];
    })
    .join(', ')
    .replace(/^(.{40}).+/, '$1…') || 'chart defaults';
