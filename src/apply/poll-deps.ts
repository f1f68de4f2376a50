import type {Interrupts} from '../ports/interrupts.ts';
import type {Processes} from '../ports/processes.ts';

/** What every loop needs that reads the cluster again and again until the user interrupts it. */
export interface PollDeps {
  processes: Processes;
  interrupts: Interrupts;
  now(): Date;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}
