import {LONGEST_TOKEN} from '../../../ground/token-shapes.ts';
import type {KeyKind} from './key-names.ts';

/** A range of text to redact. `unended` lists the characters that can end it if its end is too far away. */
export interface Extent {
  start: number;
  end: number;
  unended?: RegExp;
  key?: string;
}

/** Candidates are found by a literal, then checked in detail. Anchors are case-insensitive. */
export interface RedactionRule {
  name: string;
  anchors: readonly string[];
  /** Skipped inside a redacted range, whose words are part of a value. */
  onlyOutside?: true;
  /** Secrets around an anchor. Reads at most LIMITS.behind back and LIMITS.ahead forward. */
  find: (text: string, anchor: Extent, pass: RedactionPass) => readonly Extent[];
}

/** How a text is read. */
export interface RedactionPass {
  isStrict: boolean;
  budget: Budget;
  /** Kinds of keys that were read before in this file: logs repeat few keys. */
  keyKinds: Map<string, KeyKind>;
  /** Learns which row of the table of verdicts decided about the value of a key. */
  onVerdict: ((example: string, isSecret: boolean) => void) | undefined;
}

export const NOTHING: readonly Extent[] = [];

/** Range of repeated characters, open-ended if it exceeds the limit. */
export function run(start: number, end: number, stop: RegExp): Extent {
  return end - start < LIMITS.value ? {start, end} : {start, end, unended: stop};
}

/**
 * Maximum look-around of a decision, in bytes. These limits bound the held bytes of a file, and make the result independent of
 * chunk boundaries: a decision is made only when all bytes within reach are available.
 */
export const LIMITS = {
  /** Longest value whose end is searched; longer ones are skipped until a character ends them. */
  value: LONGEST_TOKEN,
  /** Maximum start of a secret before the scan position: a private key without its first line. */
  behind: 8192,
  /** Maximum end after it: a private key of 4096 bits, line by line with timestamps. */
  ahead: 16_384,
  /** Bytes that are collected before a scan. */
  batch: 131_072,
} as const;

/** Characters that rules may read far from their anchors, for each batch. Ordinary text needs a fraction of it. */
const EFFORT = 8 * LIMITS.batch;

/**
 * What is left of the effort for a batch. When it is spent, only what is near an anchor is read, so that no repetition takes more than a few
 * milliseconds for each batch.
 */
export class Budget {
  #left: number = EFFORT;

  spend(characters: number): void {
    this.#left -= characters;
  }

  get isSpent(): boolean {
    return this.#left < 0;
  }
}

/** Maximum held bytes of a file. */
export const MOST_HELD = 2 * LIMITS.ahead + 2 * LIMITS.behind + LIMITS.value + LIMITS.batch;
