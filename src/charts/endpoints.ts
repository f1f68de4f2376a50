import {textAt} from '../ground/tree.ts';
import {otelEndpoint} from '../settings/agent.ts';
import {extraEnv} from '../settings/escape-hatch.ts';
import {httpProxy, httpsProxy, metadataService, workloadIdentity} from '../settings/network.ts';
import {purpose} from '../settings/purpose.ts';
import {efsHandle} from '../settings/storage.ts';
import {
  accountOf,
  chartHosts,
  DOCKER_HUB,
  DOWNLOAD_HOSTS,
  dnsHosts,
  type EndpointScope,
  GKE_METADATA_ADDRESSES,
  hostPortOf,
  IDENTITY_HOSTS,
  isAtScalr,
  isInCluster,
  METADATA_ADDRESS,
  mirrorsOf,
  registriesOf,
  SCALR_DOMAIN,
} from './endpoint-hosts.ts';
import {within} from './releases.ts';

export type EndpointPurpose =
  | ('scalr' | 'tools' | 'state' | 'providers' | 'vcs' | 'telemetry' | 'identity' | 'metadata')
  | ('proxy' | 'dns' | 'kubernetes-api' | 'images' | 'storage' | 'chart');

/** Who connects: the agent, its runs, the nodes, the Docker daemon, or the machine that installs. */
export type EndpointOrigin = 'agent' | 'runs' | 'nodes' | 'docker' | 'installer';

/** A host and port that must be reachable. */
export interface Endpoint {
  /** A name, an IP address, a pattern in which each * stands for one or more labels, or a <placeholder> for what only the network knows. */
  host: string;
  port: number;
  protocol: 'TCP' | 'UDP';
  purpose: EndpointPurpose;
  from: EndpointOrigin;
  /** False for alternatives, and for what runs work without. */
  required: boolean;
  /** What is transferred. */
  usage: string;
}

interface EndpointRow {
  purpose: EndpointPurpose;
  from: EndpointOrigin | ((scope: EndpointScope) => EndpointOrigin);
  usage: string;
  when?(scope: EndpointScope): boolean;
  /** host[:port], by default port 443. */
  hosts(scope: EndpointScope): readonly string[];
  protocol?: Endpoint['protocol'];
  isOptional?: boolean | ((scope: EndpointScope) => boolean);
}

const executesRuns = ({get}: EndpointScope): boolean => get(purpose) !== 'vcs';
const puller = (scope: EndpointScope): EndpointOrigin => (isInCluster(scope) ? 'nodes' : 'docker');
const pullsFromHub = (scope: EndpointScope): boolean => registriesOf(scope).has(DOCKER_HUB);

const always =
  (...hosts: readonly string[]) =>
  (): readonly string[] =>
    hosts;

/**
 * Every endpoint. Sources: README of agent-job and agent-local 0.6.5, "Network Requirements" and "Security"; Docker's allowlist
 * (https://docs.docker.com/desktop/setup/allow-list/); addresses of the registries' own downloads.
 */
const ROWS: readonly EndpointRow[] = [
  {purpose: 'scalr', from: 'agent', usage: 'Scalr API: tasks, status and logs', hosts: (scope) => [accountOf(scope)]},
  {
    purpose: 'scalr',
    from: 'agent',
    usage: 'Scalr relay: messages about new tasks and cancellations',
    hosts: (scope) => [`relay.${accountOf(scope)}`],
  },
  {
    purpose: 'tools',
    from: 'agent',
    usage: 'OpenTofu and Terraform binaries, configuration versions, private modules',
    hosts: always(`*.${SCALR_DOMAIN}`),
    isOptional: (scope) => !isAtScalr(scope),
  },
  {purpose: 'state', from: 'runs', usage: 'state of workspaces', when: executesRuns, hosts: (scope) => [accountOf(scope)]},
  {
    purpose: 'tools',
    from: 'runs',
    usage: 'entrypoint of runs',
    when: ({chart}) => chart?.chart === 'agent-job' && within(chart.version, '0.5.67 - 0.5.68'),
    hosts: always('storage.googleapis.com'),
  },
  {purpose: 'providers', from: 'runs', usage: 'provider network mirror', when: executesRuns, hosts: mirrorsOf},
  {
    purpose: 'providers',
    from: 'runs',
    usage: 'providers and modules of the public registries',
    when: executesRuns,
    hosts: always('registry.opentofu.org', 'registry.terraform.io'),
    isOptional: (scope) => mirrorsOf(scope).length > 0,
  },
  {
    purpose: 'providers',
    from: 'runs',
    usage: 'downloads of the public registries',
    when: executesRuns,
    hosts: always(...DOWNLOAD_HOSTS),
    isOptional: (scope) => mirrorsOf(scope).length > 0,
  },
  {
    purpose: 'vcs',
    from: ({get}) => (get(purpose) === 'vcs' ? 'agent' : 'runs'),
    usage: 'VCS server, or another host of --probe-url',
    hosts: ({urls = []}) => urls.flatMap((each) => hostPortOf(each) ?? []),
  },
  {
    purpose: 'telemetry',
    from: 'agent',
    usage: 'OpenTelemetry collector (OTLP over gRPC)',
    hosts: ({get}) => [hostPortOf(get(otelEndpoint))].filter((each) => each !== undefined),
    isOptional: true,
  },
  {
    purpose: 'identity',
    from: 'runs',
    usage: 'cloud credentials of runs',
    when: executesRuns,
    hosts: ({get}) => IDENTITY_HOSTS[get(workloadIdentity) ?? 'none'] ?? [],
  },
  {
    purpose: 'metadata',
    from: 'runs',
    usage: 'metadata service with the cloud credentials of the node',
    when: (scope) => executesRuns(scope) && (scope.get(metadataService) !== 'block' || scope.get(workloadIdentity) === 'gke'),
    hosts: ({get}) => (get(workloadIdentity) === 'gke' ? GKE_METADATA_ADDRESSES : [METADATA_ADDRESS]),
    isOptional: ({get}) => get(workloadIdentity) !== 'gke',
  },
  {
    purpose: 'proxy',
    from: 'agent',
    usage: 'HTTP proxy, through which other hosts are reached',
    hosts: ({get}) => [...new Set([get(httpsProxy), get(httpProxy)].flatMap((each) => hostPortOf(each) ?? []))],
  },
  ...(['UDP', 'TCP'] as const).map((protocol): EndpointRow => ({purpose: 'dns', from: 'agent', usage: 'DNS', hosts: dnsHosts, protocol})),
  {
    purpose: 'kubernetes-api',
    from: 'agent',
    usage: 'Kubernetes API; 6443 is the usual port behind the Service',
    when: (scope) => isInCluster(scope) && scope.chart?.chart !== 'agent-local',
    hosts: always('kubernetes.default.svc:443', 'kubernetes.default.svc:6443'),
  },
  {
    purpose: 'images',
    from: puller,
    usage: 'images in a registry of your own',
    hosts: (scope) => [...registriesOf(scope)].filter((each) => each !== DOCKER_HUB).flatMap((each) => hostPortOf(each) ?? []),
  },
  {
    purpose: 'images',
    from: puller,
    usage: 'Docker Hub: manifests and tokens',
    when: pullsFromHub,
    hosts: always('registry-1.docker.io', 'auth.docker.io'),
  },
  {
    purpose: 'images',
    from: puller,
    usage: 'Docker Hub: image layers',
    when: pullsFromHub,
    hosts: always(
      'production.cloudflare.docker.com',
      'production.cloudfront.docker.com',
      'docker-images-prod.6aa30f8b08e16409b46e0173d6de2f56.r2.cloudflarestorage.com',
    ),
  },
  {
    purpose: 'images',
    from: puller,
    usage: 'Docker Hub: wildcards of the Scalr docs, which include future hosts',
    when: pullsFromHub,
    hosts: always('*.docker.io', '*.docker.com', '*.cloudfront.net'),
    isOptional: true,
  },
  {
    purpose: 'storage',
    from: 'nodes',
    usage: 'cache on Amazon EFS (NFS)',
    when: isInCluster,
    hosts: ({get}) => [/^fs-\w+/.exec(get(efsHandle) ?? '')?.[0]].flatMap((each) => (each ? [`${each}.efs.*.amazonaws.com:2049`] : [])),
  },
  {purpose: 'chart', from: 'installer', usage: 'chart', when: isInCluster, hosts: chartHosts},
  {
    purpose: 'kubernetes-api',
    from: 'installer',
    usage: 'Kubernetes API, for helm and kubectl',
    when: isInCluster,
    hosts: always('<API server>'),
  },
  {
    purpose: 'telemetry',
    from: 'agent',
    usage: 'error reports (Sentry)',
    hosts: ({chart, get}) =>
      [textAt(chart?.values ?? {}, 'agent.sentryDsn'), get(extraEnv)?.['SCALR_AGENT_SENTRY_DSN']].flatMap((each) => hostPortOf(each) ?? []),
    isOptional: true,
  },
];

/** Every host and port of an agent, in the order of the table. Pure. */
export const endpointsOf = (scope: EndpointScope): Endpoint[] =>
  ROWS.filter(({when}) => when?.(scope) ?? true).flatMap(({purpose: of, from, usage, hosts, protocol = 'TCP', isOptional = false}) =>
    hosts(scope).map((each) => ({
      ...splitPort(each),
      protocol,
      purpose: of,
      from: typeof from === 'function' ? from(scope) : from,
      required: !(typeof isOptional === 'function' ? isOptional(scope) : isOptional),
      usage,
    })),
  );

function splitPort(text: string): Pick<Endpoint, 'host' | 'port'> {
  const [, host = text, port = '443'] = /^(.*?)(?::(\d+))?$/.exec(text) ?? [];
  return {host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port)};
}

/** Inside the cluster, the machine or their network, where neither a proxy nor a firewall for the internet is in the way. */
export const isInside = ({host, purpose: of}: Pick<Endpoint, 'host' | 'purpose'>): boolean =>
  /^<|\.svc(\.|$)|^169\.254\.|^localhost$|^127\./.test(host) || !/[.:]/.test(host) || of === 'proxy' || of === 'storage';

/** Stands for several hosts, or for one that is not known here. */
export const isPattern = ({host}: Pick<Endpoint, 'host'>): boolean => /[*<]/.test(host);
