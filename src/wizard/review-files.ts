import type {InstallFacts} from '../cluster/install-facts.ts';
import type {Program} from '../command-line.ts';
import {ExpectedError} from '../errors.ts';
import type {Plan} from '../plan/step.ts';
import type {WantedRelease} from '../plan/wanted-release.ts';
import type {Checked} from '../preflight/check.ts';
import type {Settings} from '../settings/settings.ts';
import {elsewhereText, type HostReview, hostCommandsText, sameAgainText} from '../ui/review.ts';
import {isPrivate} from '../values/document.ts';
import type {Generated} from '../values/generate.ts';
import type {AnswerStore} from './answer-store.ts';
import {unlessBack} from './ask.ts';
import type {Interview, InterviewDeps} from './interview.ts';
import {hostOf} from './on-host.ts';

/** The plan of an install, and the preflight checks. */
export interface Prepared {
  plan: Plan;
  facts: InstallFacts;
  checks: readonly Checked[];
}

/** What the review shows. */
export interface Reviewed {
  generated?: Generated;
  prepared?: Prepared;
  /** Without Kubernetes. */
  host?: HostReview & {settings: Settings};
  /** Why there is no plan. */
  problem?: ExpectedError;
}

/** What the files of the review need. */
export interface FilesDeps extends Pick<InterviewDeps, 'prompter' | 'screen'> {
  /** Flags that select the cluster, for the printed command. */
  where(): readonly string[];
  wanted(generated: Generated): Omit<WantedRelease, 'manifest'>;
  /** Writes the texts and answers.yaml. Returns their paths. @throws ExpectedError */
  save(directory: string, settings: Settings, texts: readonly {path: string; text: string}[]): Promise<readonly string[]>;
  /** How the user started this program. */
  program: Program;
  /** Continuations of a typed path. */
  completePath(text: string): Promise<readonly string[]>;
}

/** Values from the cluster keep the cluster as their source. */
const decided = ({settings}: {settings: Settings}, store: AnswerStore) =>
  settings.entries().map(({setting, answer}) => ({setting, answer: store.answer(setting) ?? answer}));

/** Commands that give the same result without the wizard. */
export function commandsText(
  {generated, host}: Reviewed,
  store: AnswerStore,
  saved: readonly string[] | undefined,
  deps: FilesDeps,
): string {
  const {program} = deps;
  if (host !== undefined) return hostCommandsText(hostOf(store) ?? 'docker', decided(host, store), host, program);
  if (generated === undefined) return '';
  const entries = decided(generated, store);
  const file = saved?.find((path) => path.endsWith('values.yaml'));
  const again = sameAgainText({entries, target: generated.target, where: deps.where(), program});
  return `${again}\n${elsewhereText({...deps.wanted(generated), entries, target: generated.target, program, file}, deps.screen)}`;
}

/** The files of the review, except those with secrets. */
export const filesText = ({generated, host}: Reviewed, {wanted}: FilesDeps): string =>
  generated === undefined
    ? (host?.files ?? []).flatMap(({path, text, isPrivate}) => (isPrivate ? [] : [`# ${path}\n${text}`])).join('\n')
    : wanted(generated).yaml;

/** Returns the written files; undefined after an error, which the review shows. */
export async function save(
  {generated, host}: Reviewed,
  interview: Interview,
  {prompter, save: write, completePath, wanted}: FilesDeps,
): Promise<readonly string[] | undefined> {
  const texts = generated === undefined ? (host?.files ?? []) : [{path: 'values.yaml', text: wanted(generated).yaml}];
  const settings = generated?.settings ?? host?.settings;
  if (settings === undefined) return undefined;
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
    complete: completePath,
    canGoBack: true,
  };
  const directory = await unlessBack(prompter.input(question), undefined);
  if (directory === undefined) return undefined;
  try {
    return await write(directory, settings, texts);
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    interview.note(error.message);
    return undefined;
  }
}
