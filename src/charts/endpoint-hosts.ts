import {isMap, itemsAt, textAt, type Values} from '../ground/tree.ts';
import {namesRegistry} from '../settings/addresses.ts';
import {url} from '../settings/agent.ts';
import type {Get} from '../settings/define.ts';
import {extraEnv} from '../settings/escape-hatch.ts';
import {providerMirror} from '../settings/network.ts';
import {agentImage, imageRegistry, runnerImage} from '../settings/pods.ts';
import {isolation, purpose} from '../settings/purpose.ts';
import {chartSource, cloud, type TargetName} from '../settings/release.ts';
import type {Target} from './define.ts';
import {imagesOf, selectsImagesOfRuns} from './images.ts';
import {parsedList} from './row-kinds.ts';

/** The agent whose endpoints are wanted. */
export interface EndpointScope {
  target: TargetName;
  /** Effective settings. */
  get: Get;
  /** The chart and its values, which are merged over the chart defaults; absent outside Kubernetes. */
  chart?: Target & {values: Values};
  /** Further URLs, such as that of a VCS server. */
  urls?: readonly string[];
}

export const isInCluster = ({target}: EndpointScope): boolean => target === 'kubernetes';
export const SCALR_DOMAIN = 'scalr.io';
export const accountOf = ({get}: EndpointScope): string => hostPortOf(get(url)) ?? `*.${SCALR_DOMAIN}`;
export const isAtScalr = (scope: EndpointScope): boolean =>
  new RegExp(`\\.${SCALR_DOMAIN.replace('.', '\\.')}(:\\d+)?$`).test(accountOf(scope));

/** host[:port] of a URL, an image registry or host:port. */
export function hostPortOf(text: string | undefined): string | undefined {
  const spelled = text !== undefined && /^[a-z]+:\/\//i.test(text) ? text : `https://${text}`;
  if (!text || !URL.canParse(spelled)) return undefined;
  const {host, protocol} = new URL(spelled);
  return protocol === 'http:' && !/:\d+$/.test(host) ? `${host}:80` : host;
}

/** URLs of `agent.providerNetworkMirrors`, or of the variable that the key becomes (agent-job 0.6.5, README). */
export function mirrorsOf({chart, get}: EndpointScope): string[] {
  const listed =
    chart === undefined ? (get(providerMirror) ?? []).map((each) => ({url: each})) : itemsAt(chart.values, 'agent.providerNetworkMirrors');
  const ofVariable = parsedList(get(extraEnv)?.['SCALR_AGENT_PROVIDER_NETWORK_MIRRORS']);
  return [...listed, ...ofVariable].flatMap((each) => hostPortOf(isMap(each) ? textAt(each, 'url') : undefined) ?? []);
}

export const DOCKER_HUB = 'docker.io';

/** Registries of all images that are known; runs of agent-k8s and Docker select theirs by tool and version. */
export function registriesOf({target, chart, get}: EndpointScope): Set<string> {
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
  return new Set(references.map((each) => (namesRegistry(each) ? (each.split('/')[0] as string) : DOCKER_HUB)));
}

/** Ports of the metadata server of GKE, without and with Dataplane V2: https://cloud.google.com/kubernetes-engine/docs/how-to/network-policy */
export const GKE_METADATA_ADDRESSES = ['169.254.169.254:80', '169.254.169.254:8080', '169.254.169.252:987', '169.254.169.252:988'];
export const METADATA_ADDRESS = '169.254.169.254:80';

/** Hosts of each workload identity, besides the metadata service. */
export const IDENTITY_HOSTS: Readonly<Record<string, readonly string[]>> = {
  gke: ['sts.googleapis.com', 'iamcredentials.googleapis.com'],
  irsa: ['sts.*.amazonaws.com'],
  'eks-pod-identity': ['169.254.170.23:80'],
  azure: ['login.microsoftonline.com'],
};

/** Pods of OpenShift's DNS listen on another port than its Service. */
const DNS_SERVICE = 'kube-dns.kube-system.svc:53';
const OPENSHIFT_DNS = ['dns-default.openshift-dns.svc:53', 'dns-default.openshift-dns.svc:5353'];

export function dnsHosts(scope: EndpointScope): readonly string[] {
  if (!isInCluster(scope)) return ['<DNS server>:53'];
  return scope.get(cloud) === 'openshift' ? OPENSHIFT_DNS : [DNS_SERVICE];
}

/** Where the downloads of the public registries and of GitHub releases are. */
export const DOWNLOAD_HOSTS = [
  'github.com',
  'release-assets.githubusercontent.com',
  'objects.githubusercontent.com',
  'releases.hashicorp.com',
];

/** Hosts of the chart: an OCI registry, the public repository with its releases on GitHub, or none for a file. */
export function chartHosts({get}: EndpointScope): readonly string[] {
  const source = get(chartSource);
  if (source === undefined) return ['scalr.github.io', ...DOWNLOAD_HOSTS.slice(0, 3)];
  return [hostPortOf(/^(oci|https?):\/\//.exec(source) ? source.replace(/^oci:/, 'https:') : undefined)].filter(
    (each) => each !== undefined,
  );
}
