import {parse} from 'yaml';
import {type Fact, follow, known, unknown} from '../../ground/fact.ts';
import {getAt, isMap, type Tree} from '../../ground/tree.ts';
import type {Taint} from '../kubernetes/scheduling.ts';
import {isNodeReady, type NodeObject, type PlatformReadings, runsLinux} from './readings.ts';

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

export const POOL_LABELS = [
  'cloud.google.com/gke-nodepool',
  'eks.amazonaws.com/nodegroup',
  'kubernetes.azure.com/agentpool',
  'karpenter.sh/nodepool',
  'doks.digitalocean.com/node-pool',
];

export function capacityOfNode(node: NodeObject): NodeCapacity {
  const {metadata, spec, status} = node;
  const labels = metadata.labels ?? {};
  const pool = POOL_LABELS.map((key) => labels[key]).find((each) => each !== undefined);
  return {
    name: metadata.name,
    os: status?.nodeInfo?.operatingSystem ?? labels['kubernetes.io/os'] ?? '',
    architecture: status?.nodeInfo?.architecture ?? labels['kubernetes.io/arch'] ?? '',
    allocatable: status?.allocatable ?? {},
    labels,
    taints: (spec?.taints ?? []).map(({key, value, effect}) => ({
      key,
      ...(value === undefined ? {} : {value}),
      effect,
    })),
    isSchedulable: spec?.unschedulable !== true,
    isReady: isNodeReady(node),
    ...(pool === undefined ? {} : {pool}),
  };
}

const isControlPlane = ({metadata, spec}: NodeObject): boolean =>
  ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master'].some(
    (key) =>
      metadata.labels?.[key] !== undefined &&
      spec?.taints?.some((taint) => taint.key === key && taint.effect !== 'PreferNoSchedule'),
  );

/** Linux nodes that are not kept for the control plane. */
export const workersIn = (nodes: readonly NodeObject[]): NodeObject[] =>
  nodes.filter((node) => runsLinux(node) && !isControlPlane(node));

/** Nodes of one kind that the cluster-autoscaler adds and removes. */
interface NodeGroup {
  name: string;
  size: number;
  maximum: number;
  /** A recent scale-up failed. */
  isHeldBack: boolean;
}

export interface Autoscaler {
  groups: readonly NodeGroup[];
  /** Time of the status, which it updates every few seconds. */
  at: Date | undefined;
}

const SOURCE = 'ConfigMap kube-system/cluster-autoscaler-status';

/** Published status of the cluster-autoscaler (YAML since 1.30, text before); undefined without one. */
export const autoscalerOf = ({
  autoscalerStatus,
}: Pick<PlatformReadings, 'autoscalerStatus'>): Fact<Autoscaler | undefined> =>
  follow(autoscalerStatus, (found): Fact<Autoscaler | undefined> => {
    if (found === undefined) return known(undefined, SOURCE);
    const {status = ''} = found.data ?? {};
    const groups = /^NodeGroups:/m.test(status) ? groupsOfText(status) : groupsOfYaml(status);
    const at = timeIn(
      found.metadata.annotations?.['cluster-autoscaler.kubernetes.io/last-updated'] ?? '',
    );
    return groups === undefined
      ? unknown('undetermined', `${SOURCE} has an unknown format`)
      : known({groups, at}, SOURCE);
  });

function groupsOfYaml(status: string): NodeGroup[] | undefined {
  const groups = getAt(parsed(status), ['nodeGroups']);
  if (!Array.isArray(groups)) return undefined;
  return groups.filter(isMap).map((group) => ({
    name: shortName(String(group['name'])),
    size: Number(getAt(group, ['health', 'cloudProviderTarget']) ?? 0),
    maximum: Number(getAt(group, ['health', 'maxSize']) ?? 0),
    isHeldBack: getAt(group, ['scaleUp', 'status']) === 'Backoff',
  }));
}

function parsed(status: string): Tree {
  try {
    return (parse(status) as Tree | undefined) ?? null;
  } catch {
    return null;
  }
}

const groupsOfText = (status: string): NodeGroup[] =>
  status
    .split(/^ *Name: +/m)
    .slice(1)
    .map((group) => {
      const [, size, maximum] =
        /cloudProviderTarget=(\d+) \(minSize=\d+, maxSize=(\d+)\)/.exec(group) ?? [];
      return {
        name: shortName(group.split('\n')[0] as string),
        size: Number(size ?? 0),
        maximum: Number(maximum ?? 0),
        isHeldBack: /^ *ScaleUp: +Backoff/m.test(group),
      };
    });

/** On GKE it is the address of an instance group. */
const shortName = (name: string): string => name.trim().split('/').at(-1) as string;

/** 2026-02-24 23:56:52.490683298 +0000 UTC */
function timeIn(text: string): Date | undefined {
  const [, day, time, hours, minutes] =
    /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)\S* ([+-]\d\d)(\d\d)/.exec(text) ?? [];
  return day === undefined ? undefined : new Date(`${day}T${time}${hours}:${minutes}`);
}
