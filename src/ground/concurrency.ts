import {setMaxListeners} from 'node:events';

/** The results of `work` for every item, with at most `width` at once, started in order. */
export async function pooled<T, R>(items: readonly T[], width: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({length: Math.min(width, items.length)}, worker));
  return results;
}

/** Semaphore: returns a function that releases the slot, in the order of requests; undefined if the signal is aborted first. */
export function semaphore(count: number): (signal: AbortSignal) => Promise<(() => void) | undefined> {
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
