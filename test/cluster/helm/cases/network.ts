import type {Values} from '../../../../src/ground/tree.ts';
import {IN_CLUSTER} from '../../../../src/settings/network.ts';
import {
  allRoles,
  type Case,
  type Claim,
  claim,
  EVERY_CHART,
  inEach,
  isFlat,
  NESTED,
} from '../claims.ts';
import type {Rendered} from '../render.ts';
import {type KubeObject, type Role, selects, variableOf} from '../workloads.ts';

const METADATA = '169.254.169.254/32';

/** Pods that the chart can block from the metadata service. */
const guarded = ({target}: Rendered): Role[] => {
  if (target.chart === 'agent-local') return ['agent'];
  return target.chart === 'agent-job' && !isFlat(target) ? ['runner', 'worker'] : ['controller'];
};

const excludesMetadata = (policy: KubeObject): boolean => {
  const {egress = [], policyTypes = []} = policy['spec'] as {
    egress?: {to?: {ipBlock?: {cidr: string; except?: string[]}}[]}[];
    policyTypes?: string[];
  };
  const blocks = egress.flatMap(({to = []}) => to).flatMap(({ipBlock}) => ipBlock ?? []);
  return (
    policyTypes.includes('Egress') &&
    blocks.length > 0 &&
    blocks.every(({cidr, except}) => cidr === '0.0.0.0/0' && except?.includes(METADATA))
  );
};

/** Policies that block the metadata service for these pods. */
export const metadataPolicies = (rendered: Rendered): KubeObject[] =>
  rendered
    .ofKind('NetworkPolicy')
    .filter(
      (policy) =>
        excludesMetadata(policy) &&
        rendered.containers(...guarded(rendered)).some(({pod}) => selects(policy, pod)),
    );

const policiesReach = (rendered: Rendered): Claim[] =>
  inEach(rendered, guarded(rendered), ({pod}) => [
    claim(
      'policies in front of the pod',
      rendered
        .ofKind('NetworkPolicy')
        .filter((policy) => selects(policy, pod) && excludesMetadata(policy)).length,
      1,
    ),
  ]);

const proxies =
  (expected: {http?: string; https?: string; no: readonly string[]}) => (rendered: Rendered) =>
    inEach(rendered, allRoles(rendered.target), (container) => [
      claim('HTTP_PROXY', variableOf(container, 'HTTP_PROXY') || undefined, expected.http),
      claim('HTTPS_PROXY', variableOf(container, 'HTTPS_PROXY') || undefined, expected.https),
      claim(
        'NO_PROXY',
        variableOf(container, 'NO_PROXY')?.split(',').toSorted(),
        [...expected.no, ...IN_CLUSTER].toSorted(),
      ),
    ]);

export const proxyCase: Case = {
  name: 'proxies for both schemes and exceptions',
  settings: {
    'http-proxy': 'http://user:p%40ss@proxy.example.com:3128',
    'https-proxy': 'http://proxy.example.com:3129',
    'no-proxy': '.example.com,10.0.0.0/8,host:8080',
  },
  takenBy: EVERY_CHART,
  check: proxies({
    http: 'http://user:p%40ss@proxy.example.com:3128',
    https: 'http://proxy.example.com:3129',
    no: ['.example.com', '10.0.0.0/8', 'host:8080'],
  }),
};

export const blockCase: Case = {
  name: 'no way to the metadata service',
  settings: {'metadata-service': 'block'},
  takenBy: {'agent-k8s': '*', 'agent-local': '>=0.5.65', 'agent-job': '*'},
  check: policiesReach,
};

export const azureCase: Case = {
  name: 'Azure Workload Identity for runs',
  settings: {
    'workload-identity': 'azure',
    'service-account-annotation': [
      'azure.workload.identity/client-id=00000000-0000-4000-8000-000000000000',
    ],
  },
  takenBy: {'agent-k8s': '*', 'agent-job': NESTED},
  check: (rendered) => {
    if (rendered.target.chart === 'agent-job')
      return inEach(rendered, ['runner', 'worker'], ({pod}) => [
        claim('label of the pod', pod.labels['azure.workload.identity/use'], 'true'),
      ]);
    return inEach(rendered, ['controller'], (container) => [
      claim(
        'label for run pods',
        (jsonVariable(container, 'SCALR_AGENT_KUBERNETES_TASK_LABELS') as Values)[
          'azure.workload.identity/use'
        ],
        'true',
      ),
    ]);
  },
};

/** agent-k8s passes maps and lists to its controller as base64-encoded JSON. */
export const jsonVariable = (container: Parameters<typeof variableOf>[0], name: string): unknown =>
  JSON.parse(Buffer.from(variableOf(container, name) ?? '', 'base64').toString() || 'null');

export const networkCases: readonly Case[] = [
  proxyCase,
  {
    name: 'a proxy for https only',
    settings: {'https-proxy': 'http://10.1.2.3:3128'},
    takenBy: EVERY_CHART,
    check: proxies({https: 'http://10.1.2.3:3128', no: []}),
  },
  {
    name: 'a proxy for http only',
    settings: {'http-proxy': 'http://10.1.2.3:3128', 'no-proxy': 'registry.example.com'},
    takenBy: EVERY_CHART,
    check: proxies({http: 'http://10.1.2.3:3128', no: ['registry.example.com']}),
  },
  blockCase,
  {
    name: 'an open way to the metadata service',
    settings: {'metadata-service': 'allow'},
    takenBy: EVERY_CHART,
    check: (rendered) => [
      claim('policies in front of the metadata service', metadataPolicies(rendered).length, 0),
    ],
  },
  {
    name: 'GKE Workload Identity, which lives on the metadata service',
    settings: {
      'workload-identity': 'gke',
      'service-account-annotation': [
        'iam.gke.io/gcp-service-account=runs@project.iam.gserviceaccount.com',
      ],
    },
    takenBy: EVERY_CHART,
    check: (rendered) => [
      claim('policies in front of the metadata service', metadataPolicies(rendered).length, 0),
    ],
  },
  azureCase,
];
