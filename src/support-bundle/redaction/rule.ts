import {LIMITS} from './limits.ts';

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
