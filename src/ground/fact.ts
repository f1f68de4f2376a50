import {maskSecrets} from './errors.ts';
import type {Remedy} from './finding.ts';

/** Identity rejected, forbidden, timed out, API not served, any other failure, or read without a clear result. */
export type UnknownReason =
  | 'not-logged-in'
  | 'forbidden'
  | 'timed-out'
  | 'not-served'
  | 'failed'
  | 'undetermined';

export interface Known<T> {
  value: T;
  /** What was read: a kind, an object, a field or a label. */
  source: string;
}

export interface Unknown {
  unknown: UnknownReason;
  because: string;
  /** What to do about it, if the reason has steps of its own. */
  steps?: readonly (string | Remedy)[];
}

/** A fact about the cluster with its source, or the reason why it is unknown. Plain JSON. */
export type Fact<T> = Known<T> | Unknown;

export const known = <T>(value: T, source: string): Known<T> => ({value, source});

export const unknown = (reason: UnknownReason, because: string): Unknown => ({
  unknown: reason,
  because: maskSecrets(because),
});

export const isKnown = <T>(fact: Fact<T>): fact is Known<T> => 'value' in fact;

/** Not read, unlike a fact that was read without a clear result. */
export const isUnread = <T>(fact: Fact<T>): fact is Unknown =>
  !isKnown(fact) && fact.unknown !== 'undetermined' && fact.unknown !== 'not-served';

export const knownValue = <T>(fact: Fact<T>): T | undefined =>
  isKnown(fact) ? fact.value : undefined;

/** What follows from another fact; unknown for the same reason where that is unknown. */
export const follow = <T, U>(
  fact: Fact<T>,
  conclude: (value: T, source: string) => Fact<U>,
): Fact<U> => (isKnown(fact) ? conclude(fact.value, fact.source) : fact);

/** Another value from the same source. */
export const mapped = <T, U>(fact: Fact<T>, convert: (value: T) => U): Fact<U> =>
  follow(fact, (value, source) => known(convert(value), source));

/** Reasons that the user can fix come first. */
const REASONS: readonly UnknownReason[] = [
  'not-logged-in',
  'forbidden',
  'timed-out',
  'failed',
  'undetermined',
  'not-served',
];

/** The first known fact; otherwise the most specific reason. */
export function firstKnown<T>(...facts: readonly Fact<T>[]): Fact<T> {
  const found = facts.find(isKnown);
  if (found) return found;
  const [most] = (facts as readonly Unknown[]).toSorted(
    (one, other) => REASONS.indexOf(one.unknown) - REASONS.indexOf(other.unknown),
  );
  return most ?? unknown('undetermined', 'not found');
}

/** What was read, or why that failed. */
export type ReadResult<T> = {value: T; error?: undefined} | {value?: undefined; error: ReadError};

/** Value of a Retry-After header: seconds or a date. */
export function retryAfter(header: string | undefined, now: Date): number | undefined {
  if (header === undefined || header.trim() === '') return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
}

/**
 * Why a request failed. `web-page`: a proxy or login page answered; `not-started`: the container has no log yet; `busy`: the server is overloaded; `server`: an internal server error;
 * `stalled`: no data for too long; `truncated`: the response ended early; `aborted`: the request was canceled or timed out.
 */
export type ReadErrorKind =
  | 'not-logged-in'
  | 'web-page'
  | 'forbidden'
  | 'not-found'
  | 'expired'
  | 'not-started'
  | 'refused'
  | 'busy'
  | 'server'
  | 'unreachable'
  | 'stalled'
  | 'truncated'
  | 'too-large'
  | 'aborted';

export interface ReadError {
  kind: ReadErrorKind;
  /** The message of the API server, if any. */
  message: string;
  /** HTTP status, if any. */
  status?: number;
  /** Delay that the server requests before the next request. */
  retryAfterMs?: number;
  /** Token to continue an expired list. */
  continueAt?: string;
  /** What to do about it. `message` is then a sentence for the user, without a full stop. */
  steps?: readonly (string | Remedy)[];
  /** The cause, if the tool could not be started. */
  cause?: Error;
}
