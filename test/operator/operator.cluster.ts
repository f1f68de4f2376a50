import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {afterAll, beforeAll, expect, inject, test} from 'vitest';
import {findKubectl, kubectlFor} from '../cluster/kubectl.ts';
import {type Cluster, startCluster} from '../cluster/start-cluster.ts';
import {REAL} from '../helm/charts-under-test.ts';
import type {Get} from './kubernetes-state.ts';
import {FOUND} from './kubernetes-steps.ts';
import {chartDirectory, kubernetesWorld} from './kubernetes-world.ts';
import {operate} from './operate.ts';
import {play} from './sequence.ts';

let cluster: Cluster | undefined;
let proxy: ChildProcess | undefined;
let server = '';
const kubeconfig = (): string => cluster?.kubeconfig ?? inject('kubeconfig');

/** A cluster of its own, because CRDs belong to the cluster: other tests delete them. */
beforeAll(async () => {
  if (inject('simulated')) cluster = await startCluster();
  const started = spawn(await findKubectl(), ['proxy', '--port=0', '--kubeconfig', kubeconfig()], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  proxy = started;
  const [line] = await Promise.race([once(started.stdout, 'data'), once(started, 'exit')]);
  await inUse();
  server = /127\.0\.0\.1:\d+/.exec(String(line))?.[0] ?? '';
});
afterAll(async () => {
  proxy?.kill();
  await cluster?.stop();
});

/** Somebody in another namespace uses the CRDs of all chart versions, so nobody may delete them. */
async function inUse(): Promise<void> {
  const kubectl = await kubectlFor(kubeconfig());
  const charts = await Promise.all(
    ['0.5.63', '0.5.67', '0.6.5'].map((version) => chartDirectory('agent-job', version)),
  );
  // Helm applies CRDs too, and would conflict with any other field manager.
  await kubectl(
    'apply',
    '--server-side',
    '--field-manager=helm',
    ...charts.map((chart) => `--filename=${chart}/crds`),
  );
  await kubectl('wait', '--for=condition=Established', 'crds', '--all');
  const kinds = ['AgentWorker', 'AgentTask', 'AgentTaskTemplate'];
  const spec = {jobTemplate: {spec: {template: {spec: {containers: []}}}}};
  await kubectl.apply(
    ...kinds.map((kind) => ({
      apiVersion: 'scalr.io/v1',
      kind,
      metadata: {name: 'of-others'},
      spec,
    })),
  );
}

const get: Get = async <T>(path: string) => {
  const answer = await fetch(`http://${server}${path}`);
  return answer.ok ? ((await answer.json()) as T) : undefined;
};
const world = () => kubernetesWorld(kubeconfig(), get);

test.each(Object.entries(FOUND))('no longer: %s', {timeout: 300_000}, async (_, steps) => {
  const place = await world();
  const {broken} = await play(place, steps);
  await place.end();
  expect(broken.join('\n')).toBe('');
});

test('random sequences of operators keep every invariant', {timeout: 3_600_000}, async () => {
  // The released charts have cluster roles of the same name in every namespace.
  expect(await operate(world, REAL ? 1 : 3)).toBe('');
});
