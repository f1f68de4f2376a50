import {type Fact, isKnown, type Unknown} from '../ground/fact.ts';
import type {PreflightContext} from './preflight-context.ts';

/** The headings of checks, in the order in which they are printed. */
export const GROUPS = [
  ...(['Tools', 'Cluster', 'Permissions', 'Namespace', 'Release'] as const),
  ...(['Secrets', 'Storage', 'Network', 'Nodes', 'Scalr account', 'Probe'] as const),
  ...(['Machine', 'Docker', 'Agents', 'Hosts'] as const),
];

const STATUSES = ['fail', 'warn', 'skip', 'pass'] as const;

export type CheckStatus = (typeof STATUSES)[number];

/** `fail`: the install or its runs would fail, or a setting would be ignored; `skip`: the check could not run. */
export interface CheckResult {
  status: CheckStatus;
  /** What was found, with names and numbers; for a skipped check, the reason. */
  message: string;
  /** What to do about it, as a command or flag if possible. */
  remedy?: string;
}

/** One requirement of an install: in a cluster, or with another context on this machine. */
export interface Check<Context = PreflightContext> {
  /** Stable and unique, such as node-versions. */
  id: string;
  group: (typeof GROUPS)[number];
  /** What is true when the check passes: Nodes are ready */
  title: string;
  /** Where to read more: an address, or the chart, version and file a fact comes from. */
  ref: string;
  /** Pure. Undefined if the check does not apply to these settings. */
  run(context: Context): CheckResult | undefined;
}

/** A check by its heading, its id and what is true when it passes. */
export const check = <Context = PreflightContext>(
  group: Check['group'],
  id: string,
  title: string,
  rest: Pick<Check<Context>, 'ref' | 'run'>,
): Check<Context> => ({id, group, title, ...rest});

/** A check with its result, as `preflight --json` prints it. */
export type Checked = Omit<Check, 'run'> & CheckResult;

/** Runs every check that applies to these settings. Pure. */
export const runChecks = <Context>(checks: readonly Check<Context>[], context: Context): Checked[] =>
  checks.flatMap(({run, ...check}) => {
    const result = run(context);
    return result === undefined ? [] : [{...check, ...result}];
  });

export const pass = (message: string): CheckResult => ({status: 'pass', message});
export const warn = (message: string, remedy: string): CheckResult => ({status: 'warn', message, remedy});
export const fail = (message: string, remedy: string): CheckResult => ({status: 'fail', message, remedy});
export const skip = (message: string, remedy?: string): CheckResult => ({status: 'skip', message, ...(remedy ? {remedy} : {})});

/** The result that follows from a fact. If it is unknown, the check is skipped; `task` completes its message "Cannot …": list nodes */
export const ifKnown = <T, R extends CheckResult | undefined>(
  fact: Fact<T>,
  task: string,
  conclude: (value: T, source: string) => R,
): R | CheckResult => (isKnown(fact) ? conclude(fact.value, fact.source) : skipUnknown(fact, task));

export function skipUnknown({unknown, because}: Unknown, task: string): CheckResult {
  return skip(
    `Cannot ${task}: ${because}`,
    unknown === 'forbidden' ? 'Run the command again with an account that has this permission' : undefined,
  );
}

/** Why a check was skipped, without its task: many checks may have the same reason. */
export const skipReason = ({message}: CheckResult): string => message.replace(/^Cannot .*?: /s, '');

/** The worst status of several results, with all messages of that status; undefined for no results. */
export function worstOf(results: readonly (CheckResult | undefined)[]): CheckResult | undefined {
  const status = STATUSES.find((each) => results.some((result) => result?.status === each));
  if (status === undefined) return undefined;
  const worst = results.filter((each) => each?.status === status);
  const joined = (key: 'message' | 'remedy'): string => [...new Set(worst.flatMap((each) => each?.[key] ?? []))].join('; ');
  const remedy = joined('remedy');
  return {status, message: joined('message'), ...(remedy === '' ? {} : {remedy})};
}
