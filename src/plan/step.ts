import type {Difference} from '../cluster/drift.ts';
import type {RunsOf} from '../cluster/inventory.ts';
import type {Call, Place} from '../ports/processes.ts';

/** One call of a plan. */
export interface Step {
  id: string;
  title: string;
  call: Call;
  /** It deletes something that cannot be restored. */
  isDestructive?: boolean;
  /** What a failure of a later step leaves changed, and the call that takes it back. */
  undo?: {text: string; title: string; call: Call};
  /** Once it is done there is nothing to take back. */
  isFinal?: boolean;
  /** The stderr of a failed call that still counts as success, such as "not found". */
  tolerates?: RegExp;
  /** The call is only shown: what it lists is read again and again until it holds no run of these any more (see runsIn), at most for this time. */
  waitFor?: {
    place: Place;
    noRunsOf: RunsOf;
    timeoutSeconds: number;
    /** For who does not want to wait. */
    howToBreakOff: string;
  };
}

/** The steps in order; data that can be printed, compared and run. */
export interface Plan {
  steps: readonly Step[];
  /** What the steps remove because the settings no longer ask for it. */
  losses?: readonly Loss[];
  /** The limits of waiting for runs. */
  warnings?: readonly string[];
  /** Why --yes is not enough, and the name of the release has to be typed. */
  risk?: string;
}

/** A PersistentVolumeClaim that helm deletes, or a value that is dropped; secrets in it are hidden. */
export type Loss = {claim: string} | {value: Difference};
