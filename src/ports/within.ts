/**
 * Does something under a signal that comes after so many milliseconds, or with the one given; then nothing listens any more. Not
 * AbortSignal.any, which forgets a timeout that nobody else holds (Node.js 20: it never comes).
 */
export async function within<T>(milliseconds: number, over: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const pass = (): void => controller.abort(over.reason);
  const timer = setTimeout(() => controller.abort(new DOMException('The time is over', 'TimeoutError')), milliseconds);
  if (over.aborted) pass();
  else over.addEventListener('abort', pass, {once: true});
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    over.removeEventListener('abort', pass);
  }
}
