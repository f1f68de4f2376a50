import {type NodeCapacity, POOL_LABELS} from './capacity.ts';

/** Nodes that a provider creates alike. */
export interface NodePool {
  name: string;
  /** Selects its nodes: eks.amazonaws.com/nodegroup=ci */
  label: string;
  nodes: number;
  /** What keeps pods without a toleration away: dedicated=ci:NoSchedule */
  taints: readonly string[];
}

/** The pools of these nodes, by name. */
export function nodePoolsOf(nodes: readonly NodeCapacity[]): NodePool[] {
  const pools = new Map<string, NodePool>();
  for (const {labels, taints} of nodes) {
    const key = POOL_LABELS.find((each) => labels[each] !== undefined);
    const name = key === undefined ? undefined : labels[key];
    if (name === undefined) continue;
    const label = `${key}=${name}`;
    const before = pools.get(label) ?? {name, label, nodes: 0, taints: []};
    const hard = taints.filter(({effect}) => effect !== 'PreferNoSchedule').map(taintText);
    const all = new Set([...before.taints, ...hard]);
    pools.set(label, {...before, nodes: before.nodes + 1, taints: [...all]});
  }
  return [...pools.values()].toSorted((one, other) => one.name.localeCompare(other.name));
}

const taintText = ({key, value, effect}: NodeCapacity['taints'][number]): string =>
  `${key}${value ? `=${value}` : ''}:${effect}`;
