import type {KubernetesObject} from '../../src/cluster/kubernetes/objects.ts';
import type {InventoryReadings} from '../../src/cluster/release/inventory-readings.ts';

/** An object as the API would print it, as far as a test cares. */
export const object = (kind: string, name: string, rest: object = {}): KubernetesObject => {
  const {metadata = {}, ...fields} = rest as {metadata?: object};
  return {kind, metadata: {name, ...metadata}, ...fields};
};

export const ours = (release = 'agent'): object => ({
  labels: {'app.kubernetes.io/managed-by': 'scalr-agent-install', 'scalr.io/release': release},
});

/** A release `agent` of a chart in the namespace `scalr`, alone in a cluster that may be read from end to end. */
export const readings = (
  chart: string | undefined,
  more: Partial<InventoryReadings> = {},
): InventoryReadings => ({
  release: 'agent',
  namespace: 'scalr',
  state: chart === undefined ? undefined : {chart, status: 'deployed', revision: 1},
  values: {},
  manifest:
    chart === undefined
      ? []
      : [
          object('Deployment', 'agent-main', {
            spec: {template: {spec: {terminationGracePeriodSeconds: 120}}},
          }),
        ],
  objects: [],
  unread: [],
  namespaceObject: undefined,
  releases: [],
  volumes: [],
  definitions: [],
  customResources: [],
  workloads: [],
  bindings: [],
  revisions: [],
  wide: [],
  nodes: [],
  ...more,
});

export const claim = (name: string, volumeName?: string, metadata: object = {}): KubernetesObject =>
  object('PersistentVolumeClaim', name, {
    metadata,
    spec: {volumeName},
    status: {capacity: {storage: '20Gi'}},
  });

export const volume = (
  name: string,
  persistentVolumeReclaimPolicy: string,
  {kept = false, claimed = 'agent-cache', uid = 'u'} = {},
): KubernetesObject =>
  object('PersistentVolume', name, {
    metadata: {resourceVersion: '7', ...(kept ? {labels: {'scalr.io/kept-for': 'agent'}} : {})},
    spec: {
      persistentVolumeReclaimPolicy,
      capacity: {storage: '20Gi'},
      claimRef: {namespace: 'scalr', name: claimed, ...(uid === '' ? {} : {uid})},
    },
  });

export const node = (
  name: string,
  {labels = {}, taints = [] as object[], ready = true} = {},
): KubernetesObject =>
  object('Node', name, {
    metadata: {labels},
    spec: {taints},
    status: {conditions: [{type: 'Ready', status: ready ? 'True' : 'False'}]},
  });

/** What writes to a directory of nodes: the workers of agent-k8s, the runs of agent-job. */
export const writer = (
  kind: string,
  name: string,
  path: string,
  {spec = {}, metadata = {}} = {},
): KubernetesObject =>
  object(kind, name, {
    metadata,
    spec: {
      template: {
        spec: {
          ...spec,
          containers: [{name: 'agent', env: [{name: 'SCALR_URL', value: 'https://x'}]}],
          volumes: [{name: 'data', hostPath: {path}}],
        },
      },
    },
  });
