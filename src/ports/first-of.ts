/** A signal that comes with the first of these. AbortSignal.any forgets a timeout that nobody else holds (Node.js 20: it never comes). */
export function firstOf(...signals: readonly AbortSignal[]): AbortSignal {
  const controller = new AbortController();
  for (const signal of signals) {
    const pass = (): void => controller.abort(signal.reason);
    if (signal.aborted) pass();
    // Also what keeps the timeout alive.
    else signal.addEventListener('abort', pass, {once: true, signal: controller.signal});
  }
  return controller.signal;
}
