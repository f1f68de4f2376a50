import type {ClusterTarget} from '../../ground/command-line.ts';
import {type Fact, follow, isKnown, known, mapped, unknown} from '../../ground/fact.ts';
import {isMap, type Values} from '../../ground/tree.ts';
import type {ListedRelease, Releases} from '../helm/release-record.ts';
import {type ClusterAccess, releasesIn} from '../helm/releases.ts';
import {servedResources, serverVersion} from '../kubernetes/discovery.ts';
import {listFact, objectFact, unknownBy} from '../kubernetes/object-facts.ts';
import type {KubernetesObject} from '../kubernetes/objects.ts';
import {REQUEST_MS, type Reader} from '../kubernetes/resources.ts';
import type {Taint} from '../kubernetes/scheduling.ts';

/** A Node as the API server has it, as far as facts come from it. */
export interface NodeObject extends KubernetesObject {
  spec?: {
    providerID?: string;
    podCIDR?: string;
    podCIDRs?: readonly string[];
    unschedulable?: boolean;
    taints?: readonly Taint[];
  };
  status?: {
    allocatable?: Readonly<Record<string, string>>;
    nodeInfo?: {
      architecture?: string;
      operatingSystem?: string;
      osImage?: string;
      kubeletVersion?: string;
      containerRuntimeVersion?: string;
    };
    conditions?: readonly {type: string; status: string}[];
  };
}

/** Agents and runs are Linux containers. */
export const runsLinux = ({metadata, status}: NodeObject): boolean =>
  (metadata.labels?.['kubernetes.io/os'] ?? status?.nodeInfo?.operatingSystem ?? 'linux') ===
  'linux';

export const isNodeReady = ({status}: NodeObject): boolean =>
  status?.conditions?.some(({type, status: is}) => type === 'Ready' && is === 'True') ?? false;

/** A DaemonSet or Deployment. */
export interface PodOwner extends KubernetesObject {
  status?: {desiredNumberScheduled?: number; numberReady?: number};
  spec?: {
    replicas?: number;
    template?: {
      spec?: {
        containers?: readonly {
          name: string;
          image?: string;
          args?: readonly string[];
          env?: readonly {name: string; value?: string}[];
        }[];
      };
    };
  };
}

export interface StorageClassObject extends KubernetesObject {
  provisioner?: string;
  volumeBindingMode?: string;
}

export interface ConfigMapObject extends KubernetesObject {
  data?: Readonly<Record<string, string>>;
}

/** An object whose spec depends on its kind. */
export interface CustomObject extends KubernetesObject {
  spec?: Readonly<Record<string, unknown>>;
  status?: Readonly<Record<string, unknown>>;
}

/** An item of `helm list --output json`, with its user-supplied values. */
type ReleaseReading = Omit<ListedRelease, 'values'> & {values: Fact<Values>};

/** Every API server of a supported version has these; one call lists them. */
const LISTED = {
  nodes: 'nodes',
  daemonSets: 'daemonsets.apps',
  storageClasses: 'storageclasses.storage.k8s.io',
} as const;

/** Single objects; one call gets them. The namespace is the one of the install. */
const NAMED = {
  kubeadmConfig: 'configmaps/kubeadm-config',
  ciliumConfig: 'configmaps/cilium-config',
  autoscalerStatus: 'configmaps/cluster-autoscaler-status',
} as const;

/** Kinds that only some clusters serve; they are listed once the resources are known, for one that is not served fails a whole call. */
const OPTIONAL = {
  serviceCidrs: 'servicecidrs.networking.k8s.io',
  openshiftNetworks: 'networks.config.openshift.io',
  calicoPools: 'ippools.crd.projectcalico.org',
  nodePools: 'nodepools.karpenter.sh',
} as const;

/** What the API server and helm answered, call by call. */
export interface PlatformReadings {
  namespace: string;
  /** gitVersion of `kubectl version`: v1.34.1-gke.2541000 */
  serverVersion: Fact<string>;
  /** Everything served, as `kubectl api-resources --output name` spells it: daemonsets.apps */
  resources: Fact<readonly string[]>;
  nodes: Fact<readonly NodeObject[]>;
  daemonSets: Fact<readonly PodOwner[]>;
  storageClasses: Fact<readonly StorageClassObject[]>;
  /** The namespace object; undefined if not found. */
  namespaceObject: Fact<KubernetesObject | undefined>;
  kubeadmConfig: Fact<ConfigMapObject | undefined>;
  ciliumConfig: Fact<ConfigMapObject | undefined>;
  autoscalerStatus: Fact<ConfigMapObject | undefined>;
  serviceCidrs: Fact<readonly CustomObject[]>;
  openshiftNetworks: Fact<readonly CustomObject[]>;
  calicoPools: Fact<readonly CustomObject[]>;
  nodePools: Fact<readonly CustomObject[]>;
  /** clusterDNS of the kubelet of one node. Read on GKE only, to distinguish Cloud DNS from kube-dns. */
  kubeletDns: Fact<readonly string[]>;
  /** Of all namespaces, or where that is refused of the one of the install. */
  releases: Fact<{scope: 'cluster' | 'namespace'; releases: readonly ReleaseReading[]}>;
}

interface ReadOptions {
  kubeTarget: ClusterTarget;
  kubernetes: Reader;
  options: {signal: AbortSignal; idleMs: number};
}

/**
 * Reads the data for all facts in parallel. Read-only. Dependent requests follow as soon as possible.
 * Never fails: unreadable facts are unknown, with a reason.
 */
export async function readCluster(
  kubeTarget: ClusterTarget,
  access: ClusterAccess,
): Promise<PlatformReadings> {
  const stop = new AbortController();
  const asking: ReadOptions = {
    kubeTarget,
    kubernetes: access.kubernetes,
    options: {signal: stop.signal, idleMs: REQUEST_MS},
  };
  const [version, listed, named, served, releases] = await Promise.all([
    readVersion(asking).then((found) => {
      // With another HELM_DRIVER, helm would wait without a limit for an API server that does not answer.
      if (isSilent(found)) stop.abort();
      return found;
    }),
    readListed(asking),
    readNamed(asking),
    readServed(asking),
    readReleases(asking, releasesIn(access)),
  ]);
  const readings = {
    namespace: kubeTarget.namespace,
    serverVersion: version,
    ...listed,
    ...named,
    ...served,
    releases,
  };
  if (!isSilent(version)) return readings;
  return Object.fromEntries(
    Object.entries(readings).map(([key, fact]) => [key, key === 'namespace' ? fact : version]),
  ) as unknown as PlatformReadings;
}

/** The version may be hidden from accounts that may read the rest. */
const isSilent = (version: Fact<string>): boolean =>
  !isKnown(version) && version.unknown !== 'forbidden';

async function readVersion({kubernetes, options}: ReadOptions): Promise<Fact<string>> {
  const {version, error} = await serverVersion(kubernetes, options);
  if (error) return unknownBy(error);
  return version === undefined
    ? unknown('failed', 'the API server did not return its version')
    : known(version, 'kubectl version');
}

async function byKey<K extends string, T>(
  names: Readonly<Record<K, string>>,
  read: (name: string) => Promise<T>,
): Promise<Record<K, T>> {
  const entries = await Promise.all(
    Object.entries<string>(names).map(async ([key, name]) => [key, await read(name)]),
  );
  return Object.fromEntries(entries) as Record<K, T>;
}

type Listed = Pick<PlatformReadings, keyof typeof LISTED>;
type AccountObject = Pick<PlatformReadings, keyof typeof NAMED | 'namespaceObject'>;
type Served = Pick<PlatformReadings, keyof typeof OPTIONAL | 'resources'>;

async function readListed(
  asking: ReadOptions,
): Promise<Listed & Pick<PlatformReadings, 'kubeletDns'>> {
  const listed: Listed = await byKey(LISTED, (kind) =>
    listFact<KubernetesObject>(asking.kubernetes, kind, asking.options),
  );
  return {...listed, kubeletDns: await readKubeletDns(listed.nodes, asking)};
}

async function readNamed({kubeTarget, kubernetes, options}: ReadOptions): Promise<AccountObject> {
  const [named, namespaceObject] = await Promise.all([
    byKey(NAMED, (spelled) => {
      const [kind = '', name = ''] = spelled.split('/');
      return objectFact(kubernetes, kind, name, {...options, namespace: 'kube-system'});
    }),
    objectFact(kubernetes, 'namespaces', kubeTarget.namespace, options),
  ]);
  return {...(named as Pick<PlatformReadings, keyof typeof NAMED>), namespaceObject};
}

async function readServed({kubernetes, options}: ReadOptions): Promise<Served> {
  const {served, error} = await servedResources(kubernetes, options);
  const resources: PlatformReadings['resources'] =
    served.size > 0 || error === undefined
      ? known([...served.keys()], 'kubectl api-resources')
      : unknownBy(error);
  const missing = (kind: string): Fact<never> =>
    follow(resources, () => unknown('not-served', `the API server does not serve ${kind}`));
  const lists = await byKey(OPTIONAL, async (kind) => {
    const groupVersion = served.get(kind);
    return groupVersion === undefined
      ? missing(kind)
      : listFact(kubernetes, kind, {...options, groupVersion});
  });
  return {resources, ...lists};
}

async function readKubeletDns(
  nodes: PlatformReadings['nodes'],
  {kubernetes, options}: ReadOptions,
): Promise<PlatformReadings['kubeletDns']> {
  const node = isKnown(nodes)
    ? nodes.value.find((each) => runsLinux(each) && each.spec?.providerID?.startsWith('gce://'))
    : undefined;
  if (node === undefined)
    return isKnown(nodes) ? unknown('undetermined', 'read on GKE only') : nodes;
  const {name} = node.metadata;
  const source = `kubelet of ${name}, clusterDNS`;
  const answer = await kubernetes.get(
    `/api/v1/nodes/${encodeURIComponent(name)}/proxy/configz`,
    options,
  );
  if (answer.error) return unknownBy(answer.error);
  if (!isMap(answer.body as Values)) return unknown('failed', `unexpected response for ${source}`);
  const configuration = answer.body as {kubeletconfig?: {clusterDNS?: readonly string[]}};
  return known(configuration.kubeletconfig?.clusterDNS ?? [], source);
}

async function readReleases(
  {kubeTarget, options}: ReadOptions,
  releases: Releases,
): Promise<PlatformReadings['releases']> {
  const read = async (everywhere: boolean): Promise<Fact<readonly ReleaseReading[]>> => {
    const {items, error} = await releases.list(kubeTarget, {...options, everywhere});
    return error
      ? unknownBy(error)
      : known(
          items.map(readingOf),
          everywhere
            ? 'helm list --all-namespaces'
            : `helm list --namespace ${kubeTarget.namespace}`,
        );
  };
  const everywhere = await read(true);
  if (isKnown(everywhere))
    return known({scope: 'cluster', releases: everywhere.value}, everywhere.source);
  // An account that cannot list the Secrets of all namespaces may still list those of this one.
  const here = everywhere.unknown === 'forbidden' ? await read(false) : everywhere;
  return mapped(here, (found) => ({scope: 'namespace', releases: found}));
}

const readingOf = ({values, ...release}: ListedRelease): ReleaseReading => ({
  ...release,
  values:
    values === undefined
      ? unknown('undetermined', `the values of release ${release.name} were not read`)
      : known(values, `helm get values ${release.name}`),
});
