import type {Target} from '../../../../src/charts/releases/target.ts';
import {within} from '../../../../src/charts/releases/versions.ts';
import type {Values} from '../../../../src/ground/tree.ts';
import {canonicalQuantity} from '../../../../src/settings/kinds/quantities.ts';
import {
  agentRoles,
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

/** Scheduling of run pods; for agent-k8s in variables of the controller, which creates them. */
const runsPlaced = (
  rendered: Rendered,
  field: 'nodeSelector' | 'tolerations',
  variable: string,
  expected: unknown,
): Claim[] => [
  ...inEach(rendered, RUN_ROLES[rendered.target.chart] ?? [], ({pod}) => [
    claim(field, pod.spec[field], expected),
  ]),
  ...(rendered.target.chart === 'agent-k8s'
    ? inEach(rendered, ['controller'], (container) => [
        claim(variable, jsonVariable(container, variable), expected),
      ])
    : []),
];

/** CPU request, CPU limit, memory request, memory limit. */
type Four = readonly [string, string, string, string];

/** `numbers` are cores and mebibytes, the units of agent-k8s. */
const runsGet =
  ({amounts, numbers}: {amounts: Four; numbers: Four}) =>
  (rendered: Rendered): Claim[] => {
    if (rendered.target.chart !== 'agent-k8s') {
      const role = rendered.target.chart === 'agent-job' ? 'runner' : 'agent';
      return inEach(rendered, [role], ({resources: {requests, limits}}) => {
        const found = [
          requests?.['cpu'],
          limits?.['cpu'],
          requests?.['memory'],
          limits?.['memory'],
        ];
        return [
          claim(
            'resources',
            found.map((each) => canonicalQuantity(String(each))),
            amounts,
          ),
        ];
      });
    }
    const names = ['CPU_REQUEST', 'CPU_LIMIT', 'MEM_REQUEST', 'MEM_LIMIT'].map(
      (name) => `SCALR_AGENT_CONTAINER_TASK_${name}`,
    );
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
  settings: {
    'run-cpu-request': '500m',
    'run-cpu-limit': '6',
    'run-memory-request': '1.5Gi',
    'run-memory-limit': '12Gi',
  },
  takenBy: RUNS,
  check: runsGet({
    amounts: ['500m', '6', '1536Mi', '12Gi'],
    numbers: ['0.5', '6', '1536', '12288'],
  }),
};

export const controllerResourcesCase: Case = {
  name: 'CPU and memory of the controller',
  settings: {
    'controller-cpu-request': '300m',
    'controller-cpu-limit': '3',
    'controller-memory-request': '300Mi',
    'controller-memory-limit': '1.5Gi',
  },
  takenBy: CONTROLLERS,
  check: (rendered) =>
    inEach(
      rendered,
      rendered.target.chart === 'agent-k8s' ? ['controller', 'worker'] : ['controller'],
      ({resources}) => [
        claim('resources', resources, {
          requests: {cpu: '300m', memory: '300Mi'},
          limits: {cpu: '3', memory: '1536Mi'},
        }),
      ],
    ),
};

/** With several controllers, agent-job 0.6.1 to 0.6.3 writes two PodDisruptionBudgets into one YAML document, which is invalid. */
const controllers = ({chart, version}: Target): number =>
  chart === 'agent-job' && within(version, '0.6.1 - 0.6.3') ? 1 : 3;

const replicasCase: Case = {
  name: 'several controllers',
  settings: (target) => ({'controller-replicas': String(controllers(target))}),
  takenBy: {'agent-job': NESTED},
  check: ({target, ofKind}) => [
    claim(
      'replicas',
      ofKind('Deployment').map(({spec}) => (spec as Values)['replicas']),
      [controllers(target)],
    ),
  ],
};

export const labelCase: Case = {
  name: 'labels of pods',
  settings: {'pod-label': ['team=platform', 'example.com/on=true', 'generation=2']},
  takenBy: {'agent-k8s': '*', 'agent-job': NESTED},
  check: (rendered) => {
    const {chart, version} = rendered.target;
    const labels = {team: 'platform', 'example.com/on': 'true', generation: '2'};
    if (chart === 'agent-k8s')
      return inEach(rendered, ['controller'], (container) => {
        const found = jsonVariable(container, 'SCALR_AGENT_KUBERNETES_TASK_LABELS') as Values;
        return [claim('labels for run pods', pick(found, labels), labels)];
      });
    return inEach(
      rendered,
      within(version, '<=0.5.67') ? ['worker', 'runner'] : ['controller', 'worker', 'runner'],
      ({pod}) => [claim('labels of the pod', pick(pod.labels, labels), labels)],
    );
  },
};

const purposeCase: Case = {
  name: 'a VCS pool',
  settings: {purpose: 'vcs', 'pod-annotation': ['example.com/owner=team a']},
  takenBy: {'agent-local': '*'},
  check: (rendered) =>
    inEach(rendered, ['agent'], ({pod}) => {
      const annotations = {'scalr.io/purpose': 'vcs', 'example.com/owner': 'team a'};
      return [claim('annotations of the pod', pick(pod.annotations, annotations), annotations)];
    }),
};

const pick = (map: Readonly<Record<string, unknown>>, desired: object): object =>
  Object.fromEntries(Object.keys(desired).map((key) => [key, map[key]]));

export const annotationCase: Case = {
  name: 'annotations of pods',
  settings: {
    'pod-annotation': [
      'example.com/owner=team a, b: c',
      'example.com/on=true',
      'example.com/generation=2',
    ],
  },
  takenBy: EVERY_CHART,
  check: (rendered) => {
    const annotations = {
      'example.com/owner': 'team a, b: c',
      'example.com/on': 'true',
      'example.com/generation': '2',
    };
    const roles = isFlat(rendered.target) ? ['controller' as const] : allRoles(rendered.target);
    return [
      ...inEach(rendered, roles, ({pod}) => [
        claim('annotations of the pod', pick(pod.annotations, annotations), annotations),
      ]),
      ...(rendered.target.chart === 'agent-k8s'
        ? inEach(rendered, ['controller'], (container) => [
            claim(
              'annotations for run pods',
              jsonVariable(container, 'SCALR_AGENT_KUBERNETES_TASK_ANNOTATIONS'),
              annotations,
            ),
          ])
        : []),
    ];
  },
};

export const placementCases: readonly Case[] = [
  {
    name: 'nodes for runs',
    settings: {'node-selector': LABELS},
    takenBy: RUNS,
    check: (rendered) =>
      runsPlaced(rendered, 'nodeSelector', 'SCALR_AGENT_KUBERNETES_TASK_NODE_SELECTOR', SELECTOR),
  },
  {
    name: 'taints that runs tolerate',
    settings: {toleration: TAINTS},
    takenBy: RUNS,
    check: (rendered) =>
      runsPlaced(rendered, 'tolerations', 'SCALR_AGENT_KUBERNETES_TASK_TOLERATIONS', TOLERATIONS),
  },
  {
    name: 'nodes for the controller',
    settings: {'controller-node-selector': ['tier=system']},
    takenBy: CONTROLLERS,
    check: (rendered) =>
      inEach(rendered, ['controller'], ({pod}) => [
        claim('nodeSelector', pod.spec['nodeSelector'], {tier: 'system'}),
      ]),
  },
  {
    name: 'taints that the controller tolerates',
    settings: {'controller-toleration': TAINTS},
    takenBy: CONTROLLERS,
    check: (rendered) =>
      inEach(rendered, ['controller'], ({pod}) => [
        claim('tolerations', pod.spec['tolerations'], TOLERATIONS),
      ]),
  },
];

/** Service account of all pods, and the service accounts that the release creates. */
const accounts = (
  rendered: Rendered,
  name: string | undefined,
  made: readonly Values[],
): Claim[] => [
  claim(
    'accounts of the release',
    rendered
      .ofKind('ServiceAccount')
      .map(({metadata}) => ({name: metadata.name, annotations: metadata['annotations']})),
    made.map((each) => ({
      name: name ?? rendered.ofKind('ServiceAccount')[0]?.metadata.name,
      ...each,
    })),
  ),
  ...inEach(rendered, allRoles(rendered.target), ({pod}) => [
    claim(
      'account',
      pod.spec['serviceAccountName'],
      name ?? rendered.ofKind('ServiceAccount')[0]?.metadata.name,
    ),
  ]),
];

const ANNOTATIONS = {
  'eks.amazonaws.com/role-arn': 'arn:aws:iam::123456789012:role/runs',
  'eks.amazonaws.com/token-expiration': '86400',
};
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
    settings: {
      'run-memory-request': '1Ti',
      'run-memory-limit': '2000000Mi',
      'run-cpu-request': '1',
      'run-cpu-limit': '8',
    },
    takenBy: RUNS,
    check: runsGet({
      amounts: ['1', '8', '1Ti', '2000000Mi'],
      numbers: ['1', '8', '1048576', '2000000'],
    }),
  },
  controllerResourcesCase,
  replicasCase,
  ...placementCases,
  labelCase,
  annotationCase,
  purposeCase,
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
