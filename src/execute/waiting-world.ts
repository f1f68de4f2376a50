import type {ClusterAccess} from '../cluster/cluster-access.ts';
import type {Interrupts} from '../ports/interrupts.ts';

/** What everything needs that looks again and again until somebody interrupts it. */
export interface WaitingWorld extends ClusterAccess {
  interrupts: Interrupts;
  now(): Date;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}
