import {once} from 'node:events';
import {existsSync} from 'node:fs';
import {readFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {execa} from 'execa';
import {expect, onTestFinished, test} from 'vitest';
import {isAlive} from '../support/is-alive.ts';
import {kubectlFor} from './kubectl.ts';
import {deployment} from './objects.ts';
import {startCluster} from './start-cluster.ts';
import {workplace} from './workplace.ts';

test('it is a Kubernetes 1.35 with ready nodes', async () => {
  const {kubectl} = await workplace();
  expect(JSON.parse(await kubectl('version', '-o', 'json')).serverVersion).toMatchObject({
    major: '1',
    minor: '35',
  });
  await kubectl('wait', 'nodes', '--all', '--for=condition=Ready', '--timeout=20s');
});

test('a Deployment becomes available', async () => {
  const {kubectl} = await workplace();
  await kubectl.apply(deployment('agent', 5));
  await kubectl('rollout', 'status', 'deployment/agent', '--timeout=20s');
});

test('a Job completes', async () => {
  const {kubectl} = await workplace();
  await kubectl('create', 'job', 'task', '--image=scalr/runner:1');
  await kubectl('wait', 'job/task', '--for=condition=Complete', '--timeout=20s');
});

test('a second cluster runs beside the first, with the nodes a test wants', async () => {
  const taint = {key: 'dedicated', value: 'agents', effect: 'NoSchedule'} as const;
  const capacity = {cpu: '64', 'nvidia.com/gpu': '2'};
  const cluster = await startCluster({
    nodes: [
      {
        name: 'big',
        arch: 'arm64',
        labels: {pool: 'agents'},
        taints: [taint],
        capacity,
        kubeletVersion: 'v1.33.1',
      },
    ],
  });
  onTestFinished(cluster.stop);
  const kubectl = await kubectlFor(cluster.kubeconfig);
  expect(await kubectl.get('nodes')).toMatchObject({
    items: [
      {
        metadata: {
          name: 'big',
          labels: {pool: 'agents', 'kubernetes.io/arch': 'arm64', 'kubernetes.io/os': 'linux'},
        },
        spec: {taints: [taint]},
        status: {
          allocatable: {...capacity, memory: '16Gi'},
          nodeInfo: {kubeletVersion: 'v1.33.1', architecture: 'arm64'},
        },
      },
    ],
  });
  await cluster.stop();
  expect(existsSync(dirname(cluster.kubeconfig))).toBe(false);
});

test('nothing is left of a cluster whose starter was killed', async () => {
  const starter = execa(
    process.execPath,
    ['--import', 'tsx', join(import.meta.dirname, 'cluster.cli.ts')],
    {reject: false},
  );
  const [printed] = await once(starter.stdout, 'data');
  const directory = dirname(/KUBECONFIG=(.*)/.exec(String(printed))?.[1] ?? '');
  const pids = (await readFile(join(directory, 'pids'), 'utf8')).trim().split('\n').map(Number);
  expect(pids.map(isAlive)).toEqual([true, true, true, true, true]);
  starter.kill('SIGKILL');
  await expect.poll(() => existsSync(directory), {timeout: 5000}).toBe(false);
  expect(pids.filter(isAlive)).toEqual([]);
});

test('npm run cluster takes no arguments', async () => {
  const {exitCode, stdout, stderr} = await execa(
    process.execPath,
    ['--import', 'tsx', join(import.meta.dirname, 'cluster.cli.ts'), '--help'],
    {reject: false},
  );
  expect({exitCode, stdout, stderr}).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: 'npm run cluster takes no arguments.',
  });
});
