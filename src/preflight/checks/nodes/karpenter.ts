import {getAt, isMap, type Tree} from '../../../charts/tree.ts';
import {isKnown, knownValue} from '../../../cluster/facts/fact.ts';
import type {CustomObject} from '../../../cluster/facts/readings.ts';
import {milliOf} from '../../../settings/quantity.ts';
import type {Situation} from '../../situation.ts';
import {few} from '../outcomes.ts';

/** What adds nodes, and whether it can add more; undefined where that is not known. */
export interface Growth {
  canGrow?: boolean;
  /** Said behind what no node does: Karpenter may add nodes of default */
  text: string;
  remedy?: string;
}

/** Karpenter, and what EKS and AKS make of it; undefined where there is none. */
export function karpenterGrowth({facts, readings}: Situation): Growth | undefined {
  const who = knownValue(facts.platform.flavour) === 'auto-mode' ? 'EKS Auto Mode' : 'Karpenter';
  const {nodePools} = readings;
  if (!isKnown(nodePools)) {
    if (nodePools.unknown !== 'not-served') return {text: `${who} adds nodes if one of its pools allows for it`};
    return who === 'Karpenter' ? undefined : {canGrow: true, text: `${who} adds nodes for pods that wait`};
  }
  if (nodePools.value.length === 0) return {canGrow: false, text: `${who} has no NodePool`, remedy: 'or make a NodePool'};
  const open = nodePools.value.filter((pool) => isReady(pool) && reached(pool) === undefined);
  if (open.length > 0) return {canGrow: true, text: `${who} may add nodes of ${few(open.map(({metadata}) => metadata.name))}`};
  const closed = few(nodePools.value.map((pool) => `${pool.metadata.name} (${reached(pool) ?? 'not ready'})`));
  return {canGrow: false, text: `${who} adds none: ${closed}`, remedy: 'or mend a NodePool or raise its limits'};
}

const isReady = ({status}: CustomObject): boolean => {
  const conditions = status?.['conditions'] as Tree | undefined;
  return !(Array.isArray(conditions) && conditions.some((each) => isMap(each) && each['type'] === 'Ready' && each['status'] === 'False'));
};

/** The limit that its nodes have come to: cpu 100 of 100 */
function reached({spec, status}: CustomObject): string | undefined {
  const limits = Object.entries((spec?.['limits'] ?? {}) as Record<string, Tree>);
  const used = (resource: string): string => String(getAt(status as Tree, ['resources', resource]) ?? '0');
  const full = limits.find(([resource, limit]) => (milliOf(used(resource)) ?? 0n) >= (milliOf(String(limit)) ?? 0n));
  return full && `${full[0]} ${used(full[0])} of ${full[1]}`;
}
