import type {ApiError, LogStream} from './log-stream.ts';

/** One call of a tool that knows what runs on this machine; it only reads. */
export interface HostCall {
  tool: 'docker' | 'journalctl' | 'systemctl';
  args: readonly string[];
}

/** What was said before it failed is there. */
export type HostAnswer = {stdout: string; trouble?: HostTrouble};
export type HostTrouble = ApiError & {isToolMissing?: true};

/** Docker and systemd of this machine. Whatever befalls a call is its answer; nothing is thrown. */
export interface HostTools {
  /** For what is small. */
  run(call: HostCall, wish: {over: AbortSignal}): Promise<HostAnswer>;
  /** For logs of any size: whole lines of its output, and of its error output where `isLogOnBoth`. */
  stream(call: HostCall, wish: {over: AbortSignal; isLogOnBoth?: boolean}): Promise<LogStream | {trouble: HostTrouble}>;
}
