import type {Values} from '../../../src/charts/tree.ts';
import {canonicalQuantity} from '../../../src/settings/quantity.ts';
import {agentRoles, allRoles, type Case, type Claim, claim, EVERY_CHART, inEach, NESTED} from '../claims.ts';
import type {Rendered} from '../render.ts';
import {type Role, variableOf} from '../workloads.ts';
import {jsonVariable} from './network.ts';

const RUNS = {'agent-k8s': '*', 'agent-local': '*', 'agent-job': NESTED} as const;
const CONTROLLERS = {'agent-k8s': '*', 'agent-job': '*'} as const;
const RUN_ROLES: Readonly<Record<string, readonly Role[]>> = {
  'agent-k8s': ['worker'],
  'agent-local': ['agent'],
  'agent-job': ['runner', 'worker'],
};

const TAINTS = ['dedicated=scalr:NoSchedule', 'spot:NoExecute', 'example.com/any'];
const TOLERATIONS = [
  {key: 'dedicated', operator: 'Equal', value: 'scalr', effect: 'NoSchedule'},
  {key: 'spot', operator: 'Exists', effect: 'NoExecute'},
  {key: 'example.com/any', operator: 'Exists'},
];
const LABELS = ['pool=runs', 'example.com/on=true', 'generation=2'];
const SELECTOR = {pool: 'runs', 'example.com/on': 'true', generation: '2'};

/** The pods of runs are placed like this; agent-k8s has to tell its controller, which starts them. */
const runsPlaced = (rendered: Rendered, field: 'nodeSelector' | 'tolerations', variable: string, expected: unknown): Claim[] => [
  ...inEach(rendered, RUN_ROLES[rendered.target.chart] ?? [], ({pod}) => [claim(field, pod.spec[field], expected)]),
  ...(rendered.target.chart === 'agent-k8s'
    ? inEach(rendered, ['controller'], (container) => [claim(variable, jsonVariable(container, variable), expected)])
    : []),
];

/** CPU asked for, CPU at most, memory asked for, memory at most. */
type Four = readonly [string, string, string, string];

/** `numbers` are cores and mebibytes, as agent-k8s counts. */
const runsGet =
  ({amounts, numbers}: {amounts: Four; numbers: Four}) =>
  (rendered: Rendered): Claim[] => {
    if (rendered.target.chart !== 'agent-k8s') {
      const role = rendered.target.chart === 'agent-job' ? 'runner' : 'agent';
      return inEach(rendered, [role], ({resources: {requests, limits}}) => {
        const found = [requests?.['cpu'], limits?.['cpu'], requests?.['memory'], limits?.['memory']];
        return [
          claim(
            'resources',
            found.map((each) => canonicalQuantity(String(each))),
            amounts,
          ),
        ];
      });
    }
    const names = ['CPU_REQUEST', 'CPU_LIMIT', 'MEM_REQUEST', 'MEM_LIMIT'].map((name) => `SCALR_AGENT_CONTAINER_TASK_${name}`);
    return inEach(rendered, agentRoles(rendered.target), (container) => [
      claim(
        'resources of runs',
        names.map((name) => variableOf(container, name)),
        numbers,
      ),
    ]);
  };

export const resourcesCase: Case = {
  name: 'CPU and memory of runs',
  settings: {'run-cpu-request': '500m', 'run-cpu-limit': '6', 'run-memory-request': '1.5Gi', 'run-memory-limit': '12Gi'},
  takenBy: RUNS,
  check: runsGet({amounts: ['500m', '6', '1536Mi', '12Gi'], numbers: ['0.5', '6', '1536', '12288']}),
};

export const placementCases: readonly Case[] = [
  {
    name: 'nodes for runs',
    settings: {'node-selector': LABELS},
    takenBy: RUNS,
    check: (rendered) => runsPlaced(rendered, 'nodeSelector', 'SCALR_AGENT_KUBERNETES_TASK_NODE_SELECTOR', SELECTOR),
  },
  {
    name: 'taints that runs tolerate',
    settings: {toleration: TAINTS},
    takenBy: RUNS,
    check: (rendered) => runsPlaced(rendered, 'tolerations', 'SCALR_AGENT_KUBERNETES_TASK_TOLERATIONS', TOLERATIONS),
  },
  {
    name: 'nodes for the controller',
    settings: {'controller-node-selector': ['tier=system']},
    takenBy: CONTROLLERS,
    check: (rendered) => inEach(rendered, ['controller'], ({pod}) => [claim('nodeSelector', pod.spec['nodeSelector'], {tier: 'system'})]),
  },
  {
    name: 'taints that the controller tolerates',
    settings: {'controller-toleration': TAINTS},
    takenBy: CONTROLLERS,
    check: (rendered) => inEach(rendered, ['controller'], ({pod}) => [claim('tolerations', pod.spec['tolerations'], TOLERATIONS)]),
  },
];

/** All pods run under this account, and the release makes these. */
const accounts = (rendered: Rendered, name: string | undefined, made: readonly Values[]): Claim[] => [
  claim(
    'accounts of the release',
    rendered.ofKind('ServiceAccount').map(({metadata}) => ({name: metadata.name, annotations: metadata['annotations']})),
    made.map((each) => ({name: name ?? rendered.ofKind('ServiceAccount')[0]?.metadata.name, ...each})),
  ),
  ...inEach(rendered, allRoles(rendered.target), ({pod}) => [
    claim('account', pod.spec['serviceAccountName'], name ?? rendered.ofKind('ServiceAccount')[0]?.metadata.name),
  ]),
];

const ANNOTATIONS = {'eks.amazonaws.com/role-arn': 'arn:aws:iam::123456789012:role/runs', 'eks.amazonaws.com/token-expiration': '86400'};
const annotated = Object.entries(ANNOTATIONS).map(([key, value]) => `${key}=${value}`);

export const accountCase: Case = {
  name: 'an annotated service account under a given name',
  settings: {'service-account-name': 'runs', 'service-account-annotation': annotated},
  takenBy: EVERY_CHART,
  check: (rendered) => accounts(rendered, 'runs', [{annotations: ANNOTATIONS}]),
};

export const workloadCases: readonly Case[] = [
  resourcesCase,
  {
    name: 'a million mebibytes for a run, which Helm would print as 1e+06',
    settings: {'run-memory-request': '1Ti', 'run-memory-limit': '2000000Mi', 'run-cpu-request': '1', 'run-cpu-limit': '8'},
    takenBy: RUNS,
    check: runsGet({amounts: ['1', '8', '1Ti', '2000000Mi'], numbers: ['1', '8', '1048576', '2000000']}),
  },
  ...placementCases,
  {
    name: 'an existing service account',
    settings: {'service-account-name': 'prepared'},
    takenBy: EVERY_CHART,
    check: (rendered) => accounts(rendered, 'prepared', []),
  },
  {
    name: 'an annotated service account',
    settings: {'workload-identity': 'irsa', 'service-account-annotation': annotated},
    takenBy: EVERY_CHART,
    check: (rendered) => accounts(rendered, undefined, [{annotations: ANNOTATIONS}]),
  },
  accountCase,
];
