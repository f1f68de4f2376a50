import type {Difference} from '../cluster/diff/values-diff.ts';
import type {ObjectRef} from '../cluster/kubernetes/object-refs.ts';
import type {Permission} from '../cluster/kubernetes/permissions.ts';
import type {RunsOf} from '../cluster/release/inventory.ts';
import type {Call, KubectlCall} from '../ground/call.ts';
import type {ClusterTarget} from '../ground/command-line.ts';
import type {SettingFinding} from '../ground/finding.ts';
import type {Secret} from '../ground/secret.ts';

/** Whatever command has planned them, steps on a cluster run in this order. */
const PHASES = [
  'namespace',
  'secrets',
  /** Scales up what an interrupted uninstall has stopped. */
  'start',
  /** Keeps PVCs and volumes that Helm would delete. */
  'keep',
  /** CRDs are applied while the agent still works, because only they can fail for lack of permissions. */
  'definitions',
  'drain',
  /** Deletes what helm does not delete with the release. */
  'former',
  /** Deletes what the release creates again. */
  'replace',
  /** Ends a pending operation of Helm, which rejects any other one. */
  'unlock',
  'release',
  /** Custom resources that Helm does not change back. */
  'restore',
  'restart',
  /** Assigns Secrets to another release. */
  'move',
  /** Reserves retained volumes for the next install. */
  'reserve',
  'remove',
] as const;

type Phase = (typeof PHASES)[number];

export interface ReleaseStep extends Step {
  phase: Phase;
}

export const inOrder = (steps: Partial<Record<Phase, readonly Step[]>>): ReleaseStep[] =>
  PHASES.flatMap((phase) => (steps[phase] ?? []).map((step) => ({...step, phase})));

export const byPhase = (one: ReleaseStep, other: ReleaseStep): number =>
  PHASES.indexOf(one.phase) - PHASES.indexOf(other.phase);

export const ofPhase = (steps: readonly ReleaseStep[], phase: Phase): ReleaseStep[] =>
  steps.filter((each) => each.phase === phase);

/** An object that a call deletes. */
export interface RemovedObject {
  kind: string;
  name: string;
  /** Undefined for cluster-scoped objects. */
  namespace?: string;
  /** Default: that of Kubernetes. */
  groupVersion?: string;
}

/** How the change of one workload is reverted. */
export interface Undo {
  object: ObjectRef;
  /** What the step takes away. */
  restores: 'replicas' | 'object';
  /** What remains changed, as a sentence. */
  text: string;
  call: KubectlCall;
  /** What the call has restored, as a sentence. */
  reverted: string;
  /** Commands for the user instead, with what they do. */
  byHand: readonly string[];
}

export interface StoredSecret {
  name: string;
  data: Readonly<Record<string, Secret>>;
}

/** One call of a plan. */
export interface Step {
  id: string;
  title: string;
  call: Call;
  /** Required permissions (default: those of the call of kubectl). */
  permissions?: readonly Permission[];
  /** Deletes something that cannot be restored. */
  isDestructive?: boolean;
  /** What remains changed if a later step fails. */
  undo?: readonly Undo[];
  /** Workloads that the call scales or deletes. Helm does not notice, so only a rollback restores them. */
  workloads?: readonly ObjectRef[];
  /** The content of the Secret that the call writes. */
  stores?: StoredSecret;
  /** Objects that the call deletes. */
  deletes?: readonly RemovedObject[];
  /** After this step nothing can be reverted. */
  isFinal?: boolean;
  /** The stderr of a failed call that still counts as success, such as "not found". */
  tolerates?: RegExp;
  /** The call is only shown: the step waits instead. */
  waitFor?: RunWait;
}

/** Jobs and pods are listed until they contain no such run (see runsIn), at most for this time. */
export interface RunWait {
  kubeTarget: ClusterTarget;
  noRunsOf: RunsOf;
  timeoutSeconds: number;
  /** How to continue without waiting. */
  howToBreakOff: string;
}

/** The steps in order; data that can be printed, compared and run. */
export interface Plan {
  steps: readonly ReleaseStep[];
  /** Values of the installed release that the steps remove or change without being asked to; secrets in them are hidden. */
  lostValues?: readonly Difference[];
  /** PVCs that Helm would delete; they remain with their data. */
  keptClaims?: readonly string[];
  /** Limits of waiting for runs, and what could not be read. */
  warnings?: readonly SettingFinding[];
  /** Why --yes is not enough and the user must type the release name. */
  risk?: string;
}
