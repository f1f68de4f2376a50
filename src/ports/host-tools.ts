import type {ReadError} from '../ground/read-error.ts';
import type {LogStream} from './log-stream.ts';

/** One read-only call of a tool of this machine. */
export interface HostCall {
  tool: 'docker' | 'journalctl' | 'systemctl';
  args: readonly string[];
}

/** `stdout` contains the output until the failure. */
export type HostAnswer = {stdout: string; trouble?: HostError};
export type HostError = ReadError & {isToolMissing?: true};

/** Docker and systemd of this machine. Failures are returned, not thrown. */
export interface HostTools {
  /** For small outputs. */
  run(call: HostCall, options: {signal: AbortSignal}): Promise<HostAnswer>;
  /** For logs of any size: complete lines of standard output, and of standard error with `isLogOnBoth`. */
  stream(call: HostCall, options: {signal: AbortSignal; isLogOnBoth?: boolean}): Promise<LogStream | {trouble: HostError}>;
}
