import {expect, test} from 'vitest';
import {covers, networkChecks} from '../../../../src/checks/preflight/checks/network.ts';
import {type FakeCluster, platform} from '../../../cluster/platform/fake-cluster.ts';
import {ORDINARY} from '../context.ts';
import {prove} from './prove.ts';

const block = {'metadata-service': 'block'};
const k8s = {chart: 'agent-k8s', ...block};
const gke = platform('gke-standard');
const autopilot = platform('gke-autopilot');
const set = (name: string) => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: {namespace: 'kube-system', name},
});
const withSets = (cluster: FakeCluster, ...names: string[]): FakeCluster => ({
  ...cluster,
  objects: [...cluster.objects, ...names.map(set)],
});
const dataplane = withSets(gke, 'anetd');
const cloudDns = {...dataplane, kubeletDns: ['169.254.169.254']};
const noSets: FakeCluster = {...ORDINARY, refuse: ['daemonsets.apps']};
const proxy = {'https-proxy': 'http://proxy.example.com:3128'};
const eks = platform('eks-al2023');
const withGkeLabel = (cluster: FakeCluster, isOn = true): FakeCluster => ({
  ...cluster,
  objects: cluster.objects.map((each) =>
    each.kind === 'Node'
      ? {
          ...each,
          metadata: {
            ...each.metadata,
            labels: {
              ...each.metadata.labels,
              'iam.gke.io/gke-metadata-server-enabled': String(isOn),
            },
          },
        }
      : each,
  ),
});

prove('network', networkChecks, [
  {id: 'metadata-block', is: 'pass', when: 'upstream measured it'},
  {id: 'metadata-block', is: 'nothing', when: 'it is open', flags: {'metadata-service': 'allow'}},
  {id: 'metadata-block', is: 'warn', when: 'nothing enforces policies', cluster: gke},
  {
    id: 'metadata-block',
    is: 'warn',
    when: 'upstream measured that it leaks',
    cluster: withSets(gke, 'calico-node'),
  },
  {id: 'metadata-block', is: 'warn', when: 'runs are not covered', flags: k8s},
  {id: 'metadata-block', is: 'skip', when: 'nobody measured it', cluster: eks},
  {id: 'metadata-block', is: 'skip', when: 'daemon sets are refused', cluster: noSets},

  {id: 'metadata-dns', is: 'pass', when: 'names come from CoreDNS'},
  {id: 'metadata-dns', is: 'fail', when: 'names come from Cloud DNS', cluster: cloudDns},
  {
    id: 'metadata-dns',
    is: 'pass',
    when: 'nothing enforces the block',
    cluster: {...gke, kubeletDns: ['169.254.169.254']},
  },
  {
    id: 'metadata-dns',
    is: 'warn',
    when: 'nobody knows whether it is enforced',
    cluster: {...cloudDns, refuse: ['daemonsets.apps']},
  },
  {
    id: 'metadata-dns',
    is: 'skip',
    when: 'kubelets are refused',
    cluster: {...dataplane, refuse: ['nodes/proxy']},
  },

  {id: 'policy-dns', is: 'nothing', when: 'the version has a rule for it'},
  {id: 'policy-dns', is: 'warn', when: 'it is agent-k8s on Cilium', flags: k8s},
  {
    id: 'policy-dns',
    is: 'warn',
    when: 'it is an older agent-job on Cilium',
    flags: {'chart-version': '0.5.68'},
  },
  {
    id: 'policy-dns',
    is: 'pass',
    when: 'it is agent-k8s on Calico',
    flags: k8s,
    cluster: platform('eks-bottlerocket'),
  },
  {id: 'policy-dns', is: 'skip', when: 'daemon sets are refused', flags: k8s, cluster: noSets},

  {id: 'metadata-identity', is: 'nothing', when: 'it is no GKE'},
  {
    id: 'metadata-identity',
    is: 'nothing',
    when: 'runs use none',
    flags: {'workload-identity': 'none'},
    cluster: autopilot,
  },
  {
    id: 'metadata-identity',
    is: 'nothing',
    when: 'runs use it',
    flags: {'workload-identity': 'gke'},
    cluster: autopilot,
  },
  {id: 'metadata-identity', is: 'warn', when: 'Autopilot has it', cluster: autopilot},
  {
    id: 'metadata-identity',
    is: 'warn',
    when: 'the nodes have it',
    cluster: withGkeLabel(dataplane),
  },
  {
    id: 'metadata-identity',
    is: 'pass',
    when: 'the nodes have none',
    cluster: withGkeLabel(dataplane, false),
  },
  {
    id: 'metadata-identity',
    is: 'pass',
    when: 'nothing enforces the block',
    cluster: withGkeLabel(gke),
  },
  {
    id: 'metadata-identity',
    is: 'skip',
    when: 'daemon sets are refused',
    cluster: {...withGkeLabel(gke), refuse: ['daemonsets.apps']},
  },

  {id: 'workload-identity', is: 'nothing', when: 'there is none'},
  {
    id: 'workload-identity',
    is: 'pass',
    when: 'every node has it',
    flags: {'workload-identity': 'gke'},
    cluster: withGkeLabel(gke),
  },
  {
    id: 'workload-identity',
    is: 'fail',
    when: 'the nodes have none',
    flags: {'workload-identity': 'gke'},
    cluster: withGkeLabel(gke, false),
  },
  {
    id: 'workload-identity',
    is: 'pass',
    when: 'it is Autopilot',
    flags: {'workload-identity': 'gke'},
    cluster: autopilot,
  },
  {
    id: 'workload-identity',
    is: 'warn',
    when: 'it is no GKE',
    flags: {cloud: 'other', 'workload-identity': 'gke'},
  },
  {
    id: 'workload-identity',
    is: 'fail',
    when: 'the agent of EKS is missing',
    flags: {'workload-identity': 'eks-pod-identity'},
    cluster: eks,
  },
  {
    id: 'workload-identity',
    is: 'pass',
    when: 'the agent of EKS runs',
    flags: {'workload-identity': 'eks-pod-identity'},
    cluster: withSets(eks, 'eks-pod-identity-agent'),
  },
  {
    id: 'workload-identity',
    is: 'pass',
    when: 'EKS does it itself',
    flags: {
      'workload-identity': 'irsa',
      'service-account-annotation': ['eks.amazonaws.com/role-arn=arn'],
    },
    cluster: eks,
  },
  {
    id: 'workload-identity',
    is: 'skip',
    when: 'AKS may or may not',
    flags: {
      'workload-identity': 'azure',
      'service-account-annotation': ['azure.workload.identity/client-id=id'],
    },
  },
  {
    id: 'workload-identity',
    is: 'skip',
    when: 'nodes are refused',
    flags: {'workload-identity': 'gke'},
    cluster: {...gke, refuse: ['nodes']},
  },

  {id: 'no-proxy-services', is: 'nothing', when: 'there is no proxy'},
  {id: 'no-proxy-services', is: 'pass', when: 'the cluster gave its networks', flags: proxy},
  {
    id: 'no-proxy-services',
    is: 'pass',
    when: 'a larger network is listed',
    flags: {...proxy, 'no-proxy': '10.0.0.0/8'},
  },
  {
    id: 'no-proxy-services',
    is: 'warn',
    when: 'others are listed',
    flags: {...proxy, 'no-proxy': '.example.com,10.1.0.0/16'},
  },
  {
    id: 'no-proxy-services',
    is: 'skip',
    when: 'they are refused',
    flags: proxy,
    cluster: {...ORDINARY, refuse: ['servicecidrs.networking.k8s.io', 'configmaps']},
  },

  {
    id: 'no-proxy-pods',
    is: 'pass',
    when: 'their network is listed',
    flags: {...proxy, 'no-proxy': '10.244.0.0/16'},
  },
  {id: 'no-proxy-pods', is: 'warn', when: 'those of the nodes are not listed', flags: proxy},
  {
    id: 'no-proxy-pods',
    is: 'skip',
    when: 'nodes are refused',
    flags: proxy,
    cluster: {...ORDINARY, refuse: ['nodes', 'configmaps']},
  },
]);

test.each([
  ['10.0.0.0/8', '10.96.0.0/16', true],
  ['10.96.0.0/16', '10.96.0.0/16', true],
  ['10.96.0.0/16', '10.0.0.0/8', false],
  ['10.96.0.0/16', '10.97.0.0/16', false],
  ['0.0.0.0/0', '10.97.0.0/16', true],
  ['172.16.0.0/12', '172.31.255.0/24', true],
  ['FD00::/64', 'fd00::/64', true],
  ['.example.com', '10.0.0.0/8', false],
  ['10.0.0.0', '10.0.0.0/8', false],
])('%s covers %s: %s', (outer, inner, expected) => {
  expect(covers(outer, inner)).toBe(expected);
});
