import type {ClusterAccess} from '../cluster/helm/releases.ts';
import type {ScalrClient} from '../extensions/account/client.ts';
import {anySignal} from '../ground/async.ts';
import type {ClusterTarget, ReleaseName} from '../ground/command-line.ts';
import type {Prompter} from '../ground/system/system.ts';
import type {Settings} from '../settings/settings.ts';
import {placeContext} from '../wizard/place.ts';
import type {ResumeStore} from '../wizard/resume.ts';
import type {WizardState} from '../wizard/wizard-state.ts';
import {releaseName} from './connection-flags.ts';
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
  /** Before the first question. */
  start: WizardState;
  resumeStore: ResumeStore;
}

/** After this time, the wizard asks instead of waiting for the cluster. A credential plugin alone takes seconds. */
const DISCOVERY_TIMEOUT_MS = 5000;

export const discoverySignal = ({interrupt}: Pick<WizardSession, 'interrupt'>): AbortSignal =>
  anySignal(AbortSignal.timeout(DISCOVERY_TIMEOUT_MS), interrupt);

/** The flags for the chosen cluster. */
export const flagsAt = (
  {flags}: Pick<WizardSession, 'flags'>,
  {place}: Pick<WizardState, 'place'>,
): InstallFlags => ({
  ...flags,
  'kube-context': place?.kind === 'kubernetes' ? place.context : undefined,
});

/** The release and its cluster, even one for which only files are written. */
export const nameAt = ({flags}: Pick<WizardSession, 'flags'>, state: WizardState): ReleaseName =>
  releaseName({...flags, 'kube-context': placeContext(state)}, state.answers);
