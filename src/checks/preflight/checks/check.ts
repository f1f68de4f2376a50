import {
  type Finding,
  type RequirementSubject,
  remedyText,
  type Verdict,
} from '../../../ground/finding.ts';
import type {PreflightContext} from '../facts/context.ts';
import type {CheckResult, CheckVerdict} from './check-result.ts';

/** The headings of checks, in the order in which they are printed. */
export const GROUPS = [
  'Tools',
  'Cluster',
  'Permissions',
  'Namespace',
  'Release',
  'Secrets',
  'Storage',
  'Network',
  'Nodes',
  'Scalr account',
  'Probe',
  'Machine',
  'Docker',
  'Agents',
  'Hosts',
] as const;

/** One requirement of an install: in a cluster, or with another context on this machine. */
export interface Check<Context = PreflightContext> {
  /** Stable and unique, such as node-versions. */
  id: string;
  group: (typeof GROUPS)[number];
  /** A noun, so that it can stand before any result: Node readiness */
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

/** What a check found about its requirement. The code is the id of the check. */
export interface CheckReport extends CheckResult {
  code: string;
  subject: RequirementSubject;
  group: Check['group'];
  ref: string;
}

/** A check that found a problem, or could not run. */
export type CheckFinding = CheckReport & Finding<RequirementSubject>;

/** Runs every check that applies to these settings. Pure. */
export const runChecks = <Context>(
  checks: readonly Check<Context>[],
  context: Context,
): CheckReport[] =>
  checks.flatMap(({id, title, group, ref, run}) => {
    const result = run(context);
    return result === undefined
      ? []
      : [{code: id, subject: {requirement: title}, group, ref, ...result}];
  });

/** The reports with one of these verdicts, in the order of the verdicts. */
export const checksWith = (
  checks: readonly CheckReport[],
  ...verdicts: readonly Verdict[]
): CheckFinding[] =>
  verdicts.flatMap((verdict) =>
    checks.filter((each): each is CheckFinding => each.verdict === verdict),
  );

export const passedChecks = (checks: readonly CheckReport[]): CheckReport[] =>
  checks.filter(({verdict}) => verdict === 'passed');

const STATUS = {
  passed: 'pass',
  note: 'pass',
  warning: 'warn',
  error: 'fail',
  unknown: 'skip',
} as const;

/** A check as `preflight --json` prints it. */
export interface CheckDocument {
  id: string;
  title: string;
  status: (typeof STATUS)[CheckVerdict];
  message: string;
  remedy?: string;
  ref: string;
}

export const checkDocument = (check: CheckReport): CheckDocument => ({
  id: check.code,
  title: check.subject.requirement,
  status: STATUS[check.verdict],
  message: check.message,
  ...(check.remedies.length > 0 && {remedy: remedyText(check)}),
  ref: check.ref,
});
