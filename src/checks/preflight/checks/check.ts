import type {PreflightContext} from '../facts/context.ts';
import type {CheckResult} from './check-result.ts';

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

/** A check with its result. */
export type CheckReport = Omit<Check, 'run'> & CheckResult;

/** Runs every check that applies to these settings. Pure. */
export const runChecks = <Context>(
  checks: readonly Check<Context>[],
  context: Context,
): CheckReport[] =>
  checks.flatMap(({run, ...check}) => {
    const result = run(context);
    return result === undefined ? [] : [{...check, ...result}];
  });

/** A check as `preflight --json` prints it. */
export type CheckDocument = Omit<CheckReport, 'group' | 'because'>;

export const checkDocument = ({group: _, because: __, ...shown}: CheckReport): CheckDocument =>
  shown;
