import {setMaxListeners} from 'node:events';

/** So many at once. Whoever asks gets what gives the turn back, in the order of asking; undefined when the signal comes first. */
export function turns(count: number): (over: AbortSignal) => Promise<(() => void) | undefined> {
  let free = count;
  const waiting = new Set<() => void>();
  const giveBack = (): void => {
    const [next] = waiting;
    if (next === undefined) free += 1;
    else next();
  };
  const turn = (): (() => void) => {
    let isMine = true;
    return () => {
      if (isMine) giveBack();
      isMine = false;
    };
  };
  return async (over) => {
    if (over.aborted) return undefined;
    if (free > 0) {
      free -= 1;
      return turn();
    }
    return new Promise((resolve) => {
      const leave = (): void => {
        waiting.delete(next);
        resolve(undefined);
      };
      const next = (): void => {
        waiting.delete(next);
        over.removeEventListener('abort', leave);
        resolve(turn());
      };
      waiting.add(next);
      // Many that wait under the same signal look like a leak to Node.js.
      setMaxListeners(0, over);
      over.addEventListener('abort', leave, {once: true});
    });
  };
}
