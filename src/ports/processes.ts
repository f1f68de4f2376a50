import type {Call, ProcessResult} from '../ground/command-line.ts';
import type {ReadError} from '../ground/fact.ts';

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

/** One read-only call of a tool of this machine. */
export interface HostCall {
  tool: 'docker' | 'journalctl' | 'systemctl' | 'df';
  args: readonly string[];
}

/** `stdout` contains the output until the failure. */
export type HostAnswer = {stdout: string; error?: HostError};
export type HostError = ReadError & {isToolMissing?: true};

/** Docker, systemd and disks of this machine. Failures are returned, not thrown. */
export interface HostTools {
  /** For small outputs. */
  run(call: HostCall, options: {signal: AbortSignal}): Promise<HostAnswer>;
  /** For logs of any size: complete lines of standard output, and of standard error with `isLogOnBoth`. */
  stream(call: HostCall, options: {signal: AbortSignal; isLogOnBoth?: boolean}): Promise<LogStream | {error: HostError}>;
}

/** A log while it is read. */
export interface LogStream {
  /** Never throws; `end` resolves to the reason if the log is incomplete. The source is closed when the reader stops. */
  chunks: AsyncIterable<Buffer>;
  /** Why the log is incomplete; undefined if it is complete. Resolves after `chunks`. */
  end: Promise<ReadError | undefined>;
  error?: undefined;
}
