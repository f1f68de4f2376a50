import {amountsOf} from '../checks/preflight/facts/amounts.ts';
import type {RequestedOn} from '../checks/preflight/facts/node-load.ts';
import {mayRun} from '../cluster/kubernetes/scheduling.ts';
import type {NodeCapacity} from '../cluster/platform/capacity.ts';
import type {Values} from '../ground/tree.ts';
import {nodeSelector, toleration} from '../settings/placement.ts';
import type {KnownFacts} from './gathered-facts.ts';
import type {WizardState} from './wizard-state.ts';

/** The nodes that take runs with these answers; where there are none, all of them. Undefined if nodes are added or unknown. */
export function nodesOfRuns(
  {answers: {get}}: WizardState,
  {cluster}: KnownFacts,
): readonly NodeCapacity[] | undefined {
  if (cluster?.nodes === undefined || cluster.addsNodes !== undefined) return undefined;
  const spec = {
    nodeSelector: get(nodeSelector) ?? {},
    tolerations: get(toleration) ?? [],
  } as unknown as Values;
  const able = cluster.nodes.filter((node) => mayRun(spec, node));
  return able.length > 0 ? able : cluster.nodes;
}

/** What pods can have on these nodes. */
export const allocatable = (nodes: readonly NodeCapacity[], resource: string): bigint =>
  nodes.reduce((sum, node) => sum + (amountsOf(node.allocatable)[resource] ?? 0n), 0n);

/** What the nodes have for new pods, in tenths of a CPU: 1.9 CPU and 7Gi. Without `requested`, in total. */
export function freeText(nodes: readonly NodeCapacity[], requested: RequestedOn | undefined) {
  const free = (resource: string): bigint =>
    nodes.reduce(
      (sum, {name}) => sum - (requested?.get(name)?.[resource] ?? 0n),
      allocatable(nodes, resource),
    );
  const cpu = Number(free('cpu') / 100n) / 10;
  return {
    cpu: `${cpu}`,
    memory: `${free('memory') / 1000n / 1024n ** 3n}Gi`,
    isFree: requested !== undefined,
  };
}
