import {setMaxListeners} from 'node:events';

export interface Follower {
  /** Comes with the first of those it follows. */
  signal: AbortSignal;
  /** It follows no longer. */
  release(): void;
}

/**
 * A signal for one of many calls under the same signals, which shall not keep what listened to them. Not AbortSignal.any, which
 * forgets a timeout that nobody else holds (Node.js 20: it never comes).
 */
export function follow(...signals: readonly AbortSignal[]): Follower {
  const controller = new AbortController();
  const passes = signals.map((signal) => {
    const pass = (): void => controller.abort(signal.reason);
    // Many calls that listen to the same signal look like a leak to Node.js.
    setMaxListeners(0, signal);
    if (signal.aborted) pass();
    else signal.addEventListener('abort', pass, {once: true});
    return pass;
  });
  return {
    signal: controller.signal,
    release: () => signals.forEach((signal, index) => void signal.removeEventListener('abort', passes[index] as () => void)),
  };
}
