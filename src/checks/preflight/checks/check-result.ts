import {type Fact, isKnown, type Unknown} from '../../../ground/fact.ts';

const STATUSES = ['fail', 'warn', 'skip', 'pass'] as const;

export type CheckStatus = (typeof STATUSES)[number];

/** `fail`: the install or its runs would fail, or a setting would be ignored; `skip`: the check could not run. */
export interface CheckResult {
  status: CheckStatus;
  /** What was found, with names and numbers; for a skipped check, the reason. */
  message: string;
  /** What to do about it, as a command or flag if possible. */
  remedy?: string;
  /** Why a check failed or was skipped, without its task: many checks may have the same reason. */
  because?: string;
}

export const pass = (message: string): CheckResult => ({status: 'pass', message});

export const warn = (message: string, remedy: string): CheckResult => ({
  status: 'warn',
  message,
  remedy,
});

export const fail = (message: string, remedy: string): CheckResult => ({
  status: 'fail',
  message,
  remedy,
});

export const skip = (message: string, remedy?: string): CheckResult => ({
  status: 'skip',
  message,
  ...(remedy ? {remedy} : {}),
});

/** A skipped check; `task` completes its message "Cannot …": list nodes */
export const cannot = (task: string, because: string, remedy?: string): CheckResult => ({
  ...skip(`Cannot ${task}: ${because}`, remedy),
  because,
});

/** The result that follows from a fact. If it is unknown, the check is skipped. */
export const ifKnown = <T, R extends CheckResult | undefined>(
  fact: Fact<T>,
  task: string,
  conclude: (value: T, source: string) => R,
): R | CheckResult => (isKnown(fact) ? conclude(fact.value, fact.source) : skipUnknown(fact, task));

export function skipUnknown({unknown, because}: Unknown, task: string): CheckResult {
  const isForbidden = unknown === 'forbidden';
  const remedy = 'Run the command again with a user that has this permission';
  return cannot(task, because, isForbidden ? remedy : undefined);
}

/** The worst status of several results, with all messages of that status; undefined for no results. */
export function worstOf(results: readonly (CheckResult | undefined)[]): CheckResult | undefined {
  const status = STATUSES.find((each) => results.some((result) => result?.status === each));
  if (status === undefined) return undefined;
  const worst = results.filter((each) => each?.status === status);
  const distinct = (key: 'message' | 'remedy' | 'because'): string[] => [
    ...new Set(worst.flatMap((each) => each?.[key] ?? [])),
  ];
  const remedies = distinct('remedy');
  const [because, ...others] = distinct('because');
  return {
    status,
    message: distinct('message').join('; '),
    ...(remedies.length > 0 && {remedy: remedies.join('; ')}),
    ...(because !== undefined && others.length === 0 && {because}),
  };
}
