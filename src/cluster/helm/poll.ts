import type {Clock} from '../../ground/async.ts';
import type {Interrupts} from '../../ground/system/system.ts';
import type {ClusterAccess} from './releases.ts';

export const POLL_INTERVAL_MS = 1500;

/** What every loop needs that reads the cluster again and again until the user interrupts it. */
export interface PollDeps extends ClusterAccess, Clock {
  interrupts: Interrupts;
}
