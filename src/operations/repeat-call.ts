import {sleep as wait} from '../ground/async.ts';
import type {ProcessResult} from '../ground/command-line.ts';
import {isRetryable} from '../ground/tool-errors.ts';

/** As for requests of this program to the API server: src/cluster/kubernetes/with-retries.ts */
const MAX_ATTEMPTS = 4;
const FIRST_PAUSE_MS = 500;

interface Repeating {
  signal: AbortSignal;
  sleep?(milliseconds: number, signal: AbortSignal): Promise<void>;
}

/** Makes a call again while the API server responds with 429 or 5xx. Only for calls that can be repeated safely. */
export async function whileTemporary<T extends ProcessResult | string>(
  call: () => Promise<T>,
  {signal, sleep = wait}: Repeating,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await call();
    if (!isTemporary(outcome) || attempt === MAX_ATTEMPTS || signal.aborted) return outcome;
    await sleep(FIRST_PAUSE_MS * 2 ** (attempt - 1), signal);
    if (signal.aborted) return outcome;
  }
}

const isTemporary = (outcome: ProcessResult | string): boolean =>
  typeof outcome !== 'string' && outcome.exitCode !== 0 && isRetryable(outcome);
