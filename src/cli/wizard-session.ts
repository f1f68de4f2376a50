import type {ClusterAccess} from '../cluster/helm/releases.ts';
import type {ScalrClient} from '../extensions/account/client.ts';
import type {ClusterTarget, ReleaseName} from '../ground/command-line.ts';
import type {Prompter} from '../ground/system/system.ts';
import type {Settings} from '../settings/settings.ts';
import type {AnswerStore} from '../wizard/answer-store.ts';
import type {ResumeStore} from '../wizard/resume.ts';
import {releaseName} from './flags.ts';
import type {InstallFlags} from './install-flags.ts';
import type {CommandContext} from './operate.ts';

/** Ways to the cluster and to the Scalr account. */
export interface WizardAccess {
  accessTo(kubeTarget: ClusterTarget): Promise<ClusterAccess>;
  /** The account of this host, or of --url. @throws ExpectedError if there is no credential */
  account(host?: string): Promise<ScalrClient>;
}

/** One run of the wizard. */
export interface WizardSession extends WizardAccess {
  flags: InstallFlags;
  context: CommandContext;
  prompter: Prompter;
  /** Aborted when the user ends the program. */
  interrupt: AbortSignal;
  /** Settings that were given before the first question. */
  given: Settings;
  store: AnswerStore;
  resumeStore: ResumeStore;
}

export const contextOf = ({place}: AnswerStore): string | undefined =>
  place?.kind === 'kubernetes' ? place.context : undefined;

/** The flags for a context, by default for the chosen one. */
export const flagsAt = (
  {flags, store}: Pick<WizardSession, 'flags' | 'store'>,
  kubeContext = contextOf(store),
): InstallFlags => ({...flags, 'kube-context': kubeContext});

export const nameAt = (
  session: Pick<WizardSession, 'flags' | 'store'>,
  kubeContext?: string,
): ReleaseName => releaseName(flagsAt(session, kubeContext), session.store);
