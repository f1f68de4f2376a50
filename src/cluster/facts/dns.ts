import {type Fact, firstKnown, follow, known, knownValue, unknown} from './fact.ts';
import type {PodOwner, Readings} from './readings.ts';

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
      return address && address !== 'None'
        ? known(address, source)
        : unknown('undetermined', 'there is no Service kube-dns with an address');
    }),
  };
}

/** kube-dns goes on running beside Cloud DNS, so that it runs proves nothing; that it does not run does. */
function providerOnGke({kubeDns, kubeletDns, dnsService}: Readings): Fact<string> {
  return follow(kubeDns, (deployment, source): Fact<string> => {
    if (deployment === undefined || deployment.spec?.replicas === 0) return known('cloud-dns', `${source}, which does not run`);
    return follow(kubeletDns, (servers, asked): Fact<string> => {
      if (servers.includes(METADATA_ADDRESS)) return known('cloud-dns', asked);
      if (servers.includes(knownValue(dnsService)?.spec?.clusterIP ?? '')) return known('kube-dns', asked);
      return unknown('undetermined', 'pods ask a cache on their node, and it does not show whom that asks');
    });
  });
}

function providerElsewhere({daemonSets, coreDns, kubeDns}: Readings): Fact<string> {
  const none = unknown('undetermined', 'no DNS server that is known here');
  return firstKnown<string>(
    follow(coreDns, (found, source) => (found ? known('coredns', source) : none)),
    follow(kubeDns, (found, source) => (found ? known('kube-dns', source) : none)),
    follow(daemonSets, (all) => (all.some(isOfOpenshift) ? known('openshift-dns', 'DaemonSet openshift-dns/dns-default') : none)),
  );
}

const isOfOpenshift = ({metadata}: PodOwner): boolean => metadata.namespace === 'openshift-dns' && metadata.name === 'dns-default';
