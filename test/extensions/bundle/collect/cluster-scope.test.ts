import {expect, test} from 'vitest';
import type {ChartName} from '../../../../src/charts/releases/chart-name.ts';
import type {ApiResult} from '../../../../src/cluster/kubernetes/client.ts';
import type {KubernetesObject} from '../../../../src/cluster/kubernetes/objects.ts';
import type {NodeObject} from '../../../../src/cluster/platform/readings.ts';
import {
  objectFiles,
  readEnforcement,
} from '../../../../src/extensions/bundle/collect/read-objects.ts';
import {policyFindings} from '../../../../src/extensions/bundle/findings.ts';
import {BundlePositions} from '../../../../src/extensions/bundle/positions.ts';

const signal = new AbortController().signal;
const policy: KubernetesObject & {spec: object} = {
  kind: 'NetworkPolicy',
  metadata: {name: 'mine-network-policy', annotations: {'meta.helm.sh/release-name': 'mine'}},
  spec: {podSelector: {}},
};
const set = (name: string, more: object = {}): object => ({
  metadata: {name, namespace: 'kube-system'},
  status: {desiredNumberScheduled: 1},
  ...more,
});
const node = (annotations: Record<string, string> = {}, more: object = {}): NodeObject => ({
  metadata: {name: 'n', annotations},
  ...more,
});
const refused: ApiResult = {error: {kind: 'forbidden', message: 'you may not'}};

interface Cluster {
  sets?: readonly object[] | ApiResult;
  cilium?: Record<string, string>;
  nodes?: readonly NodeObject[];
  all?: readonly NodeObject[];
  server?: string;
}

async function enforcement(
  {sets = [], cilium, nodes = [node()], all = nodes, server = 'v1.35.1'}: Cluster,
  objects: readonly KubernetesObject[] = [policy],
) {
  const asked: string[] = [];
  const list = (items: readonly unknown[]): ApiResult => ({
    status: 200,
    body: {items, metadata: {}},
  });
  const api = {
    async get(path: string): Promise<ApiResult> {
      asked.push(path.replace(/\?.*/, ''));
      if (path.startsWith('/apis/apps/v1/daemonsets?'))
        return Array.isArray(sets) ? list(sets) : (sets as ApiResult);
      if (path.startsWith('/api/v1/nodes?')) return list(all);
      if (path.endsWith('/cilium-config'))
        return cilium
          ? {status: 200, body: {data: cilium}}
          : {error: {kind: 'not-found', message: 'none'}};
      throw new Error(`nobody should ask for ${path}`);
    },
  };
  return {read: await readEnforcement(objects, {nodes, server}, {api, signal}), asked};
}

async function find(cluster: Cluster, chart: ChartName = 'agent-job', version = '0.6.5') {
  const {read} = await enforcement(cluster);
  if (read === undefined) throw new Error('nothing was read');
  const texts = [read.file, ...objectFiles([policy], () => (value) => value)];
  const found = policyFindings(
    {name: 'mine', chart, version},
    [policy],
    read,
    new BundlePositions(texts, new Set(), []),
  );
  const {file, line = 0} = found[0]?.evidence ?? {file: ''};
  return {
    found,
    said: texts.find(({name}) => name === file)?.text.split('\n')[line - 1],
    file: JSON.parse(read.file.text),
  };
}

test('a policy that nothing enforces stands out, with what runs the network', async () => {
  const {found, said, file} = await find({sets: [set('kube-flannel-ds')]});
  expect(found).toEqual([
    {
      verdict: 'warning',
      code: 'POLICY_NOT_ENFORCED',
      subject: {object: 'networkpolicy/mine-network-policy'},
      message: expect.stringMatching(
        /^NetworkPolicies are not enforced \(DaemonSet kube-flannel-ds: flannel without a policy engine\)/,
      ),
      evidence: {file: 'network.json', line: expect.any(Number)},
      remedies: [
        expect.objectContaining({text: expect.stringContaining('Enable a network policy engine')}),
      ],
    },
  ]);
  expect(said).toContain('"areEnforced"');
  expect(file.cni.value).toEqual({plugin: 'flannel', policyEngine: 'none'});
});

test('so does one of Cilium that is told to enforce nothing, and the VPC CNI with its agent off', async () => {
  expect(
    (await find({sets: [set('cilium')], cilium: {'enable-policy': 'never'}})).found,
  ).toMatchObject([{code: 'POLICY_NOT_ENFORCED'}]);
  expect((await find({sets: [set('aws-node')]})).found).toMatchObject([
    {code: 'POLICY_NOT_ENFORCED'},
  ]);
});

test('one that does not cover runs stands out by its selector, and one that upstream measured to do nothing', async () => {
  const {found, said} = await find({sets: [set('cilium')]}, 'agent-k8s');
  expect(found).toMatchObject([
    {
      code: 'POLICY_MISSES_RUNS',
      evidence: {file: 'objects/networkpolicy/mine-network-policy.json'},
    },
  ]);
  expect(said).toContain('"podSelector"');
  const gke = await find({
    sets: [set('calico-node')],
    nodes: [node({}, {spec: {providerID: 'gce://p/z/n'}})],
    server: 'v1.35.1-gke.100',
  });
  expect(gke.found).toMatchObject([
    {code: 'POLICY_WITHOUT_EFFECT', evidence: {file: 'network.json'}},
  ]);
  expect(gke.said).toContain('"blockMetadata"');
});

test.each([
  ['is enforced', {sets: [set('anetd')], nodes: [node({}, {spec: {providerID: 'gce://p/z/n'}})]}],
  ['is enforced by something that upstream did not measure', {sets: [set('calico-node')]}],
  ['may not be judged', {sets: refused}],
  ['cannot be judged', {sets: []}],
])('nothing is said where it %s', async (_, cluster) =>
  expect((await find(cluster)).found).toEqual([]));

test('servers of k3s know, and they are asked where agents run on other nodes', async () => {
  const flannel = {'flannel.alpha.coreos.com/backend-type': 'vxlan'};
  const worker = node({...flannel, 'k3s.io/node-args': '["agent"]'});
  const server = (args: string) => node({...flannel, 'k3s.io/node-args': args});
  expect((await find({nodes: [worker], all: [worker, server('["server"]')]})).found).toEqual([]);
  expect(
    (await find({nodes: [worker], all: [worker, server('["server","--disable-network-policy"]')]}))
      .found,
  ).toMatchObject([{code: 'POLICY_NOT_ENFORCED'}]);
});

test('the cluster is only asked about a policy of the release, and a refusal is recorded', async () => {
  expect(await enforcement({}, [])).toEqual({read: undefined, asked: []});
  const {read, asked} = await enforcement({sets: refused});
  expect(asked).not.toContain('/api/v1/nodes');
  expect(read?.gaps).toMatchObject([
    {what: expect.stringMatching(/^DaemonSets of the cluster/), isMinor: true},
  ]);
});
