import {at, textAt} from '../../ground/tree.ts';
import {EFS_HANDLE} from '../../settings/cache.ts';
import {cloud, nodeOs} from '../../settings/cluster.ts';
import type {Get} from '../../settings/define.ts';
import {namespace, release} from '../../settings/release.ts';
import type {DefaultValue} from './row.ts';
import type {ValuesRule} from './rule.ts';

type NodePath = DefaultValue<string>;

/** A name that is unique among the releases on the same nodes. */
export function uniqueName(get: Get): string {
  const parts = [get(namespace), get(release)].filter((part) => part !== undefined);
  return [...new Set(parts)].join('-') || 'scalr-agent';
}

const K8S_README = 'agent-k8s 0.6.5, README';
const HOSTPATH_GUIDE = 'agent-job 0.6.5, docs/cache-persistence-hostpath.md';
const documented = (value: string, source: string): NodePath => ({
  value,
  because: `recommended for these nodes in ${source}`,
});

const guessed = (value: string, because: string): NodePath => ({
  value,
  because,
  untested: `is not verified, because ${because}`,
});

const UNDOCUMENTED = 'Scalr documents no path for these nodes';

/** True for Container-Optimized OS, the default on GKE nodes. */
export const isCos = (get: Get): boolean =>
  get(nodeOs) === 'cos' || (get(cloud) === 'gke' && get(nodeOs) === undefined);

/** Data directory of agent-k8s on a node: writable, allows exec, unique. Undefined if the node OS is unknown. */
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
    untested: 'is recommended for Amazon Linux 2 and Bottlerocket, and the node OS is not known',
  };
}

/** True for the directory that the kubelet of GKE scans for volume plugins. */
export const watchedByKubelet = (path: string | undefined): boolean =>
  path?.startsWith('/home/kubernetes/flexvolume') ?? false;

/** True below the directories of Container-Optimized OS that are writable and allow exec. */
export const isExecOnCos = (path: string): boolean =>
  /^\/(home\/kubernetes\/bin|mnt\/disks\/[^/]+)\/./.test(path);

/** Cache directory of agent-job on a node. */
export function cacheDirectory(get: Get): NodePath {
  if (isCos(get)) return documented('/home/kubernetes/bin/scalr-agent-cache', HOSTPATH_GUIDE);
  const isEks =
    get(cloud) === 'eks' || ['al2', 'al2023', 'bottlerocket'].includes(get(nodeOs) ?? '');
  const reason = isEks
    ? 'Scalr recommends an instance store directory, whose path depends on the nodes'
    : UNDOCUMENTED;
  return guessed(`/var/lib/${uniqueName(get)}-cache`, reason);
}

/** How to get a ReadWriteMany volume, by platform. */
const SHARED_VOLUMES: Readonly<Record<string, string>> = {
  gke: 'On GKE, Filestore classes such as standard-rwx support ReadWriteMany; the default StorageClass does not.',
  'gke-autopilot':
    'On GKE, Filestore classes such as standard-rwx support ReadWriteMany; the default StorageClass does not.',
  eks: 'On EKS, EFS classes support ReadWriteMany; the default EBS StorageClass does not.',
  aks: 'For AKS, Scalr documents no StorageClass. azurefile-csi is not verified: test exec permission and uid 1000.',
};

export const sharedVolumeAdvice = (get: Get): string =>
  SHARED_VOLUMES[get(cloud) ?? ''] ??
  'The default StorageClass of most clusters does not support ReadWriteMany.';

/** Enforcement of egress policies for 169.254.169.254, by platform (agent-job and agent-local 0.6.5, README). */
const ENFORCEMENT: Readonly<Record<string, string>> = {
  gke: 'On GKE, Dataplane V2 enforces it; Dataplane V1 did not in tests.',
  'gke-autopilot': 'GKE Autopilot uses Dataplane V2, which enforces it.',
  eks: 'On EKS, the VPC CNI with Calico as policy engine enforces it; the VPC CNI alone is not documented.',
  aks: 'On AKS, Azure CNI with the Cilium dataplane enforces it; other dataplanes are not documented.',
};

export const policyEnforcement = (get: Get): string =>
  ENFORCEMENT[get(cloud) ?? ''] ??
  'It is unknown whether the CNI of this cluster enforces egress policies; plain flannel does not.';

/** Formats of cloud identities in service account annotations. */
export const IDENTITIES: Readonly<Record<string, {form: RegExp; example: string}>> = {
  'eks.amazonaws.com/role-arn': {
    form: /^arn:aws[a-z-]*:iam::\d{12}:role\/\S+$/,
    example: 'arn:aws:iam::123456789012:role/scalr',
  },
  'azure.workload.identity/client-id': {
    form: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
    example: '00000000-0000-0000-0000-000000000001',
  },
  'iam.gke.io/gcp-service-account': {
    form: /^[a-z0-9-]+@[a-z0-9.:-]+\.gserviceaccount\.com$/,
    example: 'scalr@my-project.iam.gserviceaccount.com',
  },
};

/** Annotations that assign a cloud identity to the service account. */
export const identities: ValuesRule = {
  code: 'WRONG_IDENTITY',
  verdict: 'error',
  test: (values) =>
    Object.entries(IDENTITIES).flatMap(([name, {form, example}]) => {
      const path = [...at('serviceAccount.annotations'), name];
      const text = textAt(values, path);
      return text === '' || form.test(text)
        ? []
        : [{path, message: `"${text}" is not a valid identity, such as ${example}.`}];
    }),
};

/** The volume handle must be valid for the EFS CSI driver. */
export const efsHandles = (range: Pick<ValuesRule, 'in'>): ValuesRule => ({
  ...range,
  code: 'WRONG_HANDLE',
  verdict: 'error',
  test: (values) => {
    const handle = textAt(values, 'efsVolumeHandle');
    if (handle === '' || EFS_HANDLE.test(handle)) return [];
    const message = `"${handle}" is not a valid EFS volume handle (file system ID, optionally with an access point).`;
    return [
      {
        path: at('efsVolumeHandle'),
        message,
        suggestion: '"fs-0123456789abcdef0::fsap-0123456789abcdef0"',
      },
    ];
  },
});
