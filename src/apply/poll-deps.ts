import type {Interrupts} from '../ports/interrupts.ts';
import type {Processes} from '../ports/processes.ts';

/** What everything needs that looks again and again until somebody interrupts it. */
export interface WaitingWorld {
  processes: Processes;
  interrupts: Interrupts;
  now(): Date;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}
