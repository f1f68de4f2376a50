import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {afterAll, beforeAll, expect, inject, test} from 'vitest';
import {REAL} from '../cluster/helm/charts-under-test.ts';
import {findKubectl, kubectlFor} from '../control-plane/kubectl.ts';
import {type Cluster, startCluster} from '../control-plane/start-cluster.ts';
import type {Get} from './kubernetes-state.ts';
import {FOUND} from './kubernetes-steps.ts';
import {chartDirectory, kubernetesWorld, type OperatedCluster} from './kubernetes-world.ts';
import {operate} from './operate.ts';
import {play} from './sequence.ts';

let cluster: Cluster | undefined;
let second: Cluster | undefined;
let own: OperatedCluster | undefined;
let other: OperatedCluster | undefined;
const proxies: ChildProcess[] = [];
const kubeconfig = (): string => cluster?.kubeconfig ?? inject('kubeconfig');

/** A cluster of its own, because CRDs belong to the cluster: other tests delete them. */
beforeAll(async () => {
  if (inject('simulated')) {
    cluster = await startCluster();
    second = await startCluster();
    other = await operated(second.kubeconfig);
  }
  own = await operated(kubeconfig());
  await inUse();
});
afterAll(async () => {
  for (const proxy of proxies) proxy.kill();
  await cluster?.stop();
  await second?.stop();
});

/** Reads through a proxy of its own. */
async function operated(path: string): Promise<OperatedCluster> {
  const started = spawn(await findKubectl(), ['proxy', '--port=0', '--kubeconfig', path], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  proxies.push(started);
  const [line] = await Promise.race([once(started.stdout, 'data'), once(started, 'exit')]);
  const server = /127\.0\.0\.1:\d+/.exec(String(line))?.[0] ?? '';
  const get: Get = async <T>(url: string) => {
    const answer = await fetch(`http://${server}${url}`);
    return answer.ok ? ((await answer.json()) as T) : undefined;
  };
  return {kubeconfig: path, get};
}

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

const world = () => kubernetesWorld(own as OperatedCluster, other);

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
