import type {Trouble, TroubleKind} from '../ports/cluster-api.ts';
import {sleep} from './clock.ts';

/**
 * How often each is tried in all; kubectl renews a login that has run out when it is refused. What stalled has had its time, and the
 * rest would be answered the same way.
 */
const TRIES: Readonly<Partial<Record<TroubleKind, number>>> = {busy: 5, unreachable: 4, server: 3, truncated: 3, 'not-logged-in': 2};
const FIRST_WAIT_MS = 250;
/** Who wants to be left alone for longer is not asked again. */
const LONGEST_WAIT_MS = 30_000;
/** An attempt that took so long would do so again: the API server waits for a node. */
const LONG_ATTEMPT_MS = 5000;
/** After so many requests in a row that found nobody, each gets one attempt until somebody answers. */
const HOPELESS = 3;

type Attempt<R> = () => Promise<R>;

/** Asks again while it may help; for all requests of one API together. */
export function retries(): <R extends {trouble?: Trouble | undefined}>(attempt: Attempt<R>, over: AbortSignal) => Promise<R> {
  let unanswered = 0;
  return async (attempt, over) => {
    for (let tried = 1; ; tried += 1) {
      const start = Date.now();
      const result = await attempt();
      const {trouble} = result;
      if (trouble?.kind !== 'unreachable') unanswered = 0;
      if (trouble === undefined) return result;
      const wait = Math.max(trouble.retryAfterMs ?? 0, FIRST_WAIT_MS * 2 ** (tried - 1));
      const isLast =
        tried >= (TRIES[trouble.kind] ?? 1) ||
        wait > LONGEST_WAIT_MS ||
        Date.now() - start > LONG_ATTEMPT_MS ||
        unanswered >= HOPELESS ||
        over.aborted;
      if (isLast) {
        if (trouble.kind === 'unreachable') unanswered += 1;
        return result;
      }
      // Those who were refused together shall not come back together.
      await sleep(wait * (1 + Math.random() / 4), over);
      if (over.aborted) return result;
    }
  };
}
