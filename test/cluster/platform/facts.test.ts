import {describe, expect, test} from 'vitest';
import {answersFromFacts} from '../../../src/answers/discovered.ts';
import type {KubernetesClient} from '../../../src/cluster/kubernetes/client.ts';
import {
  type ClusterFacts,
  clusterFactsOf,
  recommendFactsOf,
} from '../../../src/cluster/platform/cluster-facts.ts';
import {readCluster} from '../../../src/cluster/platform/readings.ts';
import {type Fact, isKnown, knownValue} from '../../../src/ground/fact.ts';
import {failingKubernetes, fakeKubernetes} from '../../support/fake-kubernetes.ts';
import {
  type FakeCluster,
  fakeAccess,
  fakeProcesses,
  type PlatformName,
  platform,
  processesOf,
} from './fake-cluster.ts';

const factsOf = async (cluster: FakeCluster, namespace = 'scalr'): Promise<ClusterFacts> =>
  clusterFactsOf(await readCluster({namespace}, fakeAccess(cluster)));

type Changed = Partial<Omit<FakeCluster, 'objects'>> & {
  objects?: (all: FakeCluster['objects']) => FakeCluster['objects'];
};

const changed = (name: PlatformName, {objects, ...rest}: Changed): FakeCluster => {
  const cluster = platform(name);
  return {...cluster, ...rest, objects: objects?.(cluster.objects) ?? cluster.objects};
};

const without =
  (...names: string[]) =>
  (all: FakeCluster['objects']) =>
    all.filter(({metadata}) => !names.includes(metadata.name));
const withMore =
  (...more: object[]) =>
  (all: FakeCluster['objects']): FakeCluster['objects'] => [
    ...all,
    ...(more as FakeCluster['objects']),
  ];
const daemonSet = (name: string, more: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: {namespace: 'kube-system', name},
  ...more,
});
const node = (
  name: string,
  {labels, ...more}: {labels?: Record<string, string>; spec?: object; status?: object} = {},
) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {name, labels},
  ...more,
});
const reason = (fact: Fact<unknown>): string =>
  isKnown(fact) ? `known: ${JSON.stringify(fact.value)}` : fact.unknown;
const bare: FakeCluster = {serverVersion: 'v1.35.0', resources: [], objects: []};

describe('what is refused is unknown, and says so', () => {
  test('nodes', async () => {
    const facts = await factsOf(changed('kind', {refuse: ['nodes']}));
    expect(facts.nodes).toEqual({
      unknown: 'forbidden',
      because:
        'nodes is forbidden: User "jane" cannot list resource "nodes" in API group "" at the cluster scope',
    });
    for (const fact of [
      facts.versions.kubelets,
      facts.versions.oldest,
      facts.platform.cloud,
      facts.nodeSystems.ofWorkers,
      facts.networks.podsOfNodes,
    ])
      expect(reason(fact)).toBe('forbidden');
    expect(knownValue(facts.versions.server)).toBe('v1.34.0');
    expect(reason(facts.cni)).toContain('kindnet');
    expect(answersFromFacts(facts).map(({setting}) => setting.id)).toEqual(['no-proxy']);
  });

  test('nodes of a provider that the server or its resources tell all the same', async () => {
    const cloudOf = async (name: PlatformName) =>
      knownValue((await factsOf(changed(name, {refuse: ['nodes']}))).platform.cloud);
    expect(await cloudOf('gke-autopilot')).toBe('gke-autopilot');
    expect(await cloudOf('eks-al2023')).toBe('eks');
    expect(await cloudOf('openshift')).toBe('openshift');
    // Standard or Autopilot: only what an Autopilot cluster alone serves would tell.
    expect(await cloudOf('gke-standard')).toBe(undefined);
  });

  test('daemon sets', async () => {
    const facts = await factsOf(changed('aks', {refuse: ['daemonsets.apps']}));
    for (const fact of [
      facts.cni,
      facts.networkPolicies.areEnforced,
      facts.networkPolicies.blockMetadata,
    ])
      expect(reason(fact)).toBe('forbidden');
    expect(knownValue(facts.platform.cloud)).toBe('aks');
  });

  test('storage classes', async () => {
    expect(
      reason(
        (await factsOf(changed('aks', {refuse: ['storageclasses.storage.k8s.io']}))).storageClasses,
      ),
    ).toBe('forbidden');
  });

  test('namespaces, services, deployments and config maps of kube-system', async () => {
    const refuse = [
      'namespaces',
      'services',
      'deployments.apps',
      'configmaps',
      'servicecidrs.networking.k8s.io',
    ];
    const facts = await factsOf(changed('kind', {refuse}));
    for (const fact of [
      facts.policies.podSecurity,
      facts.forbidsHostPath,
      facts.networks.pods,
      facts.networks.services,
    ])
      expect(reason(fact)).toBe('forbidden');
    expect(knownValue(facts.platform.distribution)).toBe('kind');
  });

  test('the kubelets of GKE', async () => {
    const facts = await factsOf(changed('gke-standard', {refuse: ['nodes/proxy']}));
    expect(reason(facts.dns.usesMetadataAddress)).toBe('forbidden');
  });

  test('releases: those of the namespace where no more may be seen, else none', async () => {
    const releases = [
      {name: 'here', namespace: 'scalr', status: 'deployed', chart: 'agent-k8s-0.6.5'},
      {name: 'there', namespace: 'other', status: 'failed', chart: 'agent-job-0.6.4'},
      {name: 'web', namespace: 'scalr', status: 'deployed', chart: 'nginx-1.0.0'},
    ];
    const named = (facts: ClusterFacts) =>
      knownValue(facts.releases)?.releases.map(
        ({name, chart, version}) => `${name} ${chart} ${version}`,
      );
    const all = await factsOf({...bare, releases});
    expect(knownValue(all.releases)?.scope).toBe('cluster');
    expect(named(all)).toEqual(['here agent-k8s 0.6.5', 'there agent-job 0.6.4']);
    const some = await factsOf({...bare, releases, refuse: ['secrets']});
    expect(knownValue(some.releases)?.scope).toBe('namespace');
    expect(named(some)).toEqual(['here agent-k8s 0.6.5']);
    expect(
      reason(
        (await factsOf({...bare, releases, refuse: ['secrets', 'secrets of the namespace']}))
          .releases,
      ),
    ).toBe('forbidden');
  });
});

describe('when nothing answers', () => {
  const reasons = async (
    kubernetes: KubernetesClient,
    processes = fakeProcesses(bare),
  ): Promise<string[]> => {
    const {
      versions,
      platform: is,
      nodes,
      cni,
      storageClasses,
      networks,
      releases,
      definitions,
    } = clusterFactsOf(await readCluster({namespace: 'scalr'}, {kubernetes, processes}));
    return [
      ...new Set(
        [
          versions.server,
          is.cloud,
          nodes,
          cni,
          storageClasses,
          networks.services,
          releases,
          definitions,
        ].map(reason),
      ),
    ];
  };

  test.each([
    [{kind: 'stalled', message: 'no response for 5 s'}, 'timed-out'],
    [{kind: 'unreachable', message: 'dial tcp 10.0.0.1:443: i/o timeout'}, 'timed-out'],
    [{kind: 'unreachable', message: 'dial tcp 127.0.0.1:1: connect: connection refused'}, 'failed'],
    [{kind: 'unreachable', message: 'kubectl not found on PATH.'}, 'failed'],
    [{kind: 'not-logged-in', message: 'Unauthorized', status: 401}, 'not-logged-in'],
    [{kind: 'server', message: '', status: 500}, 'failed'],
  ] as const)('%j', async (error, expected) => {
    expect(await reasons(failingKubernetes(error))).toEqual([expected]);
  });

  test('a bug is no missing fact', async () => {
    const broken = processesOf(async () => {
      throw new TypeError('x is not a function');
    });
    await expect(
      readCluster({namespace: 'scalr'}, {...fakeAccess(bare), processes: broken}),
    ).rejects.toThrow(TypeError);
  });

  test('whoever still waits is interrupted once nobody has answered', async () => {
    const interrupted: string[] = [];
    const untilOver = async <T>(
      what: string,
      signal: AbortSignal | undefined,
      answer: T,
    ): Promise<T> => {
      await new Promise((resolve) => signal?.addEventListener('abort', resolve));
      interrupted.push(what);
      return answer;
    };
    const late = {error: {kind: 'aborted', message: 'interrupted'}} as const;
    const kubernetes: KubernetesClient = {
      ...fakeKubernetes(),
      get: async (path, {signal}) =>
        path === '/version'
          ? {error: {kind: 'stalled', message: 'no response for 5 s'}}
          : untilOver(path.split('?')[0] as string, signal, late),
    };
    expect(await reasons(kubernetes)).toEqual(['timed-out']);
    expect(interrupted).toEqual(
      expect.arrayContaining(['/api/v1/secrets', '/apis', '/api/v1/nodes']),
    );
  });

  test('a version that is kept secret hides nothing else', async () => {
    const cluster = platform('kind');
    const message = 'forbidden: User "x" cannot get path "/version"';
    const kubernetes = fakeKubernetes({
      ...cluster,
      errors: (path) =>
        path === '/version' ? {kind: 'forbidden', message, status: 403} : undefined,
    });
    const facts = clusterFactsOf(
      await readCluster({namespace: 'scalr'}, {kubernetes, processes: fakeProcesses(cluster)}),
    );
    expect([facts.versions.server, facts.versions.oldest].map(reason)).toEqual([
      'forbidden',
      'forbidden',
    ]);
    expect(knownValue(facts.platform.distribution)).toBe('kind');
  });
});

describe('mixed and unusual clusters', () => {
  test('Windows nodes and nodes kept for the control plane take no runs', async () => {
    const facts = await factsOf(platform('aks'));
    expect(knownValue(facts.nodeSystems.ofWorkers)).toBe('ubuntu');
    expect(knownValue(facts.nodes)?.map(({name, os, pool}) => [name, os, pool])).toEqual([
      ['aks-newpool-20956280-vmss000000', 'linux', 'newpool'],
      ['akswin000000', 'windows', 'win'],
    ]);
  });

  test('nodes of two systems leave the setting open', async () => {
    const arm = node('arm', {
      labels: {'kubernetes.io/arch': 'arm64'},
      status: {nodeInfo: {osImage: 'Bottlerocket OS 1.44.0 (aws-k8s-1.33)'}},
    });
    const facts = await factsOf(changed('eks-al2023', {objects: withMore(arm)}));
    expect(facts.nodeSystems.ofWorkers).toEqual({
      unknown: 'undetermined',
      because: 'the nodes have different operating systems: al2023, bottlerocket',
    });
    expect(knownValue(facts.nodes)?.map(({architecture}) => architecture)).toEqual([
      'amd64',
      'arm64',
    ]);
    expect(answersFromFacts(facts).map(({setting}) => setting.id)).toEqual(['cloud', 'no-proxy']);
  });

  test.each([
    ['Amazon Linux 2', 'al2'],
    ['Amazon Linux 2023.8.20250908', 'al2023'],
    ['Bottlerocket (EKS Auto, Standard) 2025.9.2 (aws-k8s-1.33-standard)', 'bottlerocket'],
    ['Container-Optimized OS from Google', 'cos'],
    ['Ubuntu 24.04.3 LTS', 'ubuntu'],
    ['Microsoft Azure Linux 3.0', 'other'],
    ['Talos (v1.11.0)', 'other'],
  ])('%s', async (osImage, expected) => {
    const facts = await factsOf({
      ...bare,
      objects: withMore(node('one', {status: {nodeInfo: {osImage}}}))([]),
    });
    expect(knownValue(facts.nodeSystems.ofWorkers)).toBe(expected);
  });

  test('some nodes in Autopilot mode make no Autopilot cluster', async () => {
    const spec = {providerID: 'gce://p/z/gk3-one'};
    const facts = await factsOf(
      changed('gke-standard', {objects: withMore(node('gk3-one', {spec}))}),
    );
    expect(knownValue(facts.platform.cloud)).toBe('gke');
  });

  test('an idle Autopilot cluster has no nodes', async () => {
    const facts = await factsOf(
      changed('gke-autopilot', {objects: (all) => all.filter(({kind}) => kind !== 'Node')}),
    );
    expect(knownValue(facts.platform.cloud)).toBe('gke-autopilot');
    expect(reason(facts.nodeSystems.ofWorkers)).toBe('undetermined');
  });

  test.each([
    ['auto', 'auto-mode'],
    ['fargate', 'fargate'],
    ['hybrid', 'hybrid'],
  ])('EKS with compute type %s', async (type, expected) => {
    const objects = withMore(node('one', {labels: {'eks.amazonaws.com/compute-type': type}}))([]);
    expect(knownValue((await factsOf({...bare, objects})).platform.flavor)).toBe(expected);
  });

  test('a cluster on EC2 that is no EKS', async () => {
    const objects = withMore(
      node('one', {
        spec: {providerID: 'aws:///eu-west-1a/i-1'},
        status: {nodeInfo: {kubeletVersion: 'v1.34.1'}},
      }),
    )([]);
    const {platform: is} = await factsOf({...bare, objects});
    expect([is.cloud, is.distribution, is.infrastructure].map(knownValue)).toEqual([
      'other',
      'unrecognized',
      'aws',
    ]);
  });

  test.each([
    ['GKE on AWS', 'v1.29.5-gke.800', 'aws:///eu-west-1a/i-1', 'aws'],
    ['EKS Anywhere', 'v1.31.4-eks-2d5f260', 'vsphere://4207a1b2', 'vsphere'],
  ])('%s is not the service of that cloud', async (_, serverVersion, providerID, infrastructure) => {
    const {platform: is} = await factsOf({
      ...bare,
      serverVersion,
      objects: withMore(node('one', {spec: {providerID}}))([]),
    });
    expect([is.cloud, is.infrastructure].map(knownValue)).toEqual(['other', infrastructure]);
  });

  test('an empty cluster says little', async () => {
    const facts = await factsOf(bare);
    const few = [facts.platform.cloud, facts.nodeSystems.ofWorkers, facts.cni, facts.networks.pods];
    expect(few.map(reason)).toEqual(few.map(() => 'undetermined'));
    expect(reason(facts.networks.services)).toBe('undetermined');
    expect(knownValue(facts.storageClasses)).toEqual([]);
    expect(answersFromFacts(facts)).toEqual([]);
    expect(recommendFactsOf(facts)).toEqual({
      kubernetes: {found: [{machines: 'control plane', version: 'v1.35.0'}], isComplete: false},
    });
  });

  test('what the choice of a chart depends on', async () => {
    expect(recommendFactsOf(await factsOf(platform('openshift')))).toEqual({
      kubernetes: {
        found: [
          {machines: 'control plane', version: 'v1.31.6'},
          {machines: '2 nodes', version: 'v1.31.6'},
        ],
        isComplete: true,
      },
      forbidsHostPath: true,
    });
  });

  test('kubelets older than the server', async () => {
    const objects = ['v1.35.1', 'v1.33.9', 'v1.33.10'].map((kubeletVersion, at) =>
      node(`n${at}`, {status: {nodeInfo: {kubeletVersion}}}),
    );
    const {versions} = await factsOf({
      ...bare,
      serverVersion: 'v1.35.1',
      objects: withMore(...objects)([]),
    });
    expect(knownValue(versions.oldest)).toBe('1.33.9');
    expect(knownValue(versions.kubelets)).toEqual({'v1.35.1': 1, 'v1.33.9': 1, 'v1.33.10': 1});
  });
});

describe('network policies, by what enforces them', () => {
  const policies = async (cluster: FakeCluster): Promise<unknown[]> => {
    const {cni, networkPolicies} = await factsOf(cluster);
    const seen = knownValue(cni);
    return [
      seen && `${seen.plugin}/${seen.policyEngine}`,
      knownValue(networkPolicies.areEnforced),
      knownValue(networkPolicies.blockMetadata),
    ];
  };
  const on = (...names: string[]): FakeCluster => ({
    ...bare,
    objects: withMore(...names.map((name) => daemonSet(name)))([]),
  });
  const awsNode = (args: readonly string[], annotates = 'false') =>
    daemonSet('aws-node', {
      spec: {
        template: {
          spec: {
            containers: [
              {name: 'aws-node', env: [{name: 'ANNOTATE_POD_IP', value: annotates}]},
              {name: 'aws-eks-nodeagent', args},
            ],
          },
        },
      },
    });

  test.each([
    ['plain flannel enforces nothing', on('kube-flannel-ds'), ['flannel/none', false, false]],
    [
      'Cilium by itself was never measured',
      on('cilium', 'kube-proxy'),
      ['cilium/cilium', true, undefined],
    ],
    ['Calico', on('calico-node'), ['calico/calico', true, undefined]],
    ['Canal', on('rke2-canal'), ['canal/canal', true, undefined]],
    ['Azure NPM', on('azure-npm', 'azure-ip-masq-agent'), ['azure-cni/azure-npm', true, undefined]],
    ['Azure CNI without a policy engine', on('azure-cns'), ['azure-cni/none', false, false]],
    ['no plugin that is known', on('some-cni'), [undefined, undefined, undefined]],
    [
      'Calico on GKE Dataplane V1, measured as not blocking',
      changed('gke-standard', {objects: withMore(daemonSet('calico-node'))}),
      ['gke-dataplane-v1/calico', true, false],
    ],
    [
      'Dataplane V2',
      changed('gke-standard', {objects: withMore(daemonSet('anetd'))}),
      ['gke-dataplane-v2/cilium', true, true],
    ],
    [
      "one's own Cilium on GKE",
      changed('gke-standard', {objects: withMore(daemonSet('cilium'))}),
      ['gke-dataplane-v1/cilium', true, undefined],
    ],
    [
      'what is left behind with no node to run on',
      changed('gke-standard', {
        objects: withMore(daemonSet('anetd', {status: {desiredNumberScheduled: 0}})),
      }),
      ['gke-dataplane-v1/none', false, false],
    ],
    [
      'VPC CNI alone',
      {...bare, objects: withMore(awsNode(['--enable-network-policy=false']))([])},
      ['aws-vpc-cni/none', false, false],
    ],
    [
      'VPC CNI with Calico that does not see addresses in time',
      {...bare, objects: withMore(awsNode([]), daemonSet('calico-node'))([])},
      ['aws-vpc-cni/calico', true, undefined],
    ],
  ] as [string, FakeCluster, unknown[]][])('%s', async (_, cluster, expected) => {
    expect(await policies(cluster)).toEqual(expected);
  });

  test('Cilium that is told never to', async () => {
    const config = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {namespace: 'kube-system', name: 'cilium-config'},
      data: {'enable-policy': 'never'},
    };
    const cluster = changed('aks', {
      objects: (all) => withMore(config)(without('cilium-config')(all)),
    });
    expect(await policies(cluster)).toEqual(['azure-cni/cilium', false, false]);
  });

  test('kindnet before it could', async () => {
    const old = daemonSet('kindnet', {
      spec: {
        template: {
          spec: {containers: [{name: 'kindnet-cni', image: 'kindest/kindnetd:v20240513-cbed9d7b'}]},
        },
      },
    });
    expect(
      await policies(changed('kind', {objects: (all) => withMore(old)(without('kindnet')(all))})),
    ).toEqual(['kindnet/none', false, false]);
  });

  test('k3s without its controller, and where no server shows', async () => {
    const annotated = (name: string, args: string[]): object => ({
      ...node(name, {spec: {providerID: `k3s://${name}`}}),
      metadata: {
        name,
        annotations: {
          'flannel.alpha.coreos.com/backend-type': 'vxlan',
          'k3s.io/node-args': JSON.stringify(args),
        },
      },
    });
    const objects = (...nodes: object[]) => ({...bare, objects: withMore(...nodes)([])});
    expect(
      await policies(
        objects(annotated('s', ['server', '--disable-network-policy']), annotated('a', ['agent'])),
      ),
    ).toEqual(['flannel/none', false, false]);
    expect(await policies(objects(annotated('a', ['agent'])))).toEqual([
      'flannel/unknown',
      undefined,
      undefined,
    ]);
  });
});

test('Cloud DNS at the metadata address, which the policy of the charts would cut off', async () => {
  const {dns} = await factsOf(changed('gke-standard', {kubeletDns: ['169.254.169.254']}));
  expect(knownValue(dns.usesMetadataAddress)).toBe(true);
  const behindCache = await factsOf(changed('gke-standard', {kubeletDns: ['169.254.20.10']}));
  expect(knownValue(behindCache.dns.usesMetadataAddress)).toBe(false);
});

test('the level that Pod Security enforces in the namespace', async () => {
  const objects = withMore({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {name: 'scalr', labels: {'pod-security.kubernetes.io/enforce': 'baseline'}},
  })([]);
  const {policies, forbidsHostPath} = await factsOf({...bare, objects});
  expect(knownValue(policies.podSecurity)).toBe('baseline');
  expect(knownValue(forbidsHostPath)).toBe(true);
});

test('generations of the definitions of agent-job', async () => {
  const facts = await factsOf({
    ...bare,
    resources: ['atasks.scalr.io', 'agenttasktemplates.scalr.io'],
  });
  expect(knownValue(facts.definitions)).toEqual(['atasks.scalr.io', 'agenttasktemplates.scalr.io']);
});

test('no secret of a release is in the facts', async () => {
  const releases = [
    {name: 'agent', namespace: 'scalr', status: 'deployed', chart: 'agent-local-0.6.5'},
  ];
  const values = {
    agent: {
      token: 'hunter2',
      clientKey: '-----BEGIN hunter2',
      tokenExistingSecret: {name: 'scalr', key: 'token-key'},
      tls: {clientCertSecret: {keyKey: 'tls.key'}},
    },
    global: {proxy: {https: 'http://jane:hunter2@proxy.example.com:3128'}},
    extraEnv: {AWS_SECRET_ACCESS_KEY: 'hunter2'},
    task: {
      runner: {
        extraEnv: [
          {name: 'TF_VAR_x', value: 'hunter2'},
          {name: 'REF', valueFrom: {secretKeyRef: {name: 'a', key: 'b'}}},
        ],
      },
    },
    serviceAccount: {automountToken: true},
    replicaCount: 3,
  };
  const facts = await factsOf({...bare, releases, values: {agent: values}});
  expect(JSON.stringify(facts)).not.toContain('hunter2');
  const shown = knownValue(facts.releases)?.releases[0]?.values as Fact<Record<string, unknown>>;
  expect(knownValue(shown)).toMatchObject({
    agent: {token: '[hidden]', tokenExistingSecret: {name: 'scalr', key: 'token-key'}},
    extraEnv: {AWS_SECRET_ACCESS_KEY: '[hidden]'},
    task: {
      runner: {
        extraEnv: [{name: 'TF_VAR_x', value: '[hidden]'}, {valueFrom: {secretKeyRef: {key: 'b'}}}],
      },
    },
    serviceAccount: {automountToken: true},
    replicaCount: 3,
  });
});

test('every fact is plain JSON with a source or a reason', async () => {
  const facts = await factsOf(platform('openshift'));
  expect(JSON.parse(JSON.stringify(facts))).toEqual(facts);
  const walk = (tree: unknown): void => {
    if (typeof tree !== 'object' || tree === null) return;
    if ('source' in tree) expect(tree.source).toMatch(/\w/);
    else if ('unknown' in tree)
      expect((tree as {because?: unknown} & object).because).toMatch(/\w/);
    else for (const each of Object.values(tree)) walk(each);
  };
  walk(facts);
  expect((facts.platform.cloud as {source: string}).source).toBe(
    'API resource clusterversions.config.openshift.io',
  );
});
