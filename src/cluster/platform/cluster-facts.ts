import {isVersion} from '../../charts/charts.ts';
import type {ChartRequirements} from '../../charts/recommend.ts';
import type {ChartName} from '../../charts/releases/chart-name.ts';
import {scalrChart} from '../../charts/releases/chart-name.ts';
import {compare, type KubernetesVersions, within} from '../../charts/releases/versions.ts';
import {
  type Fact,
  firstKnown,
  follow,
  isKnown,
  known,
  knownValue,
  mapped,
  unknown,
} from '../../ground/fact.ts';
import {hideSecretValues} from '../../ground/hide-values.ts';
import {count, groupsOf} from '../../ground/text.ts';
import type {Values} from '../../ground/tree.ts';
import {capacityOfNode, type NodeCapacity} from './capacity.ts';
import {type Platform, platformOf, workerSystemOf} from './platform.ts';
import {
  type Cni,
  cniOf,
  forbidsHostPath,
  type NetworkPolicies,
  networkPoliciesOf,
  podSecurityOf,
} from './policies.ts';
import {type AccessMode, accessModesOf} from './provisioners.ts';
import type {
  ConfigMapObject,
  CustomObject,
  PlatformReadings,
  StorageClassObject,
} from './readings.ts';

export interface StorageClass {
  name: string;
  provisioner: string;
  isDefault: boolean;
  /** From the documentation of the provisioner; the object does not contain them. */
  accessModes: Fact<readonly AccessMode[]>;
  /** Immediate or WaitForFirstConsumer */
  bindingMode: string;
}

const DEFAULT_MARKS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

function storageClassOf({
  metadata,
  provisioner = '',
  volumeBindingMode,
}: StorageClassObject): StorageClass {
  const modes = accessModesOf(provisioner);
  return {
    name: metadata.name,
    provisioner,
    isDefault: DEFAULT_MARKS.some((key) => metadata.annotations?.[key] === 'true'),
    accessModes: modes
      ? known(modes, `documentation of ${provisioner}`)
      : unknown('undetermined', `access modes of provisioner ${provisioner} are not known`),
    bindingMode: volumeBindingMode ?? 'Immediate',
  };
}

/** Everything about a cluster that an install depends on. Plain JSON; every fact has its source, or the reason why it is unknown. */
export interface ClusterFacts {
  versions: Versions;
  platform: Platform;
  /** The setting `node-os` for the nodes that take runs; unknown if these differ. */
  nodeSystems: {ofWorkers: Fact<string>};
  nodes: Fact<readonly NodeCapacity[]>;
  cni: Fact<Cni>;
  networkPolicies: NetworkPolicies;
  dns: {usesMetadataAddress: Fact<boolean>};
  networks: Networks;
  storageClasses: Fact<readonly StorageClass[]>;
  policies: {podSecurity: Fact<string>};
  forbidsHostPath: Fact<boolean>;
  releases: ScalrReleases;
  /** Generations of the definitions of agent-job that are served; Helm never removes one. */
  definitions: Fact<readonly string[]>;
}

/** Pure. */
export function clusterFactsOf(readings: PlatformReadings): ClusterFacts {
  const platform = platformOf(readings);
  const cni = cniOf(readings, platform.distribution);
  const podSecurity = podSecurityOf(readings);
  return {
    versions: versionsOf(readings),
    platform,
    nodeSystems: {ofWorkers: workerSystemOf(readings)},
    nodes: mapped(readings.nodes, (all) => all.map(capacityOfNode)),
    cni,
    networkPolicies: networkPoliciesOf(cni, readings),
    dns: {usesMetadataAddress: usesMetadataDns(readings, platform.distribution)},
    networks: networksOf(readings),
    storageClasses: mapped(readings.storageClasses, (all) => all.map(storageClassOf)),
    policies: {podSecurity},
    forbidsHostPath: forbidsHostPath(podSecurity, platform.cloud),
    releases: scalrReleasesOf(readings),
    definitions: mapped(readings.resources, (all) =>
      DEFINITIONS.filter((name) => all.includes(name)),
    ),
  };
}

/** The facts that the chart recommendation uses; unknown ones are left out. */
export function recommendFactsOf({versions, forbidsHostPath}: ClusterFacts): ChartRequirements {
  const forbids = knownValue(forbidsHostPath);
  return {
    kubernetes: kubernetesVersions(versions),
    ...(forbids === undefined ? {} : {forbidsHostPath: forbids}),
  };
}

function kubernetesVersions({server, kubelets}: Versions): KubernetesVersions {
  const controlPlane = isKnown(server) ? [{machines: 'control plane', version: server.value}] : [];
  const nodes = Object.entries(knownValue(kubelets) ?? {}).map(([version, nodes]) => ({
    machines: count(nodes, 'node'),
    version,
  }));
  const found = [...controlPlane, ...nodes].filter(({version}) => isVersion(version));
  return {
    found,
    isComplete:
      controlPlane.length > 0 &&
      nodes.length > 0 &&
      found.length === controlPlane.length + nodes.length,
  };
}

interface Versions {
  /** As the provider spells it: v1.34.1-gke.2541000 */
  server: Fact<string>;
  /** Nodes by the version of their kubelet. */
  kubelets: Fact<Readonly<Record<string, number>>>;
  /** Oldest version of server and nodes, without the provider suffix: 1.33.4 */
  oldest: Fact<string>;
}

function versionsOf({
  serverVersion,
  nodes,
}: Pick<PlatformReadings, 'serverVersion' | 'nodes'>): Versions {
  const kubelets = follow(nodes, (all) => {
    const versions = all.flatMap(({status}) => status?.nodeInfo?.kubeletVersion || []);
    const counts = groupsOf(versions, String).map((same) => [same[0], same.length]);
    return known(
      Object.fromEntries(counts) as Record<string, number>,
      'nodes, status.nodeInfo.kubeletVersion',
    );
  });
  const oldest = follow(serverVersion, (server) =>
    follow(kubelets, (counts) => oldestOf([server, ...Object.keys(counts)])),
  );
  return {server: serverVersion, kubelets, oldest};
}

function oldestOf(versions: readonly string[]): Fact<string> {
  const plain = versions.flatMap((each) => /^v?(\d+\.\d+\.\d+)/.exec(each)?.[1] ?? []);
  const [first] = plain.toSorted(compare);
  return first === undefined || plain.length < versions.length
    ? unknown('undetermined', `cannot parse one of these versions: ${versions.join(', ')}`)
    : known(first, 'version of the API server and of the kubelets');
}

/** A Helm release of one of the three charts. */
export interface ScalrRelease {
  name: string;
  namespace: string;
  chart: ChartName;
  version: string;
  /** deployed, failed, pending-install, pending-upgrade, pending-rollback or uninstalling */
  status: string;
  /** What was given to helm; secrets and the values of environment variables are hidden. */
  values: Fact<Values>;
}

/** The whole cluster, or only the namespace if permissions do not allow more. */
type ScalrReleases = Fact<{scope: 'cluster' | 'namespace'; releases: readonly ScalrRelease[]}>;

const scalrReleasesOf = ({releases}: Pick<PlatformReadings, 'releases'>): ScalrReleases =>
  mapped(releases, ({scope, releases: all}) => ({
    scope,
    releases: all.flatMap(({name, namespace, status, chart, values}) => {
      const ours = scalrChart(chart);
      const shown = mapped(values, (given) => hideSecretValues(given));
      return ours ? [{name, namespace, ...ours, status, values: shown}] : [];
    }),
  }));

/** What agent-job brought over the years: up to 0.5.63, up to 0.5.67, and since. */
export const DEFINITIONS: readonly string[] = [
  'agentworkers.scalr.io',
  'atasks.scalr.io',
  'agenttasktemplates.scalr.io',
];

/** The definition that a version of agent-job works with. */
export function definitionOf(version: string): string {
  const generation = ['<=0.5.63', '<=0.5.67'].findIndex((range) => within(version, range));
  return DEFINITIONS.at(generation) as string;
}

export interface Networks {
  /** CIDRs that Services get their addresses from. */
  services: Fact<readonly string[]>;
  /** CIDRs of all pods, also of future nodes. */
  pods: Fact<readonly string[]>;
  /** CIDRs of the pods on the current nodes; each new node adds another one. */
  podsOfNodes: Fact<readonly string[]>;
}

const isCidr = (text: unknown): text is string =>
  typeof text === 'string' && /^[0-9a-f.:]+\/\d{1,3}$/i.test(text);

function networksOf(readings: PlatformReadings): Networks {
  const {serviceCidrs, openshiftNetworks, kubeadmConfig, calicoPools, nodes} = readings;
  const from = (
    objects: Fact<readonly CustomObject[]>,
    cidrsIn: (object: CustomObject) => unknown[],
  ): Fact<string[]> => follow(objects, (all, source) => cidrs(all.flatMap(cidrsIn), source));
  return {
    services: firstKnown(
      from(serviceCidrs, ({spec}) => texts(spec?.['cidrs'])),
      from(openshiftNetworks, ({status}) => texts(status?.['serviceNetwork'])),
      ofKubeadm(kubeadmConfig, 'serviceSubnet'),
    ),
    pods: firstKnown(
      ofKubeadm(kubeadmConfig, 'podSubnet'),
      from(openshiftNetworks, ({status}) =>
        texts(status?.['clusterNetwork']).map((each) => (each as {cidr?: unknown} | null)?.cidr),
      ),
      from(calicoPools, ({spec}) => (spec?.['disabled'] === true ? [] : [spec?.['cidr']])),
    ),
    podsOfNodes: follow(nodes, (all) =>
      cidrs(
        all.flatMap(({spec}): unknown[] => [...(spec?.podCIDRs ?? [spec?.podCIDR])]),
        'nodes, spec.podCIDRs',
      ),
    ),
  };
}

const texts = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

function cidrs(found: readonly unknown[], source: string): Fact<string[]> {
  const valid = [...new Set(found.filter(isCidr))];
  return valid.length > 0
    ? known(valid, source)
    : unknown('undetermined', `${source} does not contain a network`);
}

/** The configuration is YAML inside a string; only two of its lines are used. */
const ofKubeadm = (
  config: Fact<ConfigMapObject | undefined>,
  key: 'serviceSubnet' | 'podSubnet',
): Fact<string[]> =>
  follow(config, (found, source): Fact<string[]> => {
    if (found === undefined) return unknown('undetermined', `${source} not found`);
    const line = new RegExp(`^\\s*${key}:\\s*"?([^"\\s]+)"?\\s*$`, 'm').exec(
      found?.data?.['ClusterConfiguration'] ?? '',
    );
    return cidrs(line?.[1]?.split(',') ?? [], `${source}, ${key}`);
  });

/** Pods use 169.254.169.254 for DNS, so blocking the metadata service blocks DNS: https://github.com/tektoncd/operator/issues/4000 */
const usesMetadataDns = (
  {kubeletDns}: Pick<PlatformReadings, 'kubeletDns'>,
  distribution: Fact<string>,
): Fact<boolean> =>
  follow(distribution, (name): Fact<boolean> => {
    if (name !== 'gke') return known(false, 'only Cloud DNS for GKE uses this address');
    return mapped(kubeletDns, (servers) => servers.includes('169.254.169.254'));
  });
