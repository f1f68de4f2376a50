import {maskSecrets} from './errors.ts';

/** Forbidden, timed out, API not served, any other failure, or read without a clear result. */
export type UnknownReason = 'forbidden' | 'timed-out' | 'not-served' | 'failed' | 'undetermined';

export interface Known<T> {
  value: T;
  /** What was read: a kind, an object, a field or a label. */
  source: string;
}

export interface Unknown {
  unknown: UnknownReason;
  because: string;
}

/** A fact about the cluster with its source, or the reason why it is unknown. Plain JSON. */
export type Fact<T> = Known<T> | Unknown;

export const known = <T>(value: T, source: string): Known<T> => ({value, source});

export const unknown = (reason: UnknownReason, because: string): Unknown => ({unknown: reason, because: maskSecrets(because)});

export const isKnown = <T>(fact: Fact<T>): fact is Known<T> => 'value' in fact;

export const knownValue = <T>(fact: Fact<T>): T | undefined => (isKnown(fact) ? fact.value : undefined);

/** What follows from another fact; unknown for the same reason where that is unknown. */
export const follow = <T, U>(fact: Fact<T>, conclude: (value: T, source: string) => Fact<U>): Fact<U> =>
  isKnown(fact) ? conclude(fact.value, fact.source) : fact;

/** Reasons that the user can fix come first. */
const REASONS: readonly UnknownReason[] = ['forbidden', 'timed-out', 'failed', 'undetermined', 'not-served'];

/** The first known fact; otherwise the most specific reason. */
export function firstKnown<T>(...facts: readonly Fact<T>[]): Fact<T> {
  const found = facts.find(isKnown);
  if (found) return found;
  const [most] = (facts as readonly Unknown[]).toSorted((one, other) => REASONS.indexOf(one.unknown) - REASONS.indexOf(other.unknown));
  return most ?? unknown('undetermined', 'not found');
}
