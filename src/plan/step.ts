import type {Difference} from '../cluster/drift.ts';
import type {RunsOf} from '../cluster/inventory-runs.ts';
import type {Call} from '../ports/processes.ts';

/** One call of a plan. */
export interface Step {
  id: string;
  title: string;
  call: Call;
  /** It takes something away that cannot be brought back. */
  isDestructive?: boolean;
  /** What a failed call may say when its purpose is fulfilled all the same, such as "not found". */
  tolerates?: RegExp;
  /** The call is only shown: what it lists is read again and again until it holds no run of these any more (see runsIn), at most for this time. */
  waitFor?: {namespace: string; noRunsOf: RunsOf; timeoutSeconds: number};
}

/** What will be done, in order; data that can be printed, compared and run. */
export interface Plan {
  steps: readonly Step[];
  /** What is there and goes with them, because it is not asked for any more. */
  losses?: readonly Loss[];
}

/** A claim of the release that helm deletes, or a value that it was given and is given no more; secrets in it are hidden. */
export type Loss = {claim: string} | {value: Difference};
