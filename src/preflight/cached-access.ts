import type {Call, ProcessResult} from '../ground/command-line.ts';
import {ExpectedError} from '../ground/errors.ts';
import {anySignal} from '../ground/signals.ts';
import {isRetryable} from '../ground/tool-errors.ts';
import type {ClusterAccess} from '../helm/releases.ts';
import {cachedClient} from '../kubernetes/with-retries.ts';
import type {Processes} from '../ports/processes.ts';

export interface RetryOptions {
  signal: AbortSignal;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

/** Pauses before the retries of a call. */
const PAUSES_MS = [500, 1500];

/** For everything that is only read before a plan is created: the same request is sent once. */
export const cachedAccess = ({kubernetes, processes, helmDriver}: ClusterAccess, options: RetryOptions): ClusterAccess => ({
  helmDriver,
  kubernetes: cachedClient(kubernetes, options.signal),
  processes: cachedProcesses(processes, options),
});

/**
 * Runs the same call once, retries it while the API server is overloaded, until `signal`; a missing tool counts as a failed call. Only
 * for calls that change nothing.
 */
export function cachedProcesses(processes: Processes, {signal, sleep}: RetryOptions): Processes {
  const outcomes = new Map<string, Promise<ProcessResult>>();

  async function run(call: Call, signal: AbortSignal): Promise<ProcessResult> {
    for (const pause of PAUSES_MS) {
      const outcome = await runOnce(call, signal, processes);
      if (outcome.exitCode === 0 || signal.aborted || !isRetryable(outcome)) return outcome;
      await sleep(pause, signal);
    }
    return runOnce(call, signal, processes);
  }

  const cached = (call: Call, signal: AbortSignal): Promise<ProcessResult> => {
    const key = JSON.stringify(call);
    const outcome = outcomes.get(key) ?? run(call, signal);
    outcomes.set(key, outcome);
    return outcome;
  };

  return {
    run: (call, {signal: sooner} = {}) => cached(call, sooner ? anySignal(signal, sooner) : signal),
    start(call) {
      const controller = new AbortController();
      const outcome = cached(call, anySignal(signal, controller.signal));
      return {outcome, interrupt: () => controller.abort(), leave: () => undefined};
    },
  };
}

async function runOnce(call: Call, signal: AbortSignal, processes: Processes): Promise<ProcessResult> {
  try {
    return await processes.run(call, {signal});
  } catch (error) {
    if (error instanceof ExpectedError) return {exitCode: 1, stdout: '', stderr: error.message};
    throw error;
  }
}
