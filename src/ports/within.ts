import {follow} from './follow.ts';

/** Does something under a signal that comes after so many milliseconds, or with the one given; then nothing listens any more. */
export async function within<T>(milliseconds: number, over: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new DOMException('The time is over', 'TimeoutError')), milliseconds);
  const {signal, release} = follow(over, late.signal);
  try {
    return await work(signal);
  } finally {
    clearTimeout(timer);
    release();
  }
}
