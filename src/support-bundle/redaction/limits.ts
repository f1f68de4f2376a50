/**
 * How far a decision may look, in bytes. They make what a file holds back a constant, and what it says independent of
 * where its chunks end: nothing is decided before everything within reach is there.
 */
export const LIMITS = {
  /** Longest text of a known value that is searched as a whole; longer ones are searched in pieces. */
  piece: 1024,
  /** Longest value of which the end is looked for; what is longer is swallowed until something ends it. */
  value: 8192,
  /** How far before the place of the scan a secret can begin: a piece with every byte as `\u00xx`. */
  behind: 8192,
  /** How far after it one can end: a private key of 4096 bits, line by line with timestamps. */
  ahead: 16_384,
  /** What is gathered before it is scanned. */
  batch: 32_768,
} as const;

/** Never more than this is held back of a file. */
export const MOST_HELD = 2 * LIMITS.ahead + LIMITS.behind + LIMITS.value + 2 * LIMITS.batch;
