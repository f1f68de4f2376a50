import {knownProblems as ofJob} from './agent-job/known-problems.ts';
import {knownProblems as ofK8s} from './agent-k8s/known-problems.ts';
import {knownProblems as ofLocal} from './agent-local/known-problems.ts';
import type {ChartName} from './releases/chart-name.ts';
import type {KnownProblem} from './shared/known-problem.ts';

/** Apart from the other properties of a chart, because only upgrades need them. docs/charts/upgrades.md is generated from these rows. */
export const KNOWN_PROBLEMS: Readonly<Record<ChartName, readonly KnownProblem[]>> = {
  'agent-k8s': ofK8s,
  'agent-local': ofLocal,
  'agent-job': ofJob,
};
