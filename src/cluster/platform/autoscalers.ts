import {type Fact, isKnown, isUnread, known, knownValue, unknown} from '../../ground/fact.ts';
import {few} from '../../ground/text.ts';
import {getAt, isMap, type Tree} from '../../ground/tree.ts';
import {milliOf} from '../../settings/kinds/quantities.ts';
import {autoscalerOf} from './capacity.ts';
import type {ClusterFacts} from './cluster-facts.ts';
import type {CustomObject, PlatformReadings} from './readings.ts';

/** What tells whether nodes are added. */
export interface ReadCluster {
  facts: ClusterFacts;
  readings: PlatformReadings;
  now: Date;
}

/** Something that adds nodes. */
interface Autoscaler {
  /** Undefined if that is not known. */
  canGrow?: boolean;
  /** Follows what no node does: Karpenter may add nodes of default */
  text: string;
  remedy?: string;
}

/** The cluster-autoscaler writes its status every few seconds; clocks may differ. */
const STALE_MS = 15 * 60_000;

/** What the status of the cluster-autoscaler shows; it does not show whether its nodes would fit. */
function clusterAutoscaler({facts, readings, now}: ReadCluster): Autoscaler | undefined {
  const autoscaler = autoscalerOf(readings);
  if (!isKnown(autoscaler))
    return {text: `cannot read the status of the cluster autoscaler: ${autoscaler.because}`};
  if (autoscaler.value === undefined) return undefined;
  const {groups, at} = autoscaler.value;
  if (at !== undefined && now.getTime() - at.getTime() > STALE_MS)
    return {
      text: `the cluster autoscaler has not updated its status since ${at.toISOString().slice(0, 16)}Z`,
    };
  const spelled = (some: typeof groups): string =>
    few(some.map(({name, size, maximum}) => `${name} (${size} of ${maximum})`));
  const small = groups.filter(({size, maximum}) => size < maximum);
  const open = small.filter(({isHeldBack}) => !isHeldBack);
  if (open.length > 0)
    return {canGrow: true, text: `the cluster autoscaler can add nodes to ${spelled(open)}`};
  if (small.length > 0)
    return {
      text: `the cluster autoscaler recently failed to add nodes to ${spelled(small)} and retries`,
    };
  if (groups.length === 0)
    return {canGrow: false, text: 'the cluster autoscaler has no node groups'};
  const full = `all node groups of the cluster autoscaler are at their maximum: ${spelled(groups)}`;
  return knownValue(facts.platform.cloud) === 'gke'
    ? {text: `${full}; node auto-provisioning can add others, if enabled`}
    : {canGrow: false, text: full, remedy: 'or increase the maximum of a node group'};
}

/** Everything that may add nodes for pending pods. */
export function autoscalersOf(context: ReadCluster): Autoscaler[] {
  const {facts, readings} = context;
  if (knownValue(facts.platform.cloud) === 'gke-autopilot')
    return [{canGrow: true, text: 'Autopilot adds nodes for pending pods'}];
  if (!isKnown(readings.resources))
    return [{text: 'cannot determine whether an autoscaler adds nodes'}];
  if (isUnread(facts.platform.cloud) || isUnread(facts.platform.flavor))
    return [{text: 'cannot determine whether the provider adds nodes'}];
  return [karpenter(context), clusterAutoscaler(context)].filter((each) => each !== undefined);
}

/** Description of an autoscaler that can add nodes; undefined without one. */
export function nodeProvisioner(context: ReadCluster): Fact<string | undefined> {
  const autoscalers = autoscalersOf(context);
  const growing = autoscalers.find(({canGrow}) => canGrow);
  const isUnknown = growing === undefined && autoscalers.some(({canGrow}) => canGrow === undefined);
  return isUnknown
    ? unknown('undetermined', autoscalers.map(({text}) => text).join('; '))
    : known(growing?.text, 'autoscalers of the cluster');
}

/** Karpenter, EKS Auto Mode or AKS node auto-provisioning; undefined if not installed. */
function karpenter({facts, readings}: ReadCluster): Autoscaler | undefined {
  const provisioner =
    knownValue(facts.platform.flavor) === 'auto-mode' ? 'EKS Auto Mode' : 'Karpenter';
  const {nodePools} = readings;
  if (!isKnown(nodePools)) {
    if (nodePools.unknown !== 'not-served')
      return {text: `${provisioner} adds nodes if one of its NodePools allows it`};
    return provisioner === 'Karpenter'
      ? undefined
      : {canGrow: true, text: `${provisioner} adds nodes for pending pods`};
  }
  if (nodePools.value.length === 0)
    return {canGrow: false, text: `${provisioner} has no NodePool`, remedy: 'or create a NodePool'};
  const open = nodePools.value.filter((pool) => isReady(pool) && reachedLimit(pool) === undefined);
  if (open.length > 0)
    return {
      canGrow: true,
      text: `${provisioner} can add nodes of ${few(open.map(({metadata}) => metadata.name))}`,
    };
  const closed = few(
    nodePools.value.map((pool) => `${pool.metadata.name} (${reachedLimit(pool) ?? 'not ready'})`),
  );
  return {
    canGrow: false,
    text: `${provisioner} cannot add nodes: ${closed}`,
    remedy: 'or fix a NodePool or increase its limits',
  };
}

const isReady = ({status}: CustomObject): boolean => {
  const conditions = status?.['conditions'] as Tree | undefined;
  return !(
    Array.isArray(conditions) &&
    conditions.some((each) => isMap(each) && each['type'] === 'Ready' && each['status'] === 'False')
  );
};

/** The limit that the nodes of a NodePool have reached: cpu 100 of 100 */
function reachedLimit({spec, status}: CustomObject): string | undefined {
  const limits = Object.entries((spec?.['limits'] ?? {}) as Record<string, Tree>);
  const used = (resource: string): string =>
    String(getAt(status as Tree, ['resources', resource]) ?? '0');
  const full = limits.find(
    ([resource, limit]) => (milliOf(used(resource)) ?? 0n) >= (milliOf(String(limit)) ?? 0n),
  );
  return full && `${full[0]} ${used(full[0])} of ${full[1]}`;
}
