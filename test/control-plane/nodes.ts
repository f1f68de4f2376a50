/** A node of the test cluster. Defaults are those of a small machine. */
export interface NodeSpec {
  name: string;
  labels?: Record<string, string>;
  taints?: {key: string; value?: string; effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute'}[];
  capacity?: Record<string, string>;
  arch?: 'amd64' | 'arm64';
  os?: 'linux' | 'windows';
  kubeletVersion?: string;
  runtime?: string;
}

export const DEFAULT_NODES: readonly NodeSpec[] = ['a', 'b', 'c'].map((zone) => ({
  name: `node-${zone}`,
  labels: {'topology.kubernetes.io/zone': `test-1${zone}`},
  // Nothing runs on the nodes, and objects that tests do not delete remain.
  capacity: {cpu: '96', memory: '384Gi', pods: '5000'},
}));

/** Node object as a kubelet registers it; kwok adds conditions, addresses and heartbeats. */
export function nodeObject({
  name,
  labels,
  taints,
  capacity,
  arch = 'amd64',
  os = 'linux',
  kubeletVersion = 'v1.35.4',
  runtime = 'containerd://2.1.5',
}: NodeSpec): object {
  const resources = {
    cpu: '4',
    memory: '16Gi',
    pods: '110',
    'ephemeral-storage': '100Gi',
    ...capacity,
  };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/arch': arch,
        'kubernetes.io/os': os,
        ...labels,
      },
    },
    spec: {taints},
    status: {
      capacity: resources,
      allocatable: resources,
      nodeInfo: {
        architecture: arch,
        operatingSystem: os,
        kubeletVersion,
        osImage: 'Test OS 1',
        containerRuntimeVersion: runtime,
      },
    },
  };
}
