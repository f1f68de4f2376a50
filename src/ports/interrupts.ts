/**
 * Ctrl-C and what ends programs: the first asks for an end in good order, the second for an end at once. The reason of each
 * is the name of the signal.
 */
export interface Interrupts {
  asked: AbortSignal;
  insisted: AbortSignal;
  /** Gives the signals back to the system. */
  release(): void;
}
