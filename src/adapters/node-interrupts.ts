import type {Interrupts} from '../ports/interrupts.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Handles the signals of this process until they are released. */
export function takeInterrupts(): Interrupts {
  const [asked, forceQuit] = [new AbortController(), new AbortController()];
  const heard = (name: NodeJS.Signals): void => (asked.signal.aborted ? forceQuit : asked).abort(name);
  for (const signal of SIGNALS) process.on(signal, heard);
  return {
    interrupt: asked.signal,
    forceQuit: forceQuit.signal,
    release() {
      for (const signal of SIGNALS) process.off(signal, heard);
    },
  };
}
