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

interface EndpointOptions {
  when?(scope: EndpointScope): boolean;
  protocol?: Endpoint['protocol'];
  isOptional?: boolean | ((scope: EndpointScope) => boolean);
}

interface EndpointRow extends EndpointOptions {
  purpose: EndpointPurpose;
  from: EndpointOrigin | ((scope: EndpointScope) => EndpointOrigin);
  usage: string;
  /** host[:port], by default port 443. */
  hosts(scope: EndpointScope): readonly string[];
}

const executesRuns = ({get}: EndpointScope): boolean => get(purpose) !== 'vcs';
const puller = (scope: EndpointScope): EndpointOrigin => (isInCluster(scope) ? 'nodes' : 'docker');
const pullsFromHub = (scope: EndpointScope): boolean => registriesOf(scope).has(DOCKER_HUB);

const to = (
  about: EndpointPurpose,
  from: EndpointRow['from'],
  usage: string,
  {hosts, ...options}: EndpointOptions & {hosts: readonly string[] | EndpointRow['hosts']},
): EndpointRow => ({...options, purpose: about, from, usage, hosts: typeof hosts === 'function' ? hosts : () => hosts});

/**
 * Every endpoint. Sources: README of agent-job and agent-local 0.6.5, "Network Requirements" and "Security"; Docker's allowlist
 * (https://docs.docker.com/desktop/setup/allow-list/); addresses of the registries' own downloads.
 */
const ROWS: readonly EndpointRow[] = [
  to('scalr', 'agent', 'Scalr API: tasks, status and logs', {hosts: (scope) => [accountOf(scope)]}),
  to('scalr', 'agent', 'Scalr relay: messages about new tasks and cancellations', {hosts: (scope) => [`relay.${accountOf(scope)}`]}),
  to('tools', 'agent', 'OpenTofu and Terraform binaries, configuration versions, private modules', {
    hosts: [`*.${SCALR_DOMAIN}`],
    isOptional: (scope) => !isAtScalr(scope),
  }),
  to('state', 'runs', 'state of workspaces', {when: executesRuns, hosts: (scope) => [accountOf(scope)]}),
  to('tools', 'runs', 'entrypoint of runs', {
    when: ({chart}) => chart?.chart === 'agent-job' && within(chart.version, '0.5.67 - 0.5.68'),
    hosts: ['storage.googleapis.com'],
  }),
  to('providers', 'runs', 'provider network mirror', {when: executesRuns, hosts: mirrorsOf}),
  to('providers', 'runs', 'providers and modules of the public registries', {
    when: executesRuns,
    hosts: ['registry.opentofu.org', 'registry.terraform.io'],
    isOptional: (scope) => mirrorsOf(scope).length > 0,
  }),
  to('providers', 'runs', 'downloads of the public registries', {
    when: executesRuns,
    hosts: DOWNLOAD_HOSTS,
    isOptional: (scope) => mirrorsOf(scope).length > 0,
  }),
  to('vcs', ({get}) => (get(purpose) === 'vcs' ? 'agent' : 'runs'), 'VCS server, or another host of --probe-url', {
    hosts: ({urls = []}) => urls.flatMap((each) => hostPortOf(each) ?? []),
  }),
  to('telemetry', 'agent', 'OpenTelemetry collector (OTLP over gRPC)', {
    hosts: ({get}) => [hostPortOf(get(otelEndpoint))].filter((each) => each !== undefined),
    isOptional: true,
  }),
  to('identity', 'runs', 'cloud credentials of runs', {
    when: executesRuns,
    hosts: ({get}) => IDENTITY_HOSTS[get(workloadIdentity) ?? 'none'] ?? [],
  }),
  to('metadata', 'runs', 'metadata service with the cloud credentials of the node', {
    when: (scope) => executesRuns(scope) && (scope.get(metadataService) !== 'block' || scope.get(workloadIdentity) === 'gke'),
    hosts: ({get}) => (get(workloadIdentity) === 'gke' ? GKE_METADATA_ADDRESSES : [METADATA_ADDRESS]),
    isOptional: ({get}) => get(workloadIdentity) !== 'gke',
  }),
  to('proxy', 'agent', 'HTTP proxy, through which other hosts are reached', {
    hosts: ({get}) => [...new Set([get(httpsProxy), get(httpProxy)].flatMap((each) => hostPortOf(each) ?? []))],
  }),
  ...(['UDP', 'TCP'] as const).map((protocol): EndpointRow => to('dns', 'agent', 'DNS', {hosts: dnsHosts, protocol})),
  to('kubernetes-api', 'agent', 'Kubernetes API; 6443 is the usual port behind the Service', {
    when: (scope) => isInCluster(scope) && scope.chart?.chart !== 'agent-local',
    hosts: ['kubernetes.default.svc:443', 'kubernetes.default.svc:6443'],
  }),
  to('images', puller, 'images in a registry of your own', {
    hosts: (scope) => [...registriesOf(scope)].filter((each) => each !== DOCKER_HUB).flatMap((each) => hostPortOf(each) ?? []),
  }),
  to('images', puller, 'Docker Hub: manifests and tokens', {when: pullsFromHub, hosts: ['registry-1.docker.io', 'auth.docker.io']}),
  to('images', puller, 'Docker Hub: image layers', {
    when: pullsFromHub,
    hosts: [
      'production.cloudflare.docker.com',
      'production.cloudfront.docker.com',
      'docker-images-prod.6aa30f8b08e16409b46e0173d6de2f56.r2.cloudflarestorage.com',
    ],
  }),
  to('images', puller, 'Docker Hub: wildcards of the Scalr docs, which include future hosts', {
    when: pullsFromHub,
    hosts: ['*.docker.io', '*.docker.com', '*.cloudfront.net'],
    isOptional: true,
  }),
  to('storage', 'nodes', 'cache on Amazon EFS (NFS)', {
    when: isInCluster,
    hosts: ({get}) => [/^fs-\w+/.exec(get(efsHandle) ?? '')?.[0]].flatMap((each) => (each ? [`${each}.efs.*.amazonaws.com:2049`] : [])),
  }),
  to('chart', 'installer', 'chart', {when: isInCluster, hosts: chartHosts}),
  to('kubernetes-api', 'installer', 'Kubernetes API, for helm and kubectl', {when: isInCluster, hosts: ['<API server>']}),
  to('telemetry', 'agent', 'error reports (Sentry)', {
    hosts: ({chart, get}) =>
      [textAt(chart?.values ?? {}, 'agent.sentryDsn'), get(extraEnv)?.['SCALR_AGENT_SENTRY_DSN']].flatMap((each) => hostPortOf(each) ?? []),
    isOptional: true,
  }),
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
