import {type Outcome, skip} from '../../check.ts';
import {type Answer, type Findings, findingsIn} from '../../probe/findings.ts';
import type {ProbePlan} from '../../probe/plan-probe.ts';
import type {Situation} from '../../situation.ts';

/** What follows from what the probe printed; undefined where there was none to be, or the check before says why there was none. */
export function ifSaid({probe}: Situation, conclude: (findings: Findings, plan: ProbePlan) => Outcome | undefined): Outcome | undefined {
  if (probe === undefined) return undefined;
  const log = 'plan' in probe ? probe.seen.log : undefined;
  if (log === undefined || !('plan' in probe)) return skip('There is no probe that came to its end');
  return conclude(findingsIn(log), probe.plan);
}

export const NO_ANSWER = skip('The probe says nothing of it');

/** Whatever was asked for, nothing could ask. */
export const noTool = ({image}: ProbePlan): Outcome => skip(`${image} has neither curl nor GNU wget nor python3 to ask with`);

export const isOf = ({state}: Answer, ...states: readonly Answer['state'][]): boolean => states.includes(state);
