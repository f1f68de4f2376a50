import {dirname} from 'node:path';
import {answersText} from '../answers/answers-file.ts';
import type {DesiredRelease} from '../cluster/release/desired-release.ts';
import {onFailure, unlessBack} from '../ground/errors.ts';
import type {Program} from '../ground/program.ts';
import type {InputQuestion, Prompter} from '../ground/system/system.ts';
import {count} from '../ground/text.ts';
import {certificatesIn} from '../settings/kinds/certificates.ts';
import {purpose} from '../settings/purpose.ts';
import type {Settings} from '../settings/settings.ts';
import {helmCommandsText, type PrintedPool} from '../ui/helm-commands.ts';
import {equivalentCommandText, hostCommandsText} from '../ui/review.ts';
import type {Screen} from '../ui/theme.ts';
import {isPrivate} from '../values/document.ts';
import type {GeneratedValues} from '../values/generate.ts';
import {hostOf} from './place.ts';
import type {Reviewed} from './prepare-review.ts';
import type {WizardState} from './wizard-state.ts';

export interface FilesDeps {
  prompter: Prompter;
  screen: Screen;
  /** Flags that select the cluster, for the printed command. */
  where(state: WizardState): readonly string[];
  desired(state: WizardState, generated: GeneratedValues): DesiredRelease;
  /** Writes the texts and answers.yaml. Returns their paths. @throws ExpectedError */
  save(directory: string, content: SavedContent, state: WizardState): Promise<readonly string[]>;
  program: Program;
}

/** What Save writes besides answers.yaml. */
export interface SavedContent {
  settings: Settings;
  texts: readonly {path: string; text: string}[];
}

/** Values from the cluster keep the cluster as their source. */
const entriesOf = ({settings}: {settings: Settings}, {answers}: WizardState) =>
  settings
    .entries()
    .map(({setting, answer}) => ({setting, answer: answers.answer(setting) ?? answer}));

/** Files that were saved from the review. */
export interface Saved {
  directory: string;
  paths: readonly string[];
  contents: string;
}

/** Undefined if there are no settings to save. */
function contentOf(
  {generated, host}: Reviewed,
  state: WizardState,
  {desired}: FilesDeps,
): SavedContent | undefined {
  if (generated === undefined) return host && {settings: host.settings, texts: host.files};
  const values = {path: 'values.yaml', text: desired(state, generated).yaml};
  return {settings: generated.settings, texts: [values]};
}

/** Everything that the saved files depend on. */
function fingerprintOf(
  reviewed: Reviewed,
  state: WizardState,
  deps: FilesDeps,
): string | undefined {
  const found = contentOf(reviewed, state, deps);
  return found && JSON.stringify([answersText(found.settings), found.texts, deps.where(state)]);
}

/** True if saving again would write the same. */
export const isCurrent = (
  saved: Saved | undefined,
  reviewed: Reviewed,
  state: WizardState,
  deps: FilesDeps,
): saved is Saved => saved !== undefined && saved.contents === fingerprintOf(reviewed, state, deps);

/** Commands that give the same result without the wizard; they use saved files only if these are current. */
export function commandsText(
  reviewed: Reviewed,
  state: WizardState,
  saved: Saved | undefined,
  deps: FilesDeps,
): string {
  const {generated, host} = reviewed;
  const {program} = deps;
  const directory = isCurrent(saved, reviewed, state, deps) ? saved.directory : undefined;
  if (host !== undefined)
    return hostCommandsText(hostOf(state) ?? 'docker', entriesOf(host, state), host, {
      directory,
      program,
    });
  if (generated === undefined) return '';
  const printed = {
    entries: entriesOf(generated, state),
    target: generated.target,
    directory,
    program,
    pool: poolOf(state),
  };
  return `${equivalentCommandText({...printed, where: deps.where(state)})}\n${helmCommandsText({...deps.desired(state, generated), ...printed}, deps.screen)}`;
}

const poolOf = ({pool, answers}: WizardState): PrintedPool | undefined =>
  pool && {
    name: pool.name,
    url: `https://${pool.host}`,
    isNew: pool.id === undefined && pool.mustExist !== true,
    isForVcs: answers.get(purpose) === 'vcs',
  };

const CERTIFICATES =
  /(?:^( *)-----BEGIN CERTIFICATE-----\n[\s\S]*?-----END CERTIFICATE-----\n?)+/gm;

/** The files of the review to read: without those with secrets, and with the number of certificates instead of them. */
export function filesText(
  {generated, host}: Reviewed,
  state: WizardState,
  {desired}: FilesDeps,
): string {
  const open = (host?.files ?? []).filter((file) => !file.isPrivate);
  const text =
    generated === undefined
      ? open.map((file) => `# ${file.path}\n${file.text}`).join('\n')
      : desired(state, generated).yaml;
  return text.replaceAll(
    CERTIFICATES,
    (all, indent) => `${indent}… ${count(certificatesIn(all), 'certificate')}\n`,
  );
}

/** Returns the written files, or why there are none; undefined after Esc. */
export async function save(
  reviewed: Reviewed,
  state: WizardState,
  deps: FilesDeps,
): Promise<Saved | string | undefined> {
  const content = contentOf(reviewed, state, deps);
  if (content === undefined) return undefined;
  const directory = await unlessBack(deps.prompter.input(questionAbout(reviewed)), undefined);
  if (directory === undefined) return undefined;
  const saving = deps.save(directory, content, state);
  const paths = await saving.catch(onFailure(({message}) => message));
  if (typeof paths === 'string') return paths;
  const contents = fingerprintOf(reviewed, state, deps) as string;
  return {directory: dirname(paths[0] as string), paths, contents};
}

function questionAbout({generated, host}: Reviewed): InputQuestion {
  const secretFile =
    host?.files.find(({isPrivate}) => isPrivate)?.path ??
    (generated && isPrivate(generated) ? 'values.yaml' : undefined);
  const warning =
    host === undefined
      ? 'the password of the proxy URL; answers.yaml leaves it out'
      : 'the secrets; answers.yaml leaves them out';
  return {
    message: 'Directory to save to',
    heading: secretFile ? [`${secretFile} will contain ${warning}. Do not commit it.`] : [],
    help: [
      'A missing directory is created; existing files are replaced only after confirmation.',
      'Flag --save DIRECTORY',
    ],
    default: './scalr-agent',
    canGoBack: true,
  };
}

/** Files that answers.yaml refers to and that another machine does not have. */
export const filesReferredTo = ({generated, host}: Reviewed): string[] =>
  (generated?.settings ?? host?.settings)
    ?.entries()
    .flatMap(({setting, answer}) =>
      setting.kind.isFile && answer.given !== undefined && answer.given !== '-'
        ? [answer.given]
        : [],
    ) ?? [];
