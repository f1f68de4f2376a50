import {type Fact, firstKnown, follow, isKnown, known, knownValue, unknown} from './fact.ts';
import type {Readings} from './readings.ts';

export interface Dns {
  /** cloud-dns, kube-dns, coredns or openshift-dns */
  provider: Fact<string>;
  /** NodeLocal DNSCache runs on the nodes. */
  hasNodeCache: Fact<boolean>;
  /** Pods ask 169.254.169.254, so what blocks the metadata service blocks DNS: https://github.com/tektoncd/operator/issues/4000 */
  usesMetadataAddress: Fact<boolean>;
  /** Address of the Service kube-dns. */
  serviceAddress: Fact<string>;
}

const METADATA_ADDRESS = '169.254.169.254';

export function dnsOf(readings: Readings, distribution: Fact<string>): Dns {
  const {daemonSets, kubeletDns, dnsService} = readings;
  const isGke = knownValue(distribution) === 'gke';
  const usesMetadataAddress = follow(distribution, (): Fact<boolean> => {
    if (!isGke) return known(false, 'only Cloud DNS for GKE answers at this address');
    return follow(kubeletDns, (servers, source) => known(servers.includes(METADATA_ADDRESS), source));
  });
  return {
    provider: isGke ? providerOnGke(readings, usesMetadataAddress) : providerElsewhere(readings),
    hasNodeCache: follow(daemonSets, (all) =>
      known(
        all.some(({metadata}) => metadata.name === 'node-local-dns'),
        'DaemonSet node-local-dns',
      ),
    ),
    usesMetadataAddress,
    serviceAddress: follow(dnsService, (service, source): Fact<string> => {
      const address = service?.spec?.clusterIP;
      return address && address !== 'None'
        ? known(address, source)
        : unknown('undetermined', 'there is no Service kube-dns with an address');
    }),
  };
}

/** kube-dns goes on running beside Cloud DNS, so that it runs proves nothing; that it does not does. */
function providerOnGke({kubeDns}: Readings, usesMetadataAddress: Fact<boolean>): Fact<string> {
  if (knownValue(usesMetadataAddress) === true) return known('cloud-dns', (usesMetadataAddress as {source: string}).source);
  return follow(kubeDns, (deployment, source): Fact<string> => {
    if (deployment === undefined || deployment.spec?.replicas === 0) return known('cloud-dns', `no running ${source}`);
    return isKnown(usesMetadataAddress)
      ? unknown('undetermined', 'a cache on the node stands before either kube-dns or Cloud DNS')
      : unknown(
          'undetermined',
          'kube-dns runs, as it does beside Cloud DNS, and the kubelets could not be asked which of the two pods use',
        );
  });
}

function providerElsewhere({daemonSets, coreDns, kubeDns}: Readings): Fact<string> {
  const openshift = follow(daemonSets, (all): Fact<string> => {
    const has = all.some(({metadata}) => metadata.namespace === 'openshift-dns' && metadata.name === 'dns-default');
    return has
      ? known('openshift-dns', 'DaemonSet openshift-dns/dns-default')
      : unknown('undetermined', 'no DNS server that is known here');
  });
  const [core, kube] = (
    [
      ['coredns', coreDns],
      ['kube-dns', kubeDns],
    ] as const
  ).map(([name, deployment]) =>
    follow(
      deployment,
      (found, source): Fact<string> => (found ? known(name, source) : unknown('undetermined', 'no DNS server that is known here')),
    ),
  ) as [Fact<string>, Fact<string>];
  return firstKnown(core, kube, openshift);
}
