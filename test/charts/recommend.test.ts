import {expect, test} from 'vitest';
import {type ChartRequirements, recommend} from '../../src/charts/recommend.ts';
import {url} from '../../src/settings/agent.ts';
import {certificates} from '../support/certificates.ts';
import {type RawFlags, settingsFrom} from '../support/settings-from.ts';

/** A cluster with one node of this version, and a newer control plane. */
const clusterWith = (version: string): ChartRequirements => ({
  kubernetes: {
    found: [
      {machines: 'control plane', version: 'v1.36.0'},
      {machines: '1 node', version},
    ],
    isComplete: true,
  },
});

const recommended = async (flags: RawFlags, oldestKubernetes?: string) =>
  recommend(
    await settingsFrom(flags, certificates, [url]),
    oldestKubernetes === undefined ? {} : clusterWith(oldestKubernetes),
  );

test.each<[RawFlags, string | undefined, string]>([
  [{}, undefined, 'agent-local'],
  [{purpose: 'vcs'}, undefined, 'agent-local'],
  [{isolation: 'shared'}, '1.35.4', 'agent-local'],
  [{isolation: 'per-run'}, undefined, 'agent-job'],
  [{load: 'steady'}, '1.35.4', 'agent-local'],
  [{load: 'bursty'}, '1.35.4', 'agent-job'],
  [{load: 'bursty'}, undefined, 'agent-job'],
  [{load: 'bursty'}, '1.34.9', 'agent-local'],
  [{isolation: 'per-run'}, '1.35.4', 'agent-job'],
  [{isolation: 'per-run'}, '1.34.9', 'agent-k8s'],
  [{isolation: 'per-run', 'single-run': true}, '1.34.9', 'agent-local'],
  [{'single-run': true}, '1.35.4', 'agent-local'],
  [{isolation: 'per-run', cloud: 'gke-autopilot'}, undefined, 'agent-job'],
  [{'efs-handle': 'fs-0123456789abcdef0'}, undefined, 'agent-k8s'],
  [{'ca-scope': 'tasks', 'ca-file': 'ca.pem'}, undefined, 'agent-k8s'],
  [{cache: 'hostpath', 'cache-path': '/mnt/cache'}, undefined, 'agent-job'],
  [{'workload-identity': 'azure'}, undefined, 'agent-job'],
])('recommends for %j on Kubernetes %s: %s', async (flags, kubernetes, chart) => {
  expect((await recommended(flags, kubernetes)).chart).toBe(chart);
});

test('gives old nodes as the reason', async () => {
  const {rejected} = await recommended({}, '1.33.1');
  const job = rejected.find(({chart}) => chart === 'agent-job');
  expect(job?.reasons).toContainEqual(
    expect.objectContaining({
      verdict: 'excluded',
      message: expect.stringContaining(
        '1.35 or newer on the control plane and on all nodes. Older: 1 node (1.33.1).',
      ),
    }),
  );
});

test.each([
  [undefined, 1],
  ['1.35.0', 0],
  ['1.34.9', 0],
])('asks to check the Kubernetes version only while it is unknown: %s', async (kubernetes, count) => {
  const {rejected, ...best} = await recommended({isolation: 'per-run'}, kubernetes);
  const job = [best, ...rejected].find(({chart}) => chart === 'agent-job');
  expect(
    job?.reasons.filter(({message}) => message.includes('Check with `kubectl get nodes`')),
  ).toHaveLength(count);
});

test('suggests --single-run for per-run isolation unless it is set', async () => {
  const offered = async (flags: RawFlags): Promise<boolean> => {
    const {rejected, ...best} = await recommended(flags, '1.34.9');
    return [best, ...rejected].some(({reasons}) =>
      reasons.some(({message}) => message.includes('With --single-run')),
    );
  };
  expect(await offered({isolation: 'per-run'})).toBe(true);
  expect(await offered({isolation: 'per-run', 'single-run': true})).toBe(false);
  expect(await offered({isolation: 'shared'})).toBe(false);
});

test('excludes agent-k8s on GKE Autopilot', async () => {
  const {rejected} = await recommended({cloud: 'gke-autopilot'});
  const k8s = rejected.find(({chart}) => chart === 'agent-k8s');
  expect(k8s?.reasons[0]).toMatchObject({
    verdict: 'excluded',
    message: expect.stringContaining('hostPath'),
  });
});

test('excludes agent-k8s without hostPath', async () => {
  const settings = await settingsFrom({'ca-scope': 'tasks', 'ca-file': 'ca.pem'}, certificates, [
    url,
  ]);
  expect(() => recommend(settings, {forbidsHostPath: true})).toThrow('which this cluster forbids');
});

test('gives a source for every reason', async () => {
  const {reasons, rejected} = await recommended({cloud: 'openshift', cache: 'pvc'});
  for (const {source} of [...reasons, ...rejected.flatMap((each) => each.reasons)])
    expect(source).toMatch(/agent-/);
});
