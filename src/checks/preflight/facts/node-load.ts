import type {Pod} from '../../../cluster/kubernetes/objects.ts';
import {type Fact, mapped} from '../../../ground/fact.ts';
import type {Values} from '../../../ground/tree.ts';
import {admitted, podTotal} from './admitted.ts';
import {type Amounts, amountsOf, MILLI_PER_UNIT, sum} from './amounts.ts';
import type {PreflightContext} from './context.ts';

/** What pods have requested on each node, by its name. */
export type RequestedOn = ReadonlyMap<string, Amounts>;

/** Without the pods of the release: an install replaces them, and its runs are counted as runs. */
export const requestedByOthers = ({live, name}: PreflightContext): Fact<RequestedOn> =>
  mapped(live.podsOnNodes, (pods) => {
    const requested = new Map<string, Amounts>();
    const isOwn = ({metadata}: Pod): boolean =>
      metadata.namespace === name.kubeTarget.namespace &&
      metadata.labels?.['app.kubernetes.io/instance'] === name.release;
    for (const pod of pods.filter((each) => !isOwn(each))) {
      const node = pod.spec?.nodeName ?? '';
      requested.set(node, sum(requested.get(node) ?? {}, requestOf(pod)));
    }
    return requested;
  });

function requestOf({spec}: Pod): Amounts {
  const values = (spec ?? {}) as unknown as Values;
  const {requests} = podTotal(admitted(values, []));
  return sum({...requests, pods: MILLI_PER_UNIT}, amountsOf(values['overhead']));
}
