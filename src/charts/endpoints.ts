import {isMap, itemsAt, textAt, type Values} from '../ground/tree.ts';
import {url} from '../settings/agent.ts';
import {efsHandle} from '../settings/cache.ts';
import {extraEnv} from '../settings/chart-values.ts';
import {cloud} from '../settings/cluster.ts';
import type {Get} from '../settings/define.ts';
import {agentImage, imageRegistry, runnerImage} from '../settings/images.ts';
import {namesRegistry} from '../settings/kinds/images.ts';
import {
  httpProxy,
  httpsProxy,
  metadataService,
  providerMirror,
  workloadIdentity,
} from '../settings/network.ts';
import {otelEndpoint} from '../settings/observability.ts';
import {isolation, purpose} from '../settings/purpose.ts';
import {chartSource, type TargetName} from '../settings/release.ts';
import {ENTRYPOINT_DOWNLOAD} from './agent-job/ranges.ts';
import {imagesOf, selectsImagesOfRuns} from './images.ts';
import type {Target} from './releases/target.ts';
import {within} from './releases/versions.ts';
import {parsedList} from './shared/codecs.ts';

/** The agent whose endpoints are desired. */
export interface EndpointScope {
  target: TargetName;
  /** Effective settings. */
  get: Get;
  /** The chart and its values, which are merged over the chart defaults; absent outside Kubernetes. */
  chart?: Target & {values: Values};
  /** Further URLs, such as that of a VCS server. */
  urls?: readonly string[];
}

const isInCluster = ({target}: EndpointScope): boolean => target === 'kubernetes';
const SCALR_DOMAIN = 'scalr.io';
const accountOf = ({get}: EndpointScope): string => hostPortOf(get(url)) ?? `*.${SCALR_DOMAIN}`;
const isAtScalr = (scope: EndpointScope): boolean =>
  new RegExp(`\\.${SCALR_DOMAIN.replace('.', '\\.')}(:\\d+)?$`).test(accountOf(scope));

/** host[:port] of a URL, an image registry or host:port. */
function hostPortOf(text: string | undefined): string | undefined {
  const spelled = text !== undefined && /^[a-z]+:\/\//i.test(text) ? text : `https://${text}`;
  if (!text || !URL.canParse(spelled)) return undefined;
  const {host, protocol} = new URL(spelled);
  return protocol === 'http:' && !/:\d+$/.test(host) ? `${host}:80` : host;
}

/** URLs of `agent.providerNetworkMirrors`, or of the variable that the key becomes (agent-job 0.6.5, README). */
function mirrorsOf({chart, get}: EndpointScope): string[] {
  const listed =
    chart === undefined
      ? (get(providerMirror) ?? []).map((each) => ({url: each}))
      : itemsAt(chart.values, 'agent.providerNetworkMirrors');
  const ofVariable = parsedList(get(extraEnv)?.['SCALR_AGENT_PROVIDER_NETWORK_MIRRORS']);
  return [...listed, ...ofVariable].flatMap(
    (each) => hostPortOf(isMap(each) ? textAt(each, 'url') : undefined) ?? [],
  );
}

const DOCKER_HUB = 'docker.io';

/** Registries of all images that are known; runs of agent-k8s and Docker select theirs by tool and version. */
function registriesOf({target, chart, get}: EndpointScope): Set<string> {
  const prefix = get(imageRegistry);
  const own = (reference: string) => (prefix === undefined ? reference : `${prefix}/${reference}`);
  const startsContainers = get(purpose) !== 'vcs' && get(isolation) !== 'shared';
  const references =
    chart === undefined
      ? [
          // The Linux packages contain the agent.
          ...(target === 'docker' ? [own(get(agentImage) ?? 'scalr/agent')] : []),
          ...(startsContainers ? [own(get(runnerImage) ?? 'scalr/terraform')] : []),
        ]
      : [
          ...imagesOf(chart.values, chart, 'latest').map(({rendered}) => rendered),
          ...(selectsImagesOfRuns(chart.values, chart) ? [own('scalr/terraform')] : []),
        ];
  return new Set(
    references.map((each) => (namesRegistry(each) ? (each.split('/')[0] as string) : DOCKER_HUB)),
  );
}

/** Ports of the metadata server of GKE, without and with Dataplane V2: https://cloud.google.com/kubernetes-engine/docs/how-to/network-policy */
const GKE_METADATA_ADDRESSES = [
  '169.254.169.254:80',
  '169.254.169.254:8080',
  '169.254.169.252:987',
  '169.254.169.252:988',
];

const METADATA_ADDRESS = '169.254.169.254:80';

/** Hosts of each workload identity, besides the metadata service. */
const IDENTITY_HOSTS: Readonly<Record<string, readonly string[]>> = {
  gke: ['sts.googleapis.com', 'iamcredentials.googleapis.com'],
  irsa: ['sts.*.amazonaws.com'],
  'eks-pod-identity': ['169.254.170.23:80'],
  azure: ['login.microsoftonline.com'],
};

/** Pods of OpenShift's DNS listen on another port than its Service. */
const DNS_SERVICE = 'kube-dns.kube-system.svc:53';
const OPENSHIFT_DNS = ['dns-default.openshift-dns.svc:53', 'dns-default.openshift-dns.svc:5353'];

function dnsHosts(scope: EndpointScope): readonly string[] {
  if (!isInCluster(scope)) return ['<DNS server>:53'];
  return scope.get(cloud) === 'openshift' ? OPENSHIFT_DNS : [DNS_SERVICE];
}

/** Where the downloads of the public registries and of GitHub releases are. */
const DOWNLOAD_HOSTS = [
  'github.com',
  'release-assets.githubusercontent.com',
  'objects.githubusercontent.com',
  'releases.hashicorp.com',
];

/** Hosts of the chart: an OCI registry, the public repository with its releases on GitHub, or none for a file. */
function chartHosts({get}: EndpointScope): readonly string[] {
  const source = get(chartSource);
  if (source === undefined) return ['scalr.github.io', ...DOWNLOAD_HOSTS.slice(0, 3)];
  return [
    hostPortOf(/^(oci|https?):\/\//.exec(source) ? source.replace(/^oci:/, 'https:') : undefined),
  ].filter((each) => each !== undefined);
}

type EndpointPurpose =
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
): EndpointRow => ({
  ...options,
  purpose: about,
  from,
  usage,
  hosts: typeof hosts === 'function' ? hosts : () => hosts,
});

/**
 * Every endpoint. Sources: README of agent-job and agent-local 0.6.5, "Network Requirements" and "Security"; Docker's allowlist
 * (https://docs.docker.com/desktop/setup/allow-list/); addresses of the registries' own downloads.
 */
const ROWS: readonly EndpointRow[] = [
  to('scalr', 'agent', 'Scalr API: tasks, status and logs', {hosts: (scope) => [accountOf(scope)]}),
  to('scalr', 'agent', 'Scalr relay: messages about new tasks and cancellations', {
    hosts: (scope) => [`relay.${accountOf(scope)}`],
  }),
  to('tools', 'agent', 'OpenTofu and Terraform binaries, configuration versions, private modules', {
    when: executesRuns,
    hosts: [`*.${SCALR_DOMAIN}`],
    isOptional: (scope) => !isAtScalr(scope),
  }),
  to('scalr', 'agent', 'wildcard of the chart README, which includes future hosts', {
    when: (scope) => !executesRuns(scope),
    hosts: [`*.${SCALR_DOMAIN}`],
    isOptional: true,
  }),
  to('state', 'runs', 'state of workspaces', {
    when: executesRuns,
    hosts: (scope) => [accountOf(scope)],
  }),
  to('tools', 'runs', 'entrypoint of runs', {
    when: ({chart}) => chart?.chart === 'agent-job' && within(chart.version, ENTRYPOINT_DOWNLOAD),
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
  to(
    'vcs',
    ({get}) => (get(purpose) === 'vcs' ? 'agent' : 'runs'),
    'VCS server, or another host of --probe-url',
    {
      hosts: ({urls = []}) => urls.flatMap((each) => hostPortOf(each) ?? []),
    },
  ),
  to('telemetry', 'agent', 'OpenTelemetry collector (OTLP over gRPC)', {
    hosts: ({get}) => [hostPortOf(get(otelEndpoint))].filter((each) => each !== undefined),
    isOptional: true,
  }),
  to('identity', 'runs', 'cloud credentials of runs', {
    when: executesRuns,
    hosts: ({get}) => IDENTITY_HOSTS[get(workloadIdentity) ?? 'none'] ?? [],
  }),
  to('metadata', 'runs', 'metadata service with the cloud credentials of the node', {
    when: (scope) =>
      executesRuns(scope) &&
      (scope.get(metadataService) !== 'block' || scope.get(workloadIdentity) === 'gke'),
    hosts: ({get}) =>
      get(workloadIdentity) === 'gke' ? GKE_METADATA_ADDRESSES : [METADATA_ADDRESS],
    isOptional: ({get}) => get(workloadIdentity) !== 'gke',
  }),
  to('proxy', 'agent', 'HTTP proxy, through which other hosts are reached', {
    hosts: ({get}) => [
      ...new Set([get(httpsProxy), get(httpProxy)].flatMap((each) => hostPortOf(each) ?? [])),
    ],
  }),
  ...(['UDP', 'TCP'] as const).map(
    (protocol): EndpointRow => to('dns', 'agent', 'DNS', {hosts: dnsHosts, protocol}),
  ),
  to('kubernetes-api', 'agent', 'Kubernetes API; 6443 is the usual port behind the Service', {
    when: (scope) => isInCluster(scope) && scope.chart?.chart !== 'agent-local',
    hosts: ['kubernetes.default.svc:443', 'kubernetes.default.svc:6443'],
  }),
  to('images', puller, 'images in a registry of your own', {
    hosts: (scope) =>
      [...registriesOf(scope)]
        .filter((each) => each !== DOCKER_HUB)
        .flatMap((each) => hostPortOf(each) ?? []),
  }),
  to('images', puller, 'Docker Hub: manifests and tokens', {
    when: pullsFromHub,
    hosts: ['registry-1.docker.io', 'auth.docker.io'],
  }),
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
    hosts: ({get}) =>
      [/^fs-\w+/.exec(get(efsHandle) ?? '')?.[0]].flatMap((each) =>
        each ? [`${each}.efs.*.amazonaws.com:2049`] : [],
      ),
  }),
  to('chart', 'installer', 'chart', {when: isInCluster, hosts: chartHosts}),
  to('kubernetes-api', 'installer', 'Kubernetes API, for helm and kubectl', {
    when: isInCluster,
    hosts: ['<API server>'],
  }),
  to('telemetry', 'agent', 'error reports (Sentry)', {
    hosts: ({chart, get}) =>
      [
        textAt(chart?.values ?? {}, 'agent.sentryDsn'),
        get(extraEnv)?.['SCALR_AGENT_SENTRY_DSN'],
      ].flatMap((each) => hostPortOf(each) ?? []),
    isOptional: true,
  }),
];

/** Every host and port of an agent, in the order of the table. Pure. */
export const endpointsOf = (scope: EndpointScope): Endpoint[] =>
  ROWS.filter(({when}) => when?.(scope) ?? true).flatMap(
    ({purpose: of, from, usage, hosts, protocol = 'TCP', isOptional = false}) =>
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
  /^<|\.svc(\.|$)|^169\.254\.|^localhost$|^127\./.test(host) ||
  !/[.:]/.test(host) ||
  of === 'proxy' ||
  of === 'storage';

/** Stands for several hosts, or for one that is not known here. */
export const isPattern = ({host}: Pick<Endpoint, 'host'>): boolean => /[*<]/.test(host);
