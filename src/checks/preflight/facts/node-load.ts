import type {Pod} from '../../../cluster/kubernetes/objects.ts';
import type {NodeCapacity} from '../../../cluster/platform/capacity.ts';
import type {ReleaseName} from '../../../ground/command-line.ts';
import {type Fact, mapped} from '../../../ground/fact.ts';
import type {Values} from '../../../ground/tree.ts';
import {admitted, podTotal} from './admitted.ts';
import {type Amounts, amountsOf, MILLI_PER_UNIT, sum} from './amounts.ts';
import type {PreflightContext} from './context.ts';

/** What pods have requested on each node, by its name. */
export type RequestedOn = ReadonlyMap<string, Amounts>;

export const requestedByOthers = ({live, name}: PreflightContext): Fact<RequestedOn> =>
  mapped(live.podsOnNodes, (pods) => requestedBesides(name, pods));

/** Without the pods of the release: an install replaces them, and its runs are counted as runs. */
export function requestedBesides(
  {release, kubeTarget}: ReleaseName,
  pods: readonly Pod[],
): RequestedOn {
  const requested = new Map<string, Amounts>();
  const isOwn = ({metadata}: Pod): boolean =>
    metadata.namespace === kubeTarget.namespace &&
    metadata.labels?.['app.kubernetes.io/instance'] === release;
  for (const pod of pods.filter((each) => !isOwn(each))) {
    const node = pod.spec?.nodeName ?? '';
    requested.set(node, sum(requested.get(node) ?? {}, requestOf(pod)));
  }
  return requested;
}

/** How many pods with this request fit on the nodes beside what others have requested there. */
export const roomOn = (
  nodes: readonly NodeCapacity[],
  request: Amounts,
  others: RequestedOn,
): bigint =>
  nodes
    .map((node) => holds(request, node, others.get(node.name)))
    .reduce((sum, each) => sum + each, 0n);

function holds(request: Amounts, node: NodeCapacity, used: Amounts = {}): bigint {
  const all: Amounts = {pods: 110_000n, ...amountsOf(node.allocatable)};
  const wanted: Amounts = {...request, pods: MILLI_PER_UNIT};
  return ['pods', 'cpu', 'memory']
    .map((resource) => ({
      free: (all[resource] ?? 0n) - (used[resource] ?? 0n),
      each: wanted[resource] ?? 0n,
    }))
    .flatMap(({free, each}) => (each === 0n ? [] : [(free > 0n ? free : 0n) / each]))
    .reduce((one, other) => (one < other ? one : other));
}

function requestOf({spec}: Pod): Amounts {
  const values = (spec ?? {}) as unknown as Values;
  const {requests} = podTotal(admitted(values, []));
  return sum({...requests, pods: MILLI_PER_UNIT}, amountsOf(values['overhead']));
}
