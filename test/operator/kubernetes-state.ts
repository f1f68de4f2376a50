import {gunzipSync} from 'node:zlib';
import {until} from '../control-plane/api.ts';
import {type State, stateOf, type Thing} from './things.ts';

interface Meta {
  name: string;
  uid: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: unknown[];
  deletionTimestamp?: string;
}

interface Found {
  metadata: Meta;
  data?: Record<string, string>;
  spec?: {
    replicas?: number;
    template?: unknown;
    volumeName?: string;
    claimRef?: {name?: string; namespace?: string; uid?: string};
    persistentVolumeReclaimPolicy?: string;
    resources?: unknown;
  };
  status?: {
    readyReplicas?: number;
    numberReady?: number;
    desiredNumberScheduled?: number;
    phase?: string;
  };
}

export type Get = <T>(path: string) => Promise<T | undefined>;

const MANAGED = '?labelSelector=app.kubernetes.io/managed-by%3DHelm';
const KINDS: Readonly<Record<string, (namespace: string) => string>> = {
  ...Object.fromEntries(
    [
      ['Secret', '/api/v1', 'secrets'],
      ['ConfigMap', '/api/v1', 'configmaps'],
      ['ServiceAccount', '/api/v1', 'serviceaccounts'],
      ['PVC', '/api/v1', 'persistentvolumeclaims'],
      ['Pod', '/api/v1', 'pods'],
      ['Deployment', '/apis/apps/v1', 'deployments'],
      ['DaemonSet', '/apis/apps/v1', 'daemonsets'],
      ['Role', '/apis/rbac.authorization.k8s.io/v1', 'roles'],
      ['RoleBinding', '/apis/rbac.authorization.k8s.io/v1', 'rolebindings'],
      ['NetworkPolicy', '/apis/networking.k8s.io/v1', 'networkpolicies'],
      ['AgentTaskTemplate', '/apis/scalr.io/v1', 'agenttasktemplates'],
    ].map(([kind, group, plural]) => [
      kind,
      (namespace: string) => `${group}/namespaces/${namespace}/${plural}`,
    ]),
  ),
  PersistentVolume: () => '/api/v1/persistentvolumes',
  ClusterRole: () => `/apis/rbac.authorization.k8s.io/v1/clusterroles${MANAGED}`,
  ClusterRoleBinding: () => `/apis/rbac.authorization.k8s.io/v1/clusterrolebindings${MANAGED}`,
  CRD: () => '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
};

/** Made by controllers for every namespace. */
const OF_CLUSTER = /^(?:ServiceAccount default|ConfigMap kube-root-ca\.crt)$/;

/** Waits until controllers have nothing to do in the namespace, then reads it. */
export async function readNamespace(namespace: string, get: Get): Promise<State> {
  let state: State = new Map();
  const isSettled = async (): Promise<boolean> => {
    const found = await readAll(namespace, get);
    state = stateOf([...things(found), ...releases(found['Secret'] ?? [])]);
    return isQuiet(found);
  };
  // A claim that nothing binds stays as it is; invariants compare what they see.
  await until('the namespace is quiet', isSettled, 5).catch(() => undefined);
  return state;
}

type All = Readonly<Record<string, readonly Found[]>>;

async function readAll(namespace: string, get: Get): Promise<All> {
  const lists = Object.entries(KINDS).map(async ([kind, path]) => {
    const {items = []} = (await get<{items?: Found[]}>(path(namespace))) ?? {};
    return [kind, items.filter((each) => isNear(kind, each, namespace))] as const;
  });
  return Object.fromEntries(await Promise.all(lists));
}

/** Of cluster-wide kinds, what belongs to this namespace; tests with other namespaces run at the same time. */
function isNear(kind: string, {metadata, spec}: Found, namespace: string): boolean {
  if (kind === 'PersistentVolume') return spec?.claimRef?.namespace === namespace;
  if (kind.startsWith('ClusterRole'))
    return metadata.annotations?.['meta.helm.sh/release-namespace'] === namespace;
  if (kind === 'CRD') return metadata.name.endsWith('.scalr.io');
  // The test binds the roles, and creates the service account of a pod.
  const isOfTest = kind === 'RoleBinding' || kind === 'ServiceAccount';
  if (isOfTest && metadata.name.startsWith(namespace)) return false;
  return (
    !OF_CLUSTER.test(`${kind} ${metadata.name}`) &&
    (kind !== 'Pod' || metadata.ownerReferences === undefined)
  );
}

function isQuiet({Deployment = [], PVC = [], PersistentVolume = []}: All): boolean {
  const claims = new Set(PVC.map(({metadata}) => metadata.uid));
  return (
    Deployment.every(({spec, status}) => (status?.readyReplicas ?? 0) === (spec?.replicas ?? 1)) &&
    PVC.every(
      ({spec, metadata}) =>
        metadata.deletionTimestamp !== undefined || spec?.volumeName !== undefined,
    ) &&
    PersistentVolume.every(
      ({spec}) =>
        spec?.persistentVolumeReclaimPolicy !== 'Delete' || claims.has(spec.claimRef?.uid ?? ''),
    )
  );
}

function things(found: All): Thing[] {
  const ownerOf = ({labels = {}, annotations = {}}: Meta): string | undefined =>
    annotations['meta.helm.sh/release-name'] ??
    labels['scalr.io/release'] ??
    labels['scalr.io/kept-for'] ??
    (labels['owner'] === 'helm' ? labels['name'] : undefined);
  const claims = new Map(
    (found['PVC'] ?? []).map(({metadata}) => [metadata.name, ownerOf(metadata)]),
  );
  return Object.entries(found).flatMap(([kind, objects]) =>
    objects.map((object): Thing => {
      const {metadata, spec, status} = object;
      const {
        readyReplicas,
        numberReady = readyReplicas ?? 0,
        desiredNumberScheduled,
      } = status ?? {};
      const isAgent = kind === 'Deployment' || kind === 'DaemonSet';
      const owner =
        ownerOf(metadata) ??
        (kind === 'PersistentVolume' ? claims.get(spec?.claimRef?.name ?? '') : undefined);
      return {
        name: `${kind} ${metadata.name}`,
        uid: metadata.uid,
        content: contentOf(kind, object),
        ...(kind === 'Secret' ? {data: JSON.stringify(object.data)} : {}),
        owner: kind === 'CRD' ? undefined : owner,
        uses: kind === 'PVC' ? [`PersistentVolume ${spec?.volumeName}`] : [...referencesIn(spec)],
        isLeaving: metadata.deletionTimestamp !== undefined,
        ...(isAgent
          ? {
              agent: {
                template: JSON.stringify(spec?.template),
                desired: spec?.replicas ?? desiredNumberScheduled ?? 1,
                ready: numberReady,
              },
            }
          : {}),
      };
    }),
  );
}

/** Names of the PVCs and Secrets in a specification. */
function* referencesIn(node: unknown, key = ''): Generator<string> {
  if (typeof node !== 'object' || node === null) {
    if (key === 'claimName') yield `PVC ${node}`;
    if (key === 'secretName') yield `Secret ${node}`;
    return;
  }
  if ((key === 'secretKeyRef' || key === 'secretRef') && 'name' in node)
    yield `Secret ${node.name}`;
  for (const [name, each] of Object.entries(node)) yield* referencesIn(each, name);
}

/** Labels and annotations that the scheduler, controllers of Kubernetes, kwok and kubectl write. */
const BY_CONTROLLERS =
  /^(?:deployment\.kubernetes\.io|pv\.kubernetes\.io|topology\.kubernetes\.io|volume\.|deprecated\.daemonset)/;

function contentOf(kind: string, {metadata, status: _, ...object}: Found): string {
  if (kind === 'CRD') return '';
  const [labels, annotations] = [metadata.labels, metadata.annotations].map((each = {}) =>
    Object.entries(each).filter(([name]) => !BY_CONTROLLERS.test(name)),
  );
  const {spec} = object;
  if (kind === 'PersistentVolume')
    return JSON.stringify([spec?.persistentVolumeReclaimPolicy, spec?.claimRef?.name]);
  return JSON.stringify([
    labels,
    annotations,
    kind === 'PVC' ? spec?.resources : kind === 'Pod' ? undefined : object,
  ]);
}

interface HelmRelease {
  name: string;
  version: number;
  info: {status: string};
  chart: {metadata: {name: string; version: string}};
  config?: object;
}

/** What the generator must know of a release, as its content. */
export interface InstalledChart {
  chart: string;
  version: string;
  status: string;
  revision: number;
  config: object;
}

/** Releases by their newest revision, unless they are uninstalled. */
function releases(secrets: readonly Found[]): Thing[] {
  const records = secrets
    .filter(
      ({metadata}) =>
        metadata.labels?.['owner'] === 'helm' && metadata.deletionTimestamp === undefined,
    )
    .map(({data}): HelmRelease => {
      const text = Buffer.from(data?.['release'] ?? '', 'base64').toString();
      return JSON.parse(gunzipSync(Buffer.from(text, 'base64')).toString());
    })
    .toSorted((one, other) => one.version - other.version);
  const newest = new Map(records.map((each) => [each.name, each]));
  return [...newest.values()]
    .filter(({info}) => info.status !== 'uninstalled')
    .map(({name, version: revision, info, chart, config = {}}) => {
      const content: InstalledChart = {
        chart: chart.metadata.name,
        version: chart.metadata.version,
        status: info.status,
        revision,
        config,
      };
      return {
        name: `release ${name}`,
        uid: name,
        content: JSON.stringify(content),
        owner: name,
        uses: [],
        isLeaving: false,
      };
    });
}
