import {type Fact, follow, known} from '../ground/fact.ts';
import type {NodeObject, PlatformReadings, Taint} from './readings.ts';

/** One node as the scheduler sees it. */
export interface NodeCapacity {
  name: string;
  os: string;
  /** amd64, arm64, … */
  architecture: string;
  /** What pods can have, as Kubernetes quantities: cpu, memory, pods, ephemeral-storage, nvidia.com/gpu, … */
  allocatable: Readonly<Record<string, string>>;
  labels: Readonly<Record<string, string>>;
  taints: readonly Taint[];
  /** False if it is cordoned. */
  isSchedulable: boolean;
  isReady: boolean;
  /** Name of the pool, where the provider labels it. */
  pool?: string;
}

const POOL_LABELS = [
  'cloud.google.com/gke-nodepool',
  'eks.amazonaws.com/nodegroup',
  'kubernetes.azure.com/agentpool',
  'karpenter.sh/nodepool',
  'doks.digitalocean.com/node-pool',
];

export const capacityOf = ({nodes}: Pick<PlatformReadings, 'nodes'>): Fact<readonly NodeCapacity[]> =>
  follow(nodes, (all, source) => known(all.map(capacityOfNode), source));

function capacityOfNode({metadata, spec, status}: NodeObject): NodeCapacity {
  const labels = metadata.labels ?? {};
  const pool = POOL_LABELS.map((key) => labels[key]).find((each) => each !== undefined);
  return {
    name: metadata.name,
    os: status?.nodeInfo?.operatingSystem ?? labels['kubernetes.io/os'] ?? '',
    architecture: status?.nodeInfo?.architecture ?? labels['kubernetes.io/arch'] ?? '',
    allocatable: status?.allocatable ?? {},
    labels,
    taints: (spec?.taints ?? []).map(({key, value, effect}) => ({key, ...(value === undefined ? {} : {value}), effect})),
    isSchedulable: spec?.unschedulable !== true,
    isReady: status?.conditions?.some(({type, status: is}) => type === 'Ready' && is === 'True') ?? false,
    ...(pool === undefined ? {} : {pool}),
  };
}

/** Agents and runs are Linux containers. */
export const runsLinux = ({metadata, status}: NodeObject): boolean =>
  (metadata.labels?.['kubernetes.io/os'] ?? status?.nodeInfo?.operatingSystem ?? 'linux') === 'linux';

const isControlPlane = ({metadata, spec}: NodeObject): boolean =>
  ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master'].some(
    (key) =>
      metadata.labels?.[key] !== undefined && spec?.taints?.some((taint) => taint.key === key && taint.effect !== 'PreferNoSchedule'),
  );

/** Linux nodes that are not kept for the control plane. */
export const workersIn = (nodes: readonly NodeObject[]): NodeObject[] => nodes.filter((node) => runsLinux(node) && !isControlPlane(node));
