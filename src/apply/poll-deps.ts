import type {ClusterAccess} from '../cluster/cluster-access.ts';
import type {Interrupts} from '../ports/interrupts.ts';

/** What every loop needs that reads the cluster again and again until the user interrupts it. */
export interface PollDeps extends ClusterAccess {
  interrupts: Interrupts;
  now(): Date;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}
