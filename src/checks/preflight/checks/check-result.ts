import {type Fact, isKnown, type Unknown} from '../../../ground/fact.ts';
import {type Finding, type Remedy, remediesOf, type Verdict} from '../../../ground/finding.ts';

/**
 * `error`: the install or its runs would fail, or a setting would be ignored; `unknown`: the check could not run, for example because a fact was not
 * readable; `passed`: the requirement is met.
 */
export type CheckVerdict = Verdict | 'passed';

/** From the worst to the least. */
const CHECK_VERDICTS: readonly CheckVerdict[] = ['error', 'warning', 'unknown', 'note', 'passed'];

export interface CheckResult extends Pick<Finding, 'message' | 'remedies'> {
  verdict: CheckVerdict;
  /** Why a fact could not be read: many checks may have the same reason. */
  because?: string | undefined;
}

/** A sentence, or a remedy that changes a setting. */
export type RemedyText = string | Remedy;

export const pass = (message: string): CheckResult => ({verdict: 'passed', message, remedies: []});

export const warn = (message: string, remedy: RemedyText): CheckResult => ({
  verdict: 'warning',
  message,
  remedies: remediesOf(remedy),
});

export const fail = (message: string, remedy: RemedyText): CheckResult => ({
  verdict: 'error',
  message,
  remedies: remediesOf(remedy),
});

export const notChecked = (message: string, remedy?: RemedyText): CheckResult => ({
  verdict: 'unknown',
  message,
  remedies: remediesOf(remedy),
});

/** A check without a result; `task` completes its message "Cannot …": list nodes */
export const cannot = (task: string, because: string, remedy?: RemedyText): CheckResult => ({
  ...notChecked(`Cannot ${task}: ${because}`, remedy),
  because,
});

/** The result that follows from a fact, which is unknown where the fact is. */
export const ifKnown = <T, R extends CheckResult | undefined>(
  fact: Fact<T>,
  task: string,
  conclude: (value: T, source: string) => R,
): R | CheckResult => (isKnown(fact) ? conclude(fact.value, fact.source) : unreadable(fact, task));

export function unreadable({unknown, because}: Unknown, task: string): CheckResult {
  const isForbidden = unknown === 'forbidden';
  const remedy = 'Run the command again with a user that has this permission';
  return cannot(task, because, isForbidden ? remedy : undefined);
}

/** The worst of several results, with all messages and remedies of that verdict; undefined for no results. */
export function worstOf(results: readonly (CheckResult | undefined)[]): CheckResult | undefined {
  const verdict = CHECK_VERDICTS.find((each) => results.some((one) => one?.verdict === each));
  if (verdict === undefined) return undefined;
  const worst = results.filter((each) => each?.verdict === verdict) as readonly CheckResult[];
  const remedies = new Map(worst.flatMap((each) => each.remedies).map((each) => [each.text, each]));
  const [because, ...others] = new Set(worst.flatMap((each) => each.because ?? []));
  return {
    verdict,
    message: [...new Set(worst.map(({message}) => message))].join('; '),
    remedies: [...remedies.values()],
    because: others.length === 0 ? because : undefined,
  };
}
