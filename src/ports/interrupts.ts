/**
 * Ctrl-C and other signals: the first one requests a clean exit, the second one an immediate exit. The abort reason is the
 * name of the signal.
 */
export interface Interrupts {
  interrupt: AbortSignal;
  forceQuit: AbortSignal;
  /** Removes the signal handlers. */
  release(): void;
}
