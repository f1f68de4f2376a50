import type {Call, ProcessResult} from '../ground/command-line.ts';

/** A running call. */
export interface Running {
  outcome: Promise<ProcessResult>;
  /** Sends SIGINT. The process is never killed. */
  interrupt(): void;
  /** This program can exit while the call continues. */
  leave(): void;
}

/** The tools of the user. */
export interface Processes {
  /** For read-only calls: they end with this program and with the signal. @throws ExpectedError if the tool is not found */
  run(call: Call, options?: {signal?: AbortSignal}): Promise<ProcessResult>;
  /** For calls with changes. */
  start(call: Call): Running;
}

/**
 * Ctrl-C and other signals: the first one requests a clean exit, the second one an immediate exit. The abort reason is the
 * name of the signal.
 */
export interface Interrupts {
  interrupt: AbortSignal;
  forceQuit: AbortSignal;
  /** Removes the signal handlers. */
  release(): void;
}
