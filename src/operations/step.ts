import type {Difference} from '../diff/values-diff.ts';
import type {Call, ClusterTarget} from '../ground/command-line.ts';
import type {Warning} from '../ground/errors.ts';
import type {ObjectRef} from '../kubernetes/objects.ts';
import type {Permission} from '../kubernetes/permissions.ts';
import type {RunsOf} from '../release/inventory.ts';

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

export const byPhase = (one: ReleaseStep, other: ReleaseStep): number => PHASES.indexOf(one.phase) - PHASES.indexOf(other.phase);

export const ofPhase = (steps: readonly ReleaseStep[], phase: Phase): ReleaseStep[] => steps.filter((each) => each.phase === phase);

/** One call of a plan. */
export interface Step {
  id: string;
  title: string;
  call: Call;
  /** Required permissions (default: those of the call of kubectl). */
  permissions?: readonly Permission[];
  /** Deletes something that cannot be restored. */
  isDestructive?: boolean;
  /** What remains changed if a later step fails, and the call that reverts it. */
  undo?: {text: string; title: string; call: Call; object: ObjectRef};
  /** Workloads that the call scales or deletes. Helm does not notice, so only a rollback restores them. */
  workloads?: readonly ObjectRef[];
  /** After this step nothing can be reverted. */
  isFinal?: boolean;
  /** The stderr of a failed call that still counts as success, such as "not found". */
  tolerates?: RegExp;
  /** The call is only shown: the objects it lists are polled until they contain no such run (see runsIn), at most for this time. */
  waitFor?: {
    kubeTarget: ClusterTarget;
    noRunsOf: RunsOf;
    timeoutSeconds: number;
    /** How to continue without waiting. */
    howToBreakOff: string;
  };
}

/** The steps in order; data that can be printed, compared and run. */
export interface Plan {
  steps: readonly ReleaseStep[];
  /** Values of the installed release that the steps remove or change without being asked to; secrets in them are hidden. */
  lostValues?: readonly Difference[];
  /** PVCs that Helm would delete; they remain with their data. */
  keptClaims?: readonly string[];
  /** Limits of waiting for runs, and what could not be read. */
  warnings?: readonly Warning[];
  /** Why --yes is not enough and the user must type the release name. */
  risk?: string;
}
