import type {Interrupts} from '../ports/interrupts.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Takes over the signals of this process until they are released. */
export function takeInterrupts(): Interrupts {
  const [asked, insisted] = [new AbortController(), new AbortController()];
  const heard = (name: NodeJS.Signals): void => (asked.signal.aborted ? insisted : asked).abort(name);
  for (const signal of SIGNALS) process.on(signal, heard);
  return {
    asked: asked.signal,
    insisted: insisted.signal,
    release() {
      for (const signal of SIGNALS) process.off(signal, heard);
    },
  };
}
