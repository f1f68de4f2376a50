import type {Difference} from '../diff/values-diff.ts';
import type {Call, ClusterTarget} from '../ground/command-line.ts';
import type {Warning} from '../ground/errors.ts';
import type {Permission} from '../kubernetes/permissions.ts';
import type {RunsOf} from '../release/inventory.ts';

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
  undo?: {text: string; title: string; call: Call; object: {kind: string; name: string}};
  /** After this step nothing can be reverted. */
  isFinal?: boolean;
  /** The stderr of a failed call that still counts as success, such as "not found". */
  tolerates?: RegExp;
  /** The call is only shown: the objects it lists are polled until they contain no such run (see runsIn), at most for this time. */
  waitFor?: {
    place: ClusterTarget;
    noRunsOf: RunsOf;
    timeoutSeconds: number;
    /** How to continue without waiting. */
    howToBreakOff: string;
  };
}

/** The steps in order; data that can be printed, compared and run. */
export interface Plan {
  steps: readonly Step[];
  /** Values of the installed release that the steps remove or change without being asked to; secrets in them are hidden. */
  lostValues?: readonly Difference[];
  /** PVCs that Helm would delete; they remain with their data. */
  keptClaims?: readonly string[];
  /** Limits of waiting for runs, and what could not be read. */
  warnings?: readonly Warning[];
  /** Why --yes is not enough and the user must type the release name. */
  risk?: string;
}
