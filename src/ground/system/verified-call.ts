import {abortReason} from '../async.ts';
import type {Call} from '../call.ts';
import type {ProcessResult} from '../command-line.ts';
import {ExitCode} from '../errors.ts';
import type {Processes, Running} from './system.ts';

/** The call to start, or why it cannot be verified. @throws ExpectedError if it must not start */
type Verify = (signal: AbortSignal) => Promise<{call: Call} | {failure: ProcessResult}>;

/** A call with changes that starts after it was verified. */
export class VerifiedCall implements Running {
  readonly outcome: Promise<ProcessResult>;
  readonly #stopping = new AbortController();
  #running: Running | undefined;
  #isLeft = false;

  constructor(processes: Processes, verify: Verify) {
    this.outcome = this.#run(processes, verify);
  }

  interrupt = (): void => {
    this.#stopping.abort('interrupted');
    this.#running?.interrupt();
  };

  leave = (): void => {
    this.#isLeft = true;
    this.#running?.leave();
  };

  async #run(processes: Processes, verify: Verify): Promise<ProcessResult> {
    const {signal} = this.#stopping;
    const verified = await verify(signal);
    if (signal.aborted)
      return {exitCode: ExitCode.failed, stdout: '', stderr: `not started: ${abortReason(signal)}`};
    if ('failure' in verified) return verified.failure;
    this.#running = processes.start(verified.call);
    if (this.#isLeft) this.#running.leave();
    return this.#running.outcome;
  }
}
