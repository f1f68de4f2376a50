import type {ReadError} from '../ground/read-error.ts';

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
