import type {ClusterAccess} from '../cluster/cluster-access.ts';
import {ExpectedError} from '../errors.ts';
import {cachedClient} from '../kubernetes/cached-client.ts';
import type {Call, Outcome, Processes} from '../ports/processes.ts';
import {anySignal} from '../ports/signals.ts';
import {isRetryable} from '../ports/tool-failure.ts';

export interface RetryOptions {
  /** No answer is waited for any longer. */
  over: AbortSignal;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

/** Before a call is repeated, and repeated again. */
const PAUSES_MS = [500, 1500];

/** For everything that is only looked at before a plan is made: the same question is asked once. */
export const cachedAccess = ({kubernetes, processes}: ClusterAccess, options: RetryOptions): ClusterAccess => ({
  kubernetes: cachedClient(kubernetes, options.over),
  processes: cachedProcesses(processes, options),
});

/**
 * Runs the same call once, repeats it while the API server is overloaded, and never longer than `over`; a tool that is not there is
 * one more outcome. For calls that change nothing only.
 */
export function cachedProcesses(processes: Processes, {over, sleep}: RetryOptions): Processes {
  const outcomes = new Map<string, Promise<Outcome>>();

  async function run(call: Call, signal: AbortSignal): Promise<Outcome> {
    for (const pause of PAUSES_MS) {
      const outcome = await runOnce(call, signal, processes);
      if (outcome.exitCode === 0 || signal.aborted || !isRetryable(outcome)) return outcome;
      await sleep(pause, signal);
    }
    return runOnce(call, signal, processes);
  }

  const cached = (call: Call, signal: AbortSignal): Promise<Outcome> => {
    const key = JSON.stringify(call);
    const outcome = outcomes.get(key) ?? run(call, signal);
    outcomes.set(key, outcome);
    return outcome;
  };

  return {
    run: (call, {over: sooner} = {}) => cached(call, sooner ? anySignal(over, sooner) : over),
    start(call) {
      const controller = new AbortController();
      const outcome = cached(call, anySignal(over, controller.signal));
      return {outcome, interrupt: () => controller.abort(), leave: () => undefined};
    },
  };
}

async function runOnce(call: Call, over: AbortSignal, processes: Processes): Promise<Outcome> {
  try {
    return await processes.run(call, {over});
  } catch (error) {
    if (error instanceof ExpectedError) return {exitCode: 1, stdout: '', stderr: error.message};
    throw error;
  }
}
