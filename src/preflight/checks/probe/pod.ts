import {type Check, fail, type Outcome, pass, skip, warn} from '../../check.ts';
import type {ProbePlan} from '../../probe/plan-probe.ts';
import type {Situation} from '../../situation.ts';

export const probePod: Check = {
  id: 'probe-pod',
  group: 'Probe',
  title: 'a pod with the placement of runs comes to its end',
  ref: 'https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/',
  test: ({probe}) => {
    if (probe === undefined) return undefined;
    if (!('plan' in probe)) return skip(`There was no probe: ${probe.because}`, probe.remedy);
    const outcome = fate(probe.plan, probe.seen);
    const {leftover} = probe.seen;
    return leftover === undefined ? outcome : withLeftover(outcome, probe.plan, leftover);
  },
};

/** Whatever else there is to say, it has to be said too. */
function withLeftover({status, message, remedy}: Outcome, {pod}: ProbePlan, leftover: string): Outcome {
  const steps = [`Remove it: ${leftover}`, ...(remedy === undefined ? [] : [remedy])];
  return {status: status === 'fail' ? 'fail' : 'warn', message: `${message}; ${pod} could not be removed`, remedy: steps.join('; ')};
}

type Seen = Extract<NonNullable<Situation['probe']>, {plan: ProbePlan}>['seen'];

function fate({pod, image, notes}: ProbePlan, {log, node, causes}: Seen): Outcome {
  const where = node === undefined ? '' : ` on ${node}`;
  if (log !== undefined) return pass([`${pod} ran ${image}${where}`, ...notes].join('; '));
  const [cause] = causes;
  if (cause === undefined) return skip(`${pod}${where} did not come to its end within --timeout`, 'Give it more time: --timeout 5m');
  const because = `${pod}${where} did not come to its end: ${causes.map(({reason}) => reason).join('; ')}`;
  const remedy = [...new Set(causes.map((each) => each.remedy))].join('; ');
  return cause.isHopeless ? fail(because, remedy) : warn(because, remedy);
}
