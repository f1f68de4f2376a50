import {ExpectedError} from '../errors.ts';
import type {Call, Outcome, Processes} from '../ports/processes.ts';
import {isRetryable} from '../ports/tool-failure.ts';

export interface Patience {
  /** No question is waited for any longer. */
  over: AbortSignal;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

/** Before it is asked again, and again. */
const PAUSES_MS = [500, 1500];

/**
 * Questions of one preflight. The same one is asked once, a moment of weakness is outlived, none outlives `over`, and a tool
 * that is not there is one more answer. For calls that change nothing only.
 */
export function questions(processes: Processes, {over, sleep}: Patience): Processes {
  const asked = new Map<string, Promise<Outcome>>();

  async function ask(call: Call, signal: AbortSignal): Promise<Outcome> {
    for (const pause of PAUSES_MS) {
      const outcome = await askOnce(call, signal, processes);
      if (outcome.exitCode === 0 || signal.aborted || !isRetryable(outcome)) return outcome;
      await sleep(pause, signal);
    }
    return askOnce(call, signal, processes);
  }

  const remembered = (call: Call, signal: AbortSignal): Promise<Outcome> => {
    const key = JSON.stringify(call);
    const answer = asked.get(key) ?? ask(call, signal);
    asked.set(key, answer);
    return answer;
  };

  return {
    run: (call, {over: sooner} = {}) => remembered(call, sooner ? AbortSignal.any([over, sooner]) : over),
    start(call) {
      const controller = new AbortController();
      const outcome = remembered(call, AbortSignal.any([over, controller.signal]));
      return {outcome, interrupt: () => controller.abort(), leave: () => undefined};
    },
  };
}

async function askOnce(call: Call, over: AbortSignal, processes: Processes): Promise<Outcome> {
  try {
    return await processes.run(call, {over});
  } catch (error) {
    if (error instanceof ExpectedError) return {exitCode: 1, stdout: '', stderr: error.message};
    throw error;
  }
}
