/** A stretch of text that is to go. `unended` says which characters could end it where its end is out of reach. */
export interface Extent {
  start: number;
  end: number;
  unended?: RegExp;
}

/** What may be secret is noticed by a literal, then looked at closely. Anchors are compared without case. */
export interface Rule {
  name: string;
  anchors: readonly string[];
  /** Not asked about what already goes: words in there are those of a value. */
  onlyOutside?: true;
  /** `start` and `end` are those of the anchor. Looks at most LIMITS.behind back and LIMITS.ahead forward. */
  find: (text: string, start: number, end: number) => readonly Extent[];
}

/** The colours of a log for people, as they are and in JSON. */
export const ESCAPE = String.fromCharCode(27);
export const COLOUR = String.raw`(?:(?:${ESCAPE}|\\u001b)\[[\d;]{0,16}m)`;

export const NOTHING: readonly Extent[] = [];

/** True where a word can begin: after anything but a letter or digit, or after an escape that ends in one. */
export function beginsWord(text: string, at: number): boolean {
  if (at === 0 || !/[A-Za-z0-9]/.test(text.charAt(at - 1))) return true;
  return /(?:\\[nrtbf]|%[0-9a-f]{2}|\\u[0-9a-f]{4}|\[[\d;]*m)$/i.test(text.slice(Math.max(0, at - 12), at));
}

/** What a sticky expression finds exactly here. */
export function matchAt(expression: RegExp, text: string, at: number): RegExpExecArray | undefined {
  expression.lastIndex = at;
  return expression.exec(text) ?? undefined;
}

/** The stretch of a run of characters, open-ended where it is longer than anybody looks. */
export function run(start: number, end: number, stop: RegExp): Extent {
  return end - start < LIMITS.value ? {start, end} : {start, end, unended: stop};
}

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
