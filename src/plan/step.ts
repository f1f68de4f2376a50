import type {Difference} from '../cluster/drift.ts';
import type {RunsOf} from '../cluster/inventory-runs.ts';
import type {Call} from '../ports/processes.ts';

/** One call of a plan. */
export interface Step {
  id: string;
  title: string;
  call: Call;
  /** It deletes something that cannot be restored. */
  isDestructive?: boolean;
  /** The stderr of a failed call that still counts as success, such as "not found". */
  tolerates?: RegExp;
  /** The call only reads; it is repeated until it shows no more of these runs (see runsIn), at most for this time. */
  waitFor?: {noRunsOf: RunsOf; timeoutSeconds: number};
}

/** The steps in order; data that can be printed, compared and run. */
export interface Plan {
  steps: readonly Step[];
  /** What the steps remove because the settings no longer ask for it. */
  losses?: readonly Loss[];
}

/** A PersistentVolumeClaim that helm deletes, or a value that is dropped; secrets in it are hidden. */
export type Loss = {claim: string} | {value: Difference};
