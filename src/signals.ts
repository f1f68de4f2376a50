import {setMaxListeners} from 'node:events';

// Not AbortSignal.any: on Node.js 20 it loses a timeout that nothing else refers to, and then never comes.

/** A signal that comes with the first of these. */
export function anySignal(...signals: readonly AbortSignal[]): AbortSignal {
  const controller = new AbortController();
  for (const signal of signals) {
    const pass = (): void => controller.abort(signal.reason);
    // Many calls that listen to the same signal look like a leak to Node.js.
    setMaxListeners(0, signal);
    if (signal.aborted) pass();
    // The listener also keeps a timeout alive.
    else signal.addEventListener('abort', pass, {once: true, signal: controller.signal});
  }
  return controller.signal;
}

/** The same for one of many calls under long-lived signals: after `release` nothing listens to them any more. */
export function followSignal(...signals: readonly AbortSignal[]): {signal: AbortSignal; release(): void} {
  const controller = new AbortController();
  const passes = signals.map((signal) => {
    const pass = (): void => controller.abort(signal.reason);
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

/** Runs `work` under a signal that comes after so many milliseconds, or with the one given. */
export async function withTimeout<T>(milliseconds: number, over: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new DOMException('The time is over', 'TimeoutError')), milliseconds);
  const {signal, release} = followSignal(over, late.signal);
  try {
    return await work(signal);
  } finally {
    clearTimeout(timer);
    release();
  }
}

/** Why a signal came: those of Ctrl-C and the like carry a name, and timeouts an error. */
export function abortReason({reason}: AbortSignal): string {
  if (typeof reason === 'string') return 'interrupted';
  return (reason as Error | undefined)?.name === 'TimeoutError' ? '--timeout was over' : 'nobody waits for it any more';
}
