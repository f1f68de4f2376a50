import {type Fact, firstKnown, follow, known, knownValue, mapped, unknown} from '../ground/fact.ts';
import type {ConfigMapObject, CustomObject, NodeObject, PlatformReadings, PodOwner} from './readings.ts';

export interface Networks {
  /** CIDRs that Services get their addresses from. */
  services: Fact<readonly string[]>;
  /** CIDRs of all pods, also of future nodes. */
  pods: Fact<readonly string[]>;
  /** CIDRs of the pods on the current nodes; each new node adds another one. */
  podsOfNodes: Fact<readonly string[]>;
}

const isCidr = (text: unknown): text is string => typeof text === 'string' && /^[0-9a-f.:]+\/\d{1,3}$/i.test(text);

export function networksOf(readings: PlatformReadings): Networks {
  const {serviceCidrs, openshiftNetworks, kubeadmConfig, calicoPools, nodes} = readings;
  return {
    services: firstKnown(
      follow(serviceCidrs, (all, source) =>
        cidrs(
          all.flatMap((each) => texts(each.spec?.['cidrs'])),
          source,
        ),
      ),
      follow(openshiftNetworks, (all, source) =>
        cidrs(
          all.flatMap((each) => texts(each.status?.['serviceNetwork'])),
          source,
        ),
      ),
      ofKubeadm(kubeadmConfig, 'serviceSubnet'),
    ),
    pods: firstKnown(
      ofKubeadm(kubeadmConfig, 'podSubnet'),
      follow(openshiftNetworks, (all, source) => cidrs(all.flatMap(clusterNetworks), source)),
      follow(calicoPools, (all, source) =>
        cidrs(
          all.filter(({spec}) => spec?.['disabled'] !== true).map(({spec}) => spec?.['cidr']),
          source,
        ),
      ),
    ),
    podsOfNodes: follow(nodes, (all) => cidrs(all.flatMap(podNetworks), 'nodes, spec.podCIDRs')),
  };
}

const podNetworks = ({spec}: NodeObject): unknown[] => [...(spec?.podCIDRs ?? [spec?.podCIDR])];

const texts = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const clusterNetworks = ({status}: CustomObject): unknown[] =>
  texts(status?.['clusterNetwork']).map((each) => (each as {cidr?: unknown} | null)?.cidr);

function cidrs(found: readonly unknown[], source: string): Fact<string[]> {
  const valid = [...new Set(found.filter(isCidr))];
  return valid.length > 0 ? known(valid, source) : unknown('undetermined', `${source} does not contain a network`);
}

/** The configuration is YAML inside a string; only two of its lines are used. */
const ofKubeadm = (config: Fact<ConfigMapObject | undefined>, key: 'serviceSubnet' | 'podSubnet'): Fact<string[]> =>
  follow(config, (found, source): Fact<string[]> => {
    if (found === undefined) return unknown('undetermined', `${source} not found`);
    const line = new RegExp(`^\\s*${key}:\\s*"?([^"\\s]+)"?\\s*$`, 'm').exec(found?.data?.['ClusterConfiguration'] ?? '');
    return cidrs(line?.[1]?.split(',') ?? [], `${source}, ${key}`);
  });

export interface Dns {
  /** cloud-dns, kube-dns, coredns or openshift-dns */
  provider: Fact<string>;
  /** NodeLocal DNSCache runs on the nodes. */
  hasNodeCache: Fact<boolean>;
  /** Pods use 169.254.169.254 for DNS, so blocking the metadata service blocks DNS: https://github.com/tektoncd/operator/issues/4000 */
  usesMetadataAddress: Fact<boolean>;
  /** Address of the Service kube-dns. */
  serviceAddress: Fact<string>;
}

const METADATA_ADDRESS = '169.254.169.254';

export function dnsOf(readings: PlatformReadings, distribution: Fact<string>): Dns {
  const {daemonSets, kubeletDns, dnsService} = readings;
  const isGke = knownValue(distribution) === 'gke';
  const usesMetadataAddress = follow(distribution, (): Fact<boolean> => {
    if (!isGke) return known(false, 'only Cloud DNS for GKE uses this address');
    return mapped(kubeletDns, (servers) => servers.includes(METADATA_ADDRESS));
  });
  return {
    provider: isGke ? providerOnGke(readings) : providerElsewhere(readings),
    hasNodeCache: follow(daemonSets, (all) =>
      known(
        all.some(({metadata}) => metadata.name === 'node-local-dns'),
        'DaemonSet node-local-dns',
      ),
    ),
    usesMetadataAddress,
    serviceAddress: follow(dnsService, (service, source): Fact<string> => {
      const address = service?.spec?.clusterIP;
      return address && address !== 'None' ? known(address, source) : unknown('undetermined', 'no Service kube-dns with an address found');
    }),
  };
}

/** kube-dns keeps running next to Cloud DNS, so only its absence proves something. */
function providerOnGke({kubeDns, kubeletDns, dnsService}: PlatformReadings): Fact<string> {
  return follow(kubeDns, (deployment, source): Fact<string> => {
    if (deployment === undefined || deployment.spec?.replicas === 0) return known('cloud-dns', `${source}, not running`);
    return follow(kubeletDns, (servers, from): Fact<string> => {
      if (servers.includes(METADATA_ADDRESS)) return known('cloud-dns', from);
      if (servers.includes(knownValue(dnsService)?.spec?.clusterIP ?? '')) return known('kube-dns', from);
      return unknown('undetermined', 'pods use a DNS cache on their node, whose upstream server cannot be detected');
    });
  });
}

function providerElsewhere({daemonSets, coreDns, kubeDns}: PlatformReadings): Fact<string> {
  const none = unknown('undetermined', 'no known DNS server found');
  return firstKnown<string>(
    follow(coreDns, (found, source) => (found ? known('coredns', source) : none)),
    follow(kubeDns, (found, source) => (found ? known('kube-dns', source) : none)),
    follow(daemonSets, (all) => (all.some(isOfOpenshift) ? known('openshift-dns', 'DaemonSet openshift-dns/dns-default') : none)),
  );
}

const isOfOpenshift = ({metadata}: PodOwner): boolean => metadata.namespace === 'openshift-dns' && metadata.name === 'dns-default';
