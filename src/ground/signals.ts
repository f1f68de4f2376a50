import {setMaxListeners} from 'node:events';
import {setTimeout as wait} from 'node:timers/promises';

// AbortSignal.any is not used: Node.js 20 garbage-collects a timeout signal that nothing else references.

/** A signal that is aborted with the first of these. */
export function anySignal(...signals: readonly AbortSignal[]): AbortSignal {
  const controller = new AbortController();
  for (const signal of signals) {
    const pass = (): void => controller.abort(signal.reason);
    // Node.js reports many listeners on one signal as a leak.
    setMaxListeners(0, signal);
    if (signal.aborted) pass();
    // The listener also keeps a timeout alive.
    else signal.addEventListener('abort', pass, {once: true, signal: controller.signal});
  }
  return controller.signal;
}

/** The same for one of many calls with long-lived signals: `release` removes the listeners. */
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

/** Runs `work` with a signal that is aborted after a timeout, or with the given signal. */
export async function withTimeout<T>(milliseconds: number, signal: AbortSignal, work: (either: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new DOMException('Timed out', 'TimeoutError')), milliseconds);
  const either = followSignal(signal, late.signal);
  try {
    return await work(either.signal);
  } finally {
    clearTimeout(timer);
    either.release();
  }
}

/** Reason of an abort: interrupts have a name, and timeouts an error. */
export function abortReason({reason}: AbortSignal): string {
  if (typeof reason === 'string') return 'interrupted';
  return (reason as Error | undefined)?.name === 'TimeoutError' ? 'timed out (--timeout)' : 'cancelled';
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
