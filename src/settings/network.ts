import {hasCredentials, noProxyList, proxyUrl} from './addresses.ts';
import {defineSetting, type Get} from './define.ts';
import {choice} from './kinds.ts';

/**
 * What must never go through a proxy: the cluster itself and the addresses that hand out cloud credentials (the second is
 * the one of EKS Pod Identity). `$(KUBERNETES_SERVICE_HOST)` is expanded by the kubelet to the address of the
 * API server, so the controller reaches it on every cluster without knowing the service network.
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

const warnOfCredentials = (value: string): string | undefined =>
  hasCredentials(value)
    ? 'The proxy URL holds a user name or password. It stands in values.yaml, in the Helm release and in every pod; prefer a proxy that trusts the node network.'
    : undefined;

export const httpProxy = defineSetting({
  id: 'http-proxy',
  group: 'Network',
  question: 'Proxy for http:// addresses',
  summary: 'Proxy for http:// addresses.',
  kind: proxyUrl(),
  explained: {
    text: 'Only for addresses that begin with http://. Often the same as the other one.',
    reference: 'https://docs.scalr.io/docs/agent-pools',
  },
  caution: (value, get) =>
    warnOfCredentials(value) ??
    (get(httpsProxy) ? undefined : 'Without --https-proxy nothing that talks HTTPS uses the proxy, Scalr included.'),
});

export const httpsProxy = defineSetting({
  id: 'https-proxy',
  group: 'Network',
  question: 'Proxy for https:// addresses',
  summary: 'Proxy for https:// addresses; Scalr itself is one.',
  kind: proxyUrl(),
  explained: {
    text: 'Scalr itself is reached by HTTPS, so this is the one that matters. Names inside the cluster never use it.',
    reference: 'https://docs.scalr.io/docs/agent-pools',
  },
  caution: warnOfCredentials,
});

const hasProxy = (get: Get): boolean => (get(httpProxy) ?? get(httpsProxy)) !== undefined;

export const noProxy = defineSetting({
  id: 'no-proxy',
  group: 'Network',
  question: 'Addresses reached without the proxy',
  summary: 'Addresses reached without the proxy; names inside the cluster are added.',
  kind: noProxyList(IN_CLUSTER),
  explained: {
    text: 'Names and networks with commas between them. Names inside the cluster are added; networks of services and pods are worth adding.',
    reference: 'https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/',
  },
  appliesWhen: {test: hasProxy, needs: '--https-proxy or --http-proxy'},
  fallback: () => [],
  caution: (value) =>
    value.some((entry) => entry.includes('/'))
      ? undefined
      : 'NO_PROXY holds no network: add the service and pod CIDRs of the cluster with --no-proxy if pods talk to each other by address.',
});

export const workloadIdentity = defineSetting({
  id: 'workload-identity',
  group: 'Network',
  question: 'How do runs get cloud credentials?',
  summary: 'How runs get cloud credentials from the cluster.',
  kind: choice(['none', 'gke', 'irsa', 'eks-pod-identity', 'azure']),
  explained: {
    text: 'It says how runs log in to the cloud without a stored key, and what has to stay reachable for it.',
    reference: 'https://kubernetes.io/docs/concepts/security/service-accounts/',
  },
  meanings: {
    none: 'they bring their own, or Scalr hands them out',
    gke: 'Workload Identity Federation for GKE',
    irsa: 'IAM roles for service accounts (EKS)',
    'eks-pod-identity': 'EKS Pod Identity',
    azure: 'Microsoft Entra Workload ID (AKS)',
  },
});

export const metadataService = defineSetting({
  id: 'metadata-service',
  group: 'Network',
  question: 'May runs reach the metadata service of the node (169.254.169.254)?',
  summary: 'Whether runs may reach the metadata service of the node, 169.254.169.254.',
  kind: choice(['block', 'allow']),
  explained: {
    text: 'Whoever reaches it can get the credentials of the node. Runs that take theirs from the node need it.',
    reference: 'agent-local 0.6.5 and agent-job 0.6.5, values.yaml (restrictMetadataService)',
  },
  meanings: {
    block: 'runs cannot take over the identity of the node',
    allow: 'runs get cloud credentials from the node',
  },
});
