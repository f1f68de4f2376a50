import type {ChartRequirements} from '../charts/recommend.ts';
import type {KubernetesVersions} from '../charts/releases.ts';
import {compare} from '../charts/releases.ts';
import {isVersion} from '../charts/version-status.ts';
import {type Fact, follow, isKnown, known, knownValue, unknown} from '../ground/fact.ts';
import {count} from '../ground/text.ts';
import {capacityOf, type NodeCapacity} from './capacity.ts';
import {type Cni, cniOf, type NetworkPolicies, networkPoliciesOf} from './cni.ts';
import {type Dns, dnsOf, type Networks, networksOf} from './networks.ts';
import {type NodeSystems, nodeSystemsOf, type Platform, platformOf} from './platform.ts';
import {forbidsHostPath, type Policies, policiesOf} from './policies.ts';
import type {PlatformReadings} from './readings.ts';
import {type ScalrReleases, scalrReleasesOf, servedDefinitions} from './releases.ts';
import {type StorageClass, storageOf} from './storage.ts';

/** Everything about a cluster that an install depends on. Plain JSON; every fact has its source, or the reason why it is unknown. */
export interface ClusterFacts {
  versions: Versions;
  platform: Platform;
  /** Version of OpenShift: 4.18.12 */
  openshiftVersion: Fact<string>;
  nodeSystems: NodeSystems;
  nodes: Fact<readonly NodeCapacity[]>;
  cni: Fact<Cni>;
  networkPolicies: NetworkPolicies;
  dns: Dns;
  networks: Networks;
  storageClasses: Fact<readonly StorageClass[]>;
  policies: Policies;
  forbidsHostPath: Fact<boolean>;
  releases: Fact<ScalrReleases>;
  /** Definitions of agent-job, by generation. */
  definitions: Fact<readonly string[]>;
}

/** Pure. */
export function clusterFactsOf(readings: PlatformReadings): ClusterFacts {
  const platform = platformOf(readings);
  const cni = cniOf(readings, platform.distribution);
  const policies = policiesOf(readings);
  return {
    versions: versionsOf(readings),
    platform,
    openshiftVersion: openshiftVersionOf(readings),
    nodeSystems: nodeSystemsOf(readings),
    nodes: capacityOf(readings),
    cni,
    networkPolicies: networkPoliciesOf(cni, readings),
    dns: dnsOf(readings, platform.distribution),
    networks: networksOf(readings),
    storageClasses: storageOf(readings),
    policies,
    forbidsHostPath: forbidsHostPath(policies, platform.cloud),
    releases: scalrReleasesOf(readings),
    definitions: servedDefinitions(readings),
  };
}

const openshiftVersionOf = ({openshiftVersions}: PlatformReadings): Fact<string> =>
  follow(openshiftVersions, (all, source): Fact<string> => {
    const version = (all[0]?.status?.['desired'] as {version?: unknown} | undefined)?.version;
    return typeof version === 'string'
      ? known(version, `${source}, status.desired.version`)
      : unknown('undetermined', `${source} does not contain a version`);
  });

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
  return {found, isComplete: controlPlane.length > 0 && nodes.length > 0 && found.length === controlPlane.length + nodes.length};
}

export interface Versions {
  /** As the provider spells it: v1.34.1-gke.2541000 */
  server: Fact<string>;
  /** Nodes by the version of their kubelet. */
  kubelets: Fact<Readonly<Record<string, number>>>;
  /** Oldest version of server and nodes, without the provider suffix: 1.33.4 */
  oldest: Fact<string>;
}

export function versionsOf({serverVersion, nodes}: Pick<PlatformReadings, 'serverVersion' | 'nodes'>): Versions {
  const kubelets = follow(nodes, (all): Fact<Record<string, number>> => {
    const counts = new Map<string, number>();
    for (const {status} of all) {
      const version = status?.nodeInfo?.kubeletVersion;
      if (version) counts.set(version, (counts.get(version) ?? 0) + 1);
    }
    return known(Object.fromEntries(counts), 'nodes, status.nodeInfo.kubeletVersion');
  });
  const oldest = follow(serverVersion, (server) => follow(kubelets, (counts) => oldestOf([server, ...Object.keys(counts)])));
  return {server: serverVersion, kubelets, oldest};
}

function oldestOf(versions: readonly string[]): Fact<string> {
  const plain = versions.flatMap((each) => /^v?(\d+\.\d+\.\d+)/.exec(each)?.[1] ?? []);
  const [first] = plain.toSorted(compare);
  return first === undefined || plain.length < versions.length
    ? unknown('undetermined', `cannot parse one of these versions: ${versions.join(', ')}`)
    : known(first, 'version of the API server and of the kubelets');
}
