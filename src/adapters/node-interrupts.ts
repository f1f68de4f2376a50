import type {Interrupts} from '../ports/interrupts.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Handles the signals of this process until they are released. */
export function takeInterrupts(): Interrupts {
  const [interrupt, forceQuit] = [new AbortController(), new AbortController()];
  const onSignal = (name: NodeJS.Signals): void => (interrupt.signal.aborted ? forceQuit : interrupt).abort(name);
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    interrupt: interrupt.signal,
    forceQuit: forceQuit.signal,
    release() {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}
