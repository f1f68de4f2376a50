import {changing} from '../ground/finding.ts';
import {cloud} from './cluster.ts';
import {defineSetting, type Get, type Setting} from './define.ts';
import {InvalidValue} from './kinds/kind.ts';
import {listOf} from './kinds/lists.ts';
import {noProxyList} from './kinds/no-proxy.ts';
import {choice, text} from './kinds/texts.ts';
import {hasCredentials, proxyUrl, proxyUrlOf} from './kinds/urls.ts';

/**
 * Hosts that must never use a proxy: the cluster itself and the endpoints of cloud credentials (169.254.170.23 is EKS Pod
 * Identity). The kubelet expands `$(KUBERNETES_SERVICE_HOST)` to the address of the API server, so the service network
 * need not be known.
 * https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/
 */
export const IN_CLUSTER = [
  'localhost',
  '127.0.0.1',
  '.svc',
  '.cluster.local',
  '169.254.169.254',
  '169.254.170.23',
  '$(KUBERNETES_SERVICE_HOST)',
];

const warnOfPort = (value: string): string | undefined =>
  new URL(value).port === ''
    ? `The proxy URL has no port, so port ${value.startsWith('https:') ? 443 : 80} is used.`
    : undefined;

const warnOfCredentials = (value: string): string | undefined =>
  hasCredentials(value)
    ? 'The proxy URL contains a user name or password. It is stored in clear text where the agent runs: values.yaml, Helm release and pods, or the environment of container and service. Prefer a proxy that trusts the node network.'
    : undefined;

export const httpProxy = defineSetting('Network', 'http-proxy', {
  variable: 'HTTP_PROXY',
  question: 'Proxy for http:// URLs',
  kind: proxyUrl('SCALR_AGENT_INSTALL_HTTP_PROXY'),
  meant: proxyUrlOf,
  explained: 'Used for http:// URLs only. Often the same proxy as for https:// URLs.',
  reference: 'https://docs.scalr.io/docs/agent-pools',
  caution: (value, get) =>
    warnOfCredentials(value) ??
    warnOfPort(value) ??
    (get(httpsProxy)
      ? undefined
      : 'Without an HTTPS proxy, HTTPS connections do not use the proxy, including connections to Scalr.'),
});

export const httpsProxy = defineSetting('Network', 'https-proxy', {
  variable: 'HTTPS_PROXY',
  question: 'Proxy for https:// URLs',
  summary: 'Proxy for https:// URLs, including Scalr.',
  kind: proxyUrl('SCALR_AGENT_INSTALL_HTTPS_PROXY'),
  meant: proxyUrlOf,
  explained:
    'Required to reach Scalr through the proxy, because Scalr uses HTTPS. Cluster-internal names never use the proxy.',
  reference: 'https://docs.scalr.io/docs/agent-pools',
  caution: (value) => warnOfCredentials(value) ?? warnOfPort(value),
});

const hasProxy = (get: Get): boolean => (get(httpProxy) ?? get(httpsProxy)) !== undefined;

export const noProxy = defineSetting('Network', 'no-proxy', {
  variable: 'NO_PROXY',
  question: 'Hosts and networks that bypass the proxy',
  summary: 'Hosts and networks that bypass the proxy; cluster-internal names are added.',
  kind: noProxyList(IN_CLUSTER),
  explained:
    'Comma-separated hosts and networks. Cluster-internal names are added automatically. Add the service and pod networks of the cluster.',
  reference: 'https://docs.scalr.io/docs/agent-pools',
  appliesWhen: {test: hasProxy, needs: '--https-proxy or --http-proxy'},
  fallback: () => [],
  caution: (value) =>
    value.some((entry) => entry.includes('/'))
      ? undefined
      : 'NO_PROXY contains no network. If pods connect to each other by IP address, add the service and pod CIDRs of the cluster.',
});

export const providerMirror = defineSetting('Network', 'provider-mirror', {
  isForRuns: true,
  question: 'Provider network mirror',
  summary: 'URL of a provider network mirror, used instead of the provider registries.',
  kind: listOf(
    text({
      hint: 'URL',
      pattern: /^https:\/\/[^\s/@,]+(\/[^\s?#,]*)?\/$/,
      expected: 'an https URL that ends with a slash',
      near: (url) => (/^https:\/\/[^\s@,?#]+[^/]$/.test(url) ? `${url}/` : undefined),
      example: 'https://mirror.example.com/providers/',
    }),
  ),
  explained:
    'Runs download providers from the mirror, which must implement the provider network mirror protocol.',
});

export const metadataService = defineSetting('Network', 'metadata-service', {
  question: 'Access to the node metadata service (169.254.169.254) from runs',
  kind: choice(['block', 'allow']),
  explained:
    'Any process with access can get the credentials of the node. Runs that use node credentials require it. In agent-k8s, the block applies to the controller and the workers, not to runs.',
  reference:
    'agent-local 0.6.5 (allowMetadataService) and agent-job 0.6.5 (task.allowMetadataService), values.yaml',
  labels: {block: 'Block', allow: 'Allow'},
  meanings: {
    block: 'protects the identity of the node',
    allow: 'runs can get cloud credentials from the node',
  },
});

/** Platforms of each workload identity; clusters on other platforms can use some of them too. */
const PLATFORMS: Readonly<Record<string, readonly string[]>> = {
  gke: ['gke', 'gke-autopilot', 'other'],
  irsa: ['eks', 'openshift', 'other'],
  'eks-pod-identity': ['eks', 'other'],
  azure: ['aks', 'openshift', 'other'],
};

const IDENTITY_OF: Readonly<Record<string, string>> = {
  gke: 'gke',
  'gke-autopilot': 'gke',
  eks: 'irsa or eks-pod-identity',
  aks: 'azure',
};

export const workloadIdentity = defineSetting('Network', 'workload-identity', {
  isForRuns: true,
  question: 'How do runs get cloud credentials?',
  summary: 'Workload identity that provides cloud credentials to runs.',
  kind: choice(['none', 'gke', 'irsa', 'eks-pod-identity', 'azure']),
  explained:
    'Determines how runs authenticate to the cloud without a stored key, and which endpoints must remain reachable.',
  reference: 'https://kubernetes.io/docs/concepts/security/service-accounts/',
  rule(value, get) {
    const platform = get(cloud);
    if (platform === undefined || PLATFORMS[value]?.includes(platform) !== false) return undefined;
    return new InvalidValue(
      `${value} is not available on ${platform}`,
      changing`Use ${{setting: {id: 'workload-identity'}, value: IDENTITY_OF[platform] ?? 'none'}}`,
    );
  },
  labels: {
    none: 'None',
    gke: 'GKE',
    irsa: 'IRSA',
    'eks-pod-identity': 'EKS Pod Identity',
    azure: 'Azure',
  },
  meanings: {
    none: 'runs have their own credentials, or Scalr provides them',
    gke: 'Workload Identity Federation for GKE',
    irsa: 'IAM roles for service accounts (EKS)',
    'eks-pod-identity': 'the EKS Pod Identity agent on each node',
    azure: 'Microsoft Entra Workload ID (AKS)',
  },
});

export const networkSettings: readonly Setting[] = [
  httpProxy,
  httpsProxy,
  noProxy,
  providerMirror,
  metadataService,
  workloadIdentity,
];
