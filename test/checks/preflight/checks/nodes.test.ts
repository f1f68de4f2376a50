import {stringify} from 'yaml';
import {nodeChecks} from '../../../../src/checks/preflight/checks/nodes.ts';
import type {PreflightContext} from '../../../../src/checks/preflight/facts/context.ts';
import type {KubernetesObject, Pod} from '../../../../src/cluster/kubernetes/objects.ts';
import {known, unknown} from '../../../../src/ground/fact.ts';
import {type FakeCluster, platform} from '../../../cluster/platform/fake-cluster.ts';
import {live, node, ORDINARY, withNodes} from '../context.ts';
import {prove} from './prove.ts';

const noManifest = {manifest: unknown('failed', 'helm refuses to render the chart')};
const refused = {...ORDINARY, refuse: ['nodes']};
const dedicated = {key: 'dedicated', value: 'ci', effect: 'NoSchedule'};
/** On machines of nobody's cloud, where no node comes by itself. */
const onOwn = (cluster: FakeCluster): FakeCluster => ({
  ...cluster,
  objects: cluster.objects.map((each) =>
    each.kind === 'Node'
      ? ({...each, spec: {...(each as {spec?: object}).spec, providerID: undefined}} as typeof each)
      : each,
  ),
});
const inPool = (name: string, pool: string, more: object = {}) =>
  node(name, {labels: {pool}, ...more});
const withObjects = ({objects, ...cluster}: FakeCluster, ...more: object[]): FakeCluster => ({
  ...cluster,
  objects: [...objects, ...(more as unknown as FakeCluster['objects'])],
});
const ofProject = (key: string, selector: string, ...nodes: object[]): FakeCluster => {
  const {objects, ...cluster} = withNodes(...nodes);
  const project = {metadata: {name: 'scalr-agent', annotations: {[key]: selector}}};
  return {
    ...cluster,
    objects: objects.map((each) =>
      each.kind === 'Namespace' ? ({...each, ...project} as typeof each) : each,
    ),
  };
};
const withKarpenter = (cluster: FakeCluster, ...pools: object[]): FakeCluster =>
  withObjects({...cluster, resources: [...cluster.resources, 'nodepools.karpenter.sh']}, ...pools);
const nodePool = (name: string, status: object) => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: {name},
  spec: {limits: {memory: '100Gi', cpu: 8}},
  status,
});
const OPEN = nodePool('open', {
  resources: {cpu: '7900m', memory: '2Gi'},
  conditions: [{type: 'Ready', status: 'True'}],
});
const FULL = nodePool('full', {resources: {cpu: '8', memory: '2Gi'}});
const BROKEN = nodePool('broken', {conditions: [{type: 'Ready', status: 'False'}]});

/** As the cluster-autoscaler says it since 1.30: size and maximum of each group. */
function withAutoscaler(
  cluster: FakeCluster,
  groups: Readonly<Record<string, readonly [size: number, maximum: number]>>,
  {scaleUp = 'NoActivity', at = '2026-12-31 23:59:50.123 +0000 UTC'} = {},
): FakeCluster {
  const nodeGroups = Object.entries(groups).map(([name, [size, maximum]]) => ({
    name,
    health: {status: 'Healthy', cloudProviderTarget: size, minSize: 0, maxSize: maximum},
    scaleUp: {status: scaleUp},
  }));
  return withObjects(cluster, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'cluster-autoscaler-status',
      namespace: 'kube-system',
      annotations: {'cluster-autoscaler.kubernetes.io/last-updated': at},
    },
    data: {status: stringify({time: at, autoscalerStatus: 'Running', nodeGroups})},
  });
}
const K8S = {chart: 'agent-k8s', cloud: 'eks'};
const windows = node('win', {os: 'windows'});
/** A pod of others that has requested these CPUs. */
const busy = (nodeName: string, cpu: string, more: object = {}) =>
  ({
    metadata: {name: `busy-${nodeName}`, namespace: 'others', ...more},
    spec: {nodeName, containers: [{name: 'busy', resources: {requests: {cpu}}}]},
  }) as unknown as Pod;
const OWN = {namespace: 'scalr-agent', labels: {'app.kubernetes.io/instance': 'scalr-agent'}};
const selector = {'node-selector': ['pool=runs']};
const affine = {
  manifest: known(
    [
      {
        kind: 'AgentTaskTemplate',
        metadata: {name: 'a'},

        spec: {
          containers: [],
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []},
            },
          },
        },
      },
    ],
    'helm template',
  ),
};

const withImage = (image: string): Partial<PreflightContext> => ({
  manifest: known(
    [
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: {name: 'scalr-agent'},
        spec: {template: {spec: {containers: [{name: 'agent', image}]}}},
      } as KubernetesObject,
    ],
    'helm template',
  ),
});

prove('nodes', nodeChecks, [
  {
    id: 'image-names',
    is: 'pass',
    when: 'nodes run containerd',
    but: withImage('scalr/agent:1.4.0'),
  },
  {
    id: 'image-names',
    is: 'pass',
    when: 'CRI-O is older',
    but: withImage('scalr/agent:1.4.0'),
    cluster: withNodes(node('one', {runtime: 'cri-o://1.33.4'})),
  },
  {
    id: 'image-names',
    is: 'warn',
    when: 'CRI-O is new',
    but: withImage('scalr/agent:1.4.0'),
    cluster: withNodes(node('one', {runtime: 'cri-o://1.35.0'}), node('two')),
  },
  {
    id: 'image-names',
    is: 'pass',
    when: 'the registry is given',
    but: withImage('docker.io/scalr/agent:1.4.0'),
    cluster: withNodes(node('one', {runtime: 'cri-o://1.35.0'})),
  },
  {
    id: 'image-names',
    is: 'skip',
    when: 'nodes cannot be listed',
    cluster: refused,
  },
  {id: 'ready-nodes', is: 'pass', when: 'all are'},
  {
    id: 'ready-nodes',
    is: 'warn',
    when: 'one is not',
    cluster: withNodes(node('one'), node('two', {isReady: false})),
  },
  {id: 'ready-nodes', is: 'fail', when: 'there are none', cluster: withNodes()},
  {id: 'ready-nodes', is: 'skip', when: 'nodes are refused', cluster: refused},

  {id: 'node-versions', is: 'pass', when: 'all are new'},
  {
    id: 'node-versions',
    is: 'fail',
    when: 'one is older than the server',
    cluster: withNodes(node('one'), node('two', {kubelet: 'v1.34.2'})),
  },
  {
    id: 'node-versions',
    is: 'pass',
    when: 'runs stay away from the old one',
    flags: selector,
    cluster: withNodes(inPool('one', 'runs'), inPool('two', 'web', {kubelet: 'v1.34.2'})),
  },
  {
    id: 'node-versions',
    is: 'warn',
    when: 'only the README asks for it',
    flags: {chart: 'agent-local'},
    cluster: withNodes(node('one', {kubelet: 'v1.31.2'})),
  },
  {id: 'node-versions', is: 'skip', when: 'nodes are refused', cluster: refused},
  {id: 'node-versions', is: 'pass', when: 'nothing is rendered', but: noManifest},
  {id: 'node-versions', is: 'skip', when: 'no node takes runs', flags: selector},
  {
    id: 'node-versions',
    is: 'fail',
    when: 'a label parts the new ones from the old one',
    cluster: withNodes(
      inPool('one', 'new'),
      inPool('two', 'new'),
      inPool('three', 'old', {kubelet: 'v1.34.2'}),
    ),
  },

  {id: 'run-nodes', is: 'pass', when: 'they may go anywhere'},
  {
    id: 'run-nodes',
    is: 'pass',
    when: 'one has the label',
    flags: selector,
    cluster: withNodes(node('one'), inPool('two', 'runs')),
  },
  {
    id: 'run-nodes',
    is: 'fail',
    when: 'none has the label',
    flags: selector,
    cluster: onOwn(ORDINARY),
  },
  {
    id: 'run-nodes',
    is: 'fail',
    when: 'others have other values',
    flags: selector,
    cluster: onOwn(withNodes(inPool('one', 'web'))),
  },
  {id: 'run-nodes', is: 'warn', when: 'a node pool may grow', flags: selector},
  {
    id: 'run-nodes',
    is: 'warn',
    when: 'a pool of Karpenter may grow',
    flags: selector,
    cluster: withKarpenter(ORDINARY, FULL, OPEN),
  },
  {
    id: 'run-nodes',
    is: 'fail',
    when: 'all pools of Karpenter are full or broken',
    flags: selector,
    cluster: withKarpenter(ORDINARY, FULL, BROKEN),
  },
  {
    id: 'run-nodes',
    is: 'fail',
    when: 'Karpenter has no pools',
    flags: selector,
    cluster: withKarpenter(ORDINARY),
  },
  {
    id: 'run-nodes',
    is: 'warn',
    when: 'the pools of Karpenter are refused',
    flags: selector,
    cluster: {...withKarpenter(onOwn(ORDINARY), FULL), refuse: ['nodepools.karpenter.sh']},
  },
  {
    id: 'run-nodes',
    is: 'warn',
    when: 'a node group may grow',
    flags: selector,
    cluster: withAutoscaler(onOwn(ORDINARY), {a: [3, 3], b: [1, 3]}),
  },
  {
    id: 'run-nodes',
    is: 'fail',
    when: 'all node groups are full',
    flags: selector,
    cluster: withAutoscaler(ORDINARY, {a: [3, 3], b: [2, 2]}),
  },
  {
    id: 'run-nodes',
    is: 'fail',
    when: 'there are no node groups',
    flags: selector,
    cluster: withAutoscaler(ORDINARY, {}),
  },
  {
    id: 'run-nodes',
    is: 'warn',
    when: 'the node group that is not full got no nodes lately',
    flags: selector,
    cluster: withAutoscaler(ORDINARY, {a: [3, 3], b: [1, 3]}, {scaleUp: 'Backoff'}),
  },
  {
    id: 'run-nodes',
    is: 'warn',
    when: 'the autoscaler does not run any more',
    flags: selector,
    cluster: withAutoscaler(ORDINARY, {a: [3, 3]}, {at: '2026-12-24 10:00:00.123 +0000 UTC'}),
  },
  {
    id: 'run-nodes',
    is: 'warn',
    when: 'the state of the autoscaler is refused',
    flags: selector,
    cluster: {...withAutoscaler(onOwn(ORDINARY), {a: [3, 3]}), refuse: ['configmaps']},
  },
  {
    id: 'run-nodes',
    is: 'warn',
    when: 'all node groups are full, and one of them is of GKE',
    flags: {cloud: 'gke', chart: 'agent-local', ...selector},
    cluster: withAutoscaler(platform('gke-standard'), {a: [3, 3]}),
  },
  {
    id: 'run-nodes',
    is: 'fail',
    when: 'the taint is not tolerated',
    flags: selector,
    cluster: onOwn(withNodes(node('one'), inPool('two', 'runs', {taints: [dedicated]}))),
  },
  {
    id: 'run-nodes',
    is: 'pass',
    when: 'the taint is tolerated',
    flags: {...selector, toleration: ['dedicated=ci:NoSchedule']},
    cluster: onOwn(withNodes(node('one'), inPool('two', 'runs', {taints: [dedicated]}))),
  },
  {
    id: 'run-nodes',
    is: 'fail',
    when: 'they are cordoned or broken',
    flags: selector,
    cluster: onOwn(
      withNodes(inPool('one', 'runs', {isCordoned: true}), inPool('two', 'runs', {isReady: false})),
    ),
  },
  {
    id: 'run-nodes',
    is: 'fail',
    when: 'the only node is kept for the control plane',
    cluster: onOwn(
      withNodes(
        node('one', {
          taints: [{key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule'}],
        }),
      ),
    ),
  },
  {id: 'run-nodes', is: 'fail', when: 'all nodes run Windows', cluster: onOwn(withNodes(windows))},
  {
    id: 'run-nodes',
    is: 'warn',
    when: 'agent-k8s finds no node for its workers',
    flags: {chart: 'agent-k8s', ...selector},
  },
  {id: 'run-nodes', is: 'skip', when: 'they ask for affinity', but: affine},
  {id: 'run-nodes', is: 'skip', when: 'nodes are refused', cluster: refused},
  {id: 'run-nodes', is: 'skip', when: 'there are no nodes at all', cluster: withNodes()},

  {id: 'controller-nodes', is: 'pass', when: 'it may go anywhere'},
  {
    id: 'controller-nodes',
    is: 'warn',
    when: 'no node has the label',
    flags: {'controller-node-selector': ['pool=web']},
  },
  {
    id: 'controller-nodes',
    is: 'fail',
    when: 'a taint keeps runs away too, which another flag helps',
    cluster: onOwn(withNodes(node('one', {taints: [dedicated]}))),
  },
  {
    id: 'controller-nodes',
    is: 'skip',
    when: 'it waits for what runs wait for',
    cluster: withNodes(node('one', {isCordoned: true})),
  },
  {
    id: 'controller-nodes',
    is: 'nothing',
    when: 'the chart has none',
    flags: {chart: 'agent-local'},
  },
  {id: 'controller-nodes', is: 'skip', when: 'nothing is rendered', but: noManifest},

  {id: 'run-capacity', is: 'pass', when: 'nodes are large'},
  {
    id: 'run-capacity',
    is: 'pass',
    when: 'agent-k8s says what its runs ask for',
    flags: {chart: 'agent-k8s'},
  },
  {
    id: 'run-capacity',
    is: 'fail',
    when: 'no node has the CPU',
    flags: {'run-cpu-request': '16', 'run-cpu-limit': '16'},
    cluster: onOwn(ORDINARY),
  },
  {
    id: 'run-capacity',
    is: 'warn',
    when: 'no node has the memory, and the pool may grow',
    flags: {'run-memory-request': '64Gi', 'run-memory-limit': '64Gi'},
  },
  {
    id: 'run-capacity',
    is: 'fail',
    when: 'the large node is not for runs',
    flags: {...selector, 'run-cpu-request': '4'},
    cluster: onOwn(withNodes(node('one'), inPool('two', 'runs', {allocatable: {cpu: '1930m'}}))),
  },
  {id: 'run-capacity', is: 'skip', when: 'no node takes runs', flags: selector},
  {id: 'run-capacity', is: 'skip', when: 'nodes are refused', cluster: refused},

  {id: 'total-capacity', is: 'nothing', when: 'it is one run', flags: {concurrency: '1'}},
  {id: 'total-capacity', is: 'pass', when: 'they fit', flags: {concurrency: '10'}},
  {
    id: 'total-capacity',
    is: 'fail',
    when: 'they do not fit',
    flags: {concurrency: '100'},
    cluster: onOwn(ORDINARY),
  },
  {id: 'total-capacity', is: 'warn', when: 'the pool may grow', flags: {concurrency: '100'}},
  {
    id: 'total-capacity',
    is: 'warn',
    when: 'nodes take few pods',
    flags: {concurrency: '10'},
    cluster: withNodes(node('one', {allocatable: {pods: '4'}})),
  },
  {
    id: 'total-capacity',
    is: 'warn',
    when: 'others have requested most of it',
    flags: {concurrency: '10'},
    but: {live: live({podsOnNodes: known([busy('one', '8'), busy('two', '6')], 'pods')})},
  },
  {
    id: 'total-capacity',
    is: 'warn',
    when: 'others have requested everything, for one run',
    flags: {concurrency: '1'},
    but: {live: live({podsOnNodes: known([busy('one', '8'), busy('two', '7500m')], 'pods')})},
  },
  {
    id: 'total-capacity',
    is: 'fail',
    when: 'others have requested most of it, and no node can be added',
    flags: {chart: 'agent-local', concurrency: '10'},
    cluster: onOwn(ORDINARY),
    but: {live: live({podsOnNodes: known([busy('one', '8'), busy('two', '6')], 'pods')})},
  },
  {
    id: 'total-capacity',
    is: 'pass',
    when: 'the pods on the nodes are those of the release',
    flags: {concurrency: '10'},
    but: {
      live: live({
        podsOnNodes: known([busy('one', '8', OWN), busy('two', '8', OWN)], 'pods'),
      }),
    },
  },
  {
    id: 'total-capacity',
    is: 'skip',
    when: 'other pods are not readable',
    flags: {concurrency: '10'},
    but: {live: live({podsOnNodes: unknown('forbidden', 'pods is forbidden')})},
  },
  {
    id: 'total-capacity',
    is: 'skip',
    when: 'not a single one fits',
    flags: {concurrency: '10', 'run-cpu-request': '16', 'run-cpu-limit': '16'},
  },
  {
    id: 'total-capacity',
    is: 'skip',
    when: 'nodes are refused',
    flags: {concurrency: '10'},
    cluster: refused,
  },

  {id: 'node-architecture', is: 'pass', when: 'it is amd64'},
  {
    id: 'node-architecture',
    is: 'pass',
    when: 'some are arm64, with agent-local',
    flags: {chart: 'agent-local'},
    cluster: withNodes(node('one'), node('two', {architecture: 'arm64'})),
  },
  {
    id: 'node-architecture',
    is: 'skip',
    when: 'some are arm64, with a runner image',
    flags: {chart: 'agent-job'},
    cluster: withNodes(node('one'), node('two', {architecture: 'arm64'})),
  },
  {
    id: 'node-architecture',
    is: 'warn',
    when: 'some are s390x',
    cluster: withNodes(node('one'), node('two', {architecture: 's390x'})),
  },
  {
    id: 'node-architecture',
    is: 'fail',
    when: 'all are ppc64le',
    cluster: onOwn(withNodes(node('one', {architecture: 'ppc64le'}))),
  },
  {id: 'node-architecture', is: 'skip', when: 'nodes are refused', cluster: refused},

  {id: 'windows-nodes', is: 'pass', when: 'there is none'},
  {
    id: 'windows-nodes',
    is: 'warn',
    when: 'pods may go anywhere',
    cluster: withNodes(node('one'), windows),
  },
  {
    id: 'windows-nodes',
    is: 'warn',
    when: 'only runs keep away',
    flags: {'node-selector': ['kubernetes.io/os=linux']},
    cluster: withNodes(node('one'), windows),
  },
  {
    id: 'windows-nodes',
    is: 'pass',
    when: 'pods keep away',
    flags: {
      'node-selector': ['kubernetes.io/os=linux'],
      'controller-node-selector': ['kubernetes.io/os=linux'],
    },
    cluster: withNodes(node('one'), windows),
  },
  {id: 'windows-nodes', is: 'skip', when: 'nodes are refused', cluster: refused},
  {id: 'run-timeouts', is: 'nothing', when: 'the chart is agent-job', flags: {chart: 'agent-job'}},
  {
    id: 'run-timeouts',
    is: 'pass',
    when: 'there is no autoscaler',
    flags: K8S,
    cluster: onOwn(ORDINARY),
  },
  {
    id: 'run-timeouts',
    is: 'warn',
    when: 'node groups may grow',
    flags: K8S,
    cluster: withAutoscaler(onOwn(ORDINARY), {a: [1, 3]}),
  },
  {
    id: 'run-timeouts',
    is: 'pass',
    when: 'both timeouts are long enough',
    flags: {...K8S, 'scheduling-timeout': '10m', 'acquire-timeout': '10m'},
    cluster: withAutoscaler(onOwn(ORDINARY), {a: [1, 3]}),
  },
  {
    id: 'run-timeouts',
    is: 'skip',
    when: 'Karpenter pools cannot be read',
    flags: K8S,
    cluster: {...withKarpenter(onOwn(ORDINARY), FULL), refuse: ['nodepools.karpenter.sh']},
  },

  {id: 'worker-nodes', is: 'nothing', when: 'the chart has no workers on every node'},
  {id: 'worker-nodes', is: 'warn', when: 'workers go to every node', flags: {...K8S, cloud: 'aks'}},
  {
    id: 'worker-nodes',
    is: 'pass',
    when: 'workers have a node selector',
    flags: {...K8S, cloud: 'aks', 'node-selector': ['pool=runs']},
  },
  {
    id: 'worker-nodes',
    is: 'pass',
    when: 'there is one node',
    flags: {...K8S, cloud: 'aks'},
    cluster: withNodes(node('one')),
  },
  {
    id: 'worker-nodes',
    is: 'skip',
    when: 'the chart cannot be rendered',
    flags: {...K8S, cloud: 'aks'},
    but: noManifest,
  },

  {id: 'project-nodes', is: 'pass', when: 'the namespace has no node selector'},
  {
    id: 'project-nodes',
    is: 'pass',
    when: 'nodes match that of the OpenShift project',
    cluster: ofProject('openshift.io/node-selector', 'pool=ci', inPool('a', 'ci')),
  },
  {
    id: 'project-nodes',
    is: 'warn',
    when: 'no node matches that of the OpenShift project',
    cluster: ofProject('openshift.io/node-selector', 'pool=ci, tier=gold', inPool('a', 'ci')),
  },
  {
    id: 'project-nodes',
    is: 'warn',
    when: 'no node matches that of PodNodeSelector',
    cluster: ofProject('scheduler.alpha.kubernetes.io/node-selector', 'pool=ci', node('a')),
  },
  {
    id: 'project-nodes',
    is: 'skip',
    when: 'the namespace cannot be read',
    cluster: {...ORDINARY, refuse: ['namespaces']},
  },

  {id: 'lasting-nodes', is: 'pass', when: 'nodes stay'},
  {id: 'lasting-nodes', is: 'skip', when: 'nodes cannot be read', cluster: refused},
  {
    id: 'lasting-nodes',
    is: 'warn',
    when: 'all nodes of agent-local are spot nodes',
    flags: {chart: 'agent-local'},
    cluster: withNodes(
      node('a', {labels: {'karpenter.sh/capacity-type': 'spot'}}),
      node('b', {labels: {'eks.amazonaws.com/capacityType': 'SPOT'}}),
    ),
  },
  {
    id: 'lasting-nodes',
    is: 'pass',
    when: 'one node of agent-local stays',
    flags: {chart: 'agent-local'},
    cluster: withNodes(node('a', {labels: {'karpenter.sh/capacity-type': 'spot'}}), node('b')),
  },
  {
    id: 'lasting-nodes',
    is: 'fail',
    when: 'agent-k8s is on Fargate',
    flags: {chart: 'agent-k8s'},
    cluster: withNodes(node('a', {labels: {'eks.amazonaws.com/compute-type': 'fargate'}})),
  },
]);
