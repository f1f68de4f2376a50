import {setMaxListeners} from 'node:events';
import {setTimeout as wait} from 'node:timers/promises';

// AbortSignal.any is not used: Node.js 20 garbage-collects a timeout signal that nothing else references.

/** A signal that is aborted with the first of these. */
export const anySignal = (...signals: readonly AbortSignal[]): AbortSignal =>
  followSignal(...signals).signal;

/** The same for one of many calls with long-lived signals: `release` removes the listeners. */
export function followSignal(...signals: readonly AbortSignal[]): {
  signal: AbortSignal;
  release(): void;
} {
  const controller = new AbortController();
  const released = new AbortController();
  const release = (): void => released.abort();
  for (const signal of signals) {
    const pass = (): void => controller.abort(signal.reason);
    // Node.js reports many listeners on one signal as a leak.
    setMaxListeners(0, signal);
    if (signal.aborted) pass();
    // The listener also keeps a timeout alive.
    else signal.addEventListener('abort', pass, {once: true, signal: released.signal});
  }
  controller.signal.addEventListener('abort', release, {once: true});
  return {signal: controller.signal, release};
}

/** Runs `work` with a signal that is aborted after a timeout, or with the given signal. */
export async function withTimeout<T>(
  milliseconds: number,
  signal: AbortSignal,
  work: (either: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(
    () => late.abort(new DOMException('Timed out', 'TimeoutError')),
    milliseconds,
  );
  const either = followSignal(signal, late.signal);
  try {
    return await work(either.signal);
  } finally {
    clearTimeout(timer);
    either.release();
  }
}

/** The result of `work`; undefined if the signal is aborted first. */
export async function untilAborted<T>(
  work: PromiseLike<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  const {signal: own, release} = followSignal(signal);
  const aborted = own.aborted
    ? undefined
    : new Promise<undefined>((resolve) => own.addEventListener('abort', () => resolve(undefined)));
  try {
    return await Promise.race([work, aborted]);
  } finally {
    release();
  }
}

/** Reason of an abort: interrupts have a name, and timeouts an error. */
export function abortReason({reason}: AbortSignal): string {
  if (typeof reason === 'string') return 'interrupted';
  return (reason as Error | undefined)?.name === 'TimeoutError'
    ? 'timed out (--timeout)'
    : 'canceled';
}

/** The time; tests replace it. */
export interface Clock {
  now(): Date;
  /** Waits until the time is over or the signal is aborted. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export const sleep = async (milliseconds: number, signal: AbortSignal): Promise<void> => {
  await wait(milliseconds, undefined, {signal}).catch(() => undefined);
};

/** The results of `work` for every item, with at most `width` at once, started in order. */
export async function pooled<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({length: Math.min(width, items.length)}, worker));
  return results;
}

/** Semaphore: returns a function that releases the slot, in the order of requests; undefined if the signal is aborted first. */
export function semaphore(
  count: number,
): (signal: AbortSignal) => Promise<(() => void) | undefined> {
  let free = count;
  const waiting = new Set<() => void>();
  const releaseSlot = (): void => {
    const [next] = waiting;
    if (next === undefined) free += 1;
    else next();
  };
  const takenSlot = (): (() => void) => {
    let isHeld = true;
    return () => {
      if (isHeld) releaseSlot();
      isHeld = false;
    };
  };
  return async (signal) => {
    if (signal.aborted) return undefined;
    if (free > 0) {
      free -= 1;
      return takenSlot();
    }
    return new Promise((resolve) => {
      const cancel = (): void => {
        waiting.delete(next);
        resolve(undefined);
      };
      const next = (): void => {
        waiting.delete(next);
        signal.removeEventListener('abort', cancel);
        resolve(takenSlot());
      };
      waiting.add(next);
      // Node.js reports many listeners on one signal as a leak.
      setMaxListeners(0, signal);
      signal.addEventListener('abort', cancel, {once: true});
    });
  };
}
