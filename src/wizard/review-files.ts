import {dirname} from 'node:path';
import {answersText} from '../answers/answers-file.ts';
import type {Program} from '../ground/command-line.ts';
import {type ExpectedError, onFailure} from '../ground/errors.ts';
import type {Plan} from '../operations/step.ts';
import type {WantedRelease} from '../operations/wanted-release.ts';
import type {Checked} from '../preflight/preflight-context.ts';
import type {InstallFacts} from '../release/read-release.ts';
import type {Settings} from '../settings/settings.ts';
import {elsewhereText, type HostReview, hostCommandsText, sameAgainText} from '../ui/review.ts';
import {isPrivate} from '../values/document.ts';
import type {Generated} from '../values/generate.ts';
import type {AnswerStore} from './answer-store.ts';
import {unlessBack} from './ask.ts';
import type {Interview, InterviewDeps} from './interview.ts';
import {hostOf} from './possible-answers.ts';

/** The plan of an install, and the preflight checks. */
export interface ReviewedInstall {
  plan: Plan;
  facts: InstallFacts;
  checks: readonly Checked[];
  /** Changes in the Scalr account, before those in the cluster. */
  accountSteps?: readonly {title: string}[];
}

export interface Reviewed {
  generated?: Generated;
  prepared?: ReviewedInstall;
  /** Without Kubernetes. */
  host?: HostReview & {settings: Settings};
  /** Why there is no plan. */
  problem?: ExpectedError;
}

export interface FilesDeps extends Pick<InterviewDeps, 'prompter' | 'screen'> {
  /** Flags that select the cluster, for the printed command. */
  where(): readonly string[];
  wanted(generated: Generated): WantedRelease;
  /** Writes the texts and answers.yaml. Returns their paths. @throws ExpectedError */
  save(directory: string, settings: Settings, texts: readonly {path: string; text: string}[]): Promise<readonly string[]>;
  program: Program;
  completePath(text: string): Promise<readonly string[]>;
}

/** Values from the cluster keep the cluster as their source. */
const decided = ({settings}: {settings: Settings}, store: AnswerStore) =>
  settings.entries().map(({setting, answer}) => ({setting, answer: store.answer(setting) ?? answer}));

/** Files that were saved from the review. */
export interface Saved {
  directory: string;
  paths: readonly string[];
  contents: string;
}

/** What Save writes besides answers.yaml; undefined if there are no settings to save. */
function contentsOf(
  {generated, host}: Reviewed,
  {wanted}: FilesDeps,
): {settings: Settings; texts: Parameters<FilesDeps['save']>[2]} | undefined {
  if (generated !== undefined) return {settings: generated.settings, texts: [{path: 'values.yaml', text: wanted(generated).yaml}]};
  return host && {settings: host.settings, texts: host.files};
}

/** Everything that the saved files depend on. */
function fingerprintOf(reviewed: Reviewed, deps: FilesDeps): string | undefined {
  const found = contentsOf(reviewed, deps);
  return found && JSON.stringify([answersText(found.settings), found.texts, deps.where()]);
}

/** True if saving again would write the same. */
export const isCurrent = (saved: Saved | undefined, reviewed: Reviewed, deps: FilesDeps): saved is Saved =>
  saved !== undefined && saved.contents === fingerprintOf(reviewed, deps);

/** Commands that give the same result without the wizard; they use saved files only if these are current. */
export function commandsText(reviewed: Reviewed, store: AnswerStore, saved: Saved | undefined, deps: FilesDeps): string {
  const {generated, host} = reviewed;
  const {program} = deps;
  const directory = isCurrent(saved, reviewed, deps) ? saved.directory : undefined;
  if (host !== undefined) return hostCommandsText(hostOf(store) ?? 'docker', decided(host, store), host, {directory, program});
  if (generated === undefined) return '';
  const printed = {entries: decided(generated, store), target: generated.target, directory, program};
  return `${sameAgainText({...printed, where: deps.where()})}\n${elsewhereText({...deps.wanted(generated), ...printed}, deps.screen)}`;
}

/** The command that repeats the session with its saved answers. */
export const repeatText = (store: AnswerStore, {program}: FilesDeps): string =>
  hostOf(store) === 'systemd'
    ? `Saved answers write the same files: ${program.other.replace(/^scalr-agent$/, 'scalr-agent-install')} export systemd --answers answers.yaml`
    : `Saved answers repeat this session: ${program.install} --answers answers.yaml`;

/** The files of the review, except those with secrets. */
export const filesText = ({generated, host}: Reviewed, {wanted}: FilesDeps): string =>
  generated === undefined
    ? (host?.files ?? []).flatMap(({path, text, isPrivate}) => (isPrivate ? [] : [`# ${path}\n${text}`])).join('\n')
    : wanted(generated).yaml;

/** Returns the written files; undefined after an error, which the review shows. */
export async function save(reviewed: Reviewed, interview: Interview, deps: FilesDeps): Promise<Saved | undefined> {
  const {generated, host} = reviewed;
  const found = contentsOf(reviewed, deps);
  if (found === undefined) return undefined;
  const secretFile = host?.files.find(({isPrivate}) => isPrivate)?.path ?? (generated && isPrivate(generated) ? 'values.yaml' : undefined);
  const warning =
    host === undefined ? 'the password of the proxy URL; answers.yaml leaves it out' : 'the secrets; answers.yaml leaves them out';
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
  const paths = await deps.save(directory, found.settings, found.texts).catch(onFailure(({message}) => void interview.note(message)));
  return paths ? {directory: dirname(paths[0] as string), paths, contents: fingerprintOf(reviewed, deps) as string} : undefined;
}
