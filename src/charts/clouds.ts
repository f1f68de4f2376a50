import {cloud, nodeOs} from '../settings/cluster.ts';
import type {Get} from '../settings/define.ts';
import {namespace, release} from '../settings/release.ts';
import type {DefaultValue} from './define.ts';

type NodePath = DefaultValue<string>;

/** A name that no other release on the same nodes has. */
export function uniqueName(get: Get): string {
  const parts = [get(namespace), get(release)].filter((part) => part !== undefined);
  return [...new Set(parts)].join('-') || 'scalr-agent';
}

const K8S_README = 'agent-k8s 0.6.5, README';
const HOSTPATH_GUIDE = 'agent-job 0.6.5, docs/cache-persistence-hostpath.md';

const documented = (value: string, source: string): NodePath => ({value, because: `recommended for these nodes in ${source}`});

const guessed = (value: string, because: string): NodePath => ({value, because, untested: `is a guess, because ${because}`});

const UNDOCUMENTED = 'upstream documents no path for these nodes';

/** Container-Optimized OS, the system of GKE nodes unless told otherwise. */
export const isCos = (get: Get): boolean => get(nodeOs) === 'cos' || (get(cloud) === 'gke' && get(nodeOs) === undefined);

/** Where agent-k8s keeps its data on a node: writable, exec-capable, unique. Undefined while nothing is known of the nodes. */
export function dataPath(get: Get): NodePath | undefined {
  if (get(cloud) === undefined && get(nodeOs) === undefined) return undefined;
  const name = uniqueName(get);
  if (isCos(get)) return documented(`/home/kubernetes/bin/scalr/${name}`, K8S_README);
  const path = `/var/lib/${name}`;
  if (get(nodeOs) === 'al2') return documented(path, K8S_README);
  if (get(nodeOs) === 'bottlerocket')
    return {
      ...documented(path, K8S_README),
      untested: `is recommended for Bottlerocket, which has few writable directories (${HOSTPATH_GUIDE})`,
    };
  if (get(cloud) !== 'eks' || get(nodeOs) !== undefined) return guessed(path, UNDOCUMENTED);
  return {
    value: path,
    because: `recommended for Amazon Linux 2 and Bottlerocket in ${K8S_README}`,
    untested: 'is recommended for Amazon Linux 2 and Bottlerocket, and --node-os is not set',
  };
}

/** Below this directory the kubelet of GKE looks for volume plugins. */
export const watchedByKubelet = (path: string | undefined): boolean => path?.startsWith('/home/kubernetes/flexvolume') ?? false;

/** True below the directories of Container-Optimized OS that are writable and exec: its own one and mounted local SSDs. */
export const isExecOnCos = (path: string): boolean => /^\/(home\/kubernetes\/bin|mnt\/disks\/[^/]+)\/./.test(path);

/** Where agent-job keeps a cache on a node. */
export function cacheDirectory(get: Get): NodePath {
  if (isCos(get)) return documented('/home/kubernetes/bin/scalr-agent-cache', HOSTPATH_GUIDE);
  const isEks = get(cloud) === 'eks' || ['al2', 'al2023', 'bottlerocket'].includes(get(nodeOs) ?? '');
  const reason = isEks ? 'upstream recommends a directory of an instance store, and its path depends on the nodes' : UNDOCUMENTED;
  return guessed(`/var/lib/${uniqueName(get)}-cache`, reason);
}

/** How to get a volume that many nodes mount, by provider; the default class of each makes block disks for one node. */
const SHARED_VOLUMES: Readonly<Record<string, string>> = {
  gke: 'On GKE a Filestore class such as standard-rwx can; the default class cannot.',
  'gke-autopilot': 'On GKE a Filestore class such as standard-rwx can; the default class cannot.',
  eks: 'On EKS an EFS class can; the default EBS class cannot.',
  aks: 'On AKS upstream documents nothing: a class like azurefile-csi is a guess that has to be tested for exec and uid 1000.',
};

export const sharedVolumeAdvice = (get: Get): string =>
  SHARED_VOLUMES[get(cloud) ?? ''] ?? 'The default class of most clusters makes disks for one node only.';

/** What is known about the enforcement of an egress policy against 169.254.169.254 (agent-job and agent-local 0.6.5, README). */
const ENFORCEMENT: Readonly<Record<string, string>> = {
  gke: 'GKE with Dataplane V1 was measured as not blocking; Dataplane V2 blocks.',
  'gke-autopilot': 'GKE Autopilot runs Dataplane V2, which blocks.',
  eks: 'EKS blocks with the VPC CNI and Calico as policy engine; the VPC CNI alone is not documented.',
  aks: 'AKS blocks with Azure CNI and the Cilium dataplane; other dataplanes are not documented.',
};

export const policyEnforcement = (get: Get): string =>
  ENFORCEMENT[get(cloud) ?? ''] ?? 'Whether the CNI of this cluster enforces egress policies is unknown; plain flannel enforces none.';
