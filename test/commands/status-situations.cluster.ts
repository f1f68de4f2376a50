import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {expect, onTestFinished, test} from 'vitest';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {directoryOf} from '../cluster/helm/charts-under-test.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {setLogs} from '../control-plane/logs.ts';
import {deployment, pod} from '../control-plane/objects.ts';
import {startCluster} from '../control-plane/start-cluster.ts';
import type {Workplace} from '../control-plane/workplace.ts';
import {collected} from '../support/collected.ts';
import {chartFlags, installPlace} from '../support/install-place.ts';
import {installed} from '../support/installed-charts.ts';
import {violations} from '../support/output-schema.ts';
import {preflight, status} from '../support/run-on-cluster.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();
const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
process.once('exit', () => rmSync(scratch, {recursive: true, force: true}));

const RELEASE = 'scalr-agent';
const QUICK = {timeout: 30_000};

const runHelm = ({kubeconfig, namespace}: Workplace, ...args: readonly string[]) =>
  execa(helm, [...args, '--kubeconfig', kubeconfig, '--namespace', namespace], {reject: false});

const failedUpgrade = async (place: Workplace, chart: ChartName) =>
  runHelm(
    place,
    'upgrade',
    RELEASE,
    await directoryOf({chart, version: '0.6.5'}, scratch),
    '--reuse-values',
    '--set',
    'replicaCount=-1',
  );

async function seen(place: Workplace) {
  const {stdout, exit} = await status(place, helm, ['--json']);
  expect(violations('status', stdout)).toEqual([]);
  const {state, causes, recent} = JSON.parse(stdout);
  const codes = (found: {code: string}[]): string[] => found.map(({code}) => code);
  return {exit, state, causes: codes(causes), recent: codes(recent), stdout};
}

const codesIn = async (place: Workplace): Promise<string[]> =>
  (await collected(place, helm)).result.findings.map(({code}: {code: string}) => code);

test('neighbors in trouble, and an agent that works, are no problem', async () => {
  const place = await installed('agent-local', helm);
  await place.kubectl.apply(
    pod('crashes', {outcome: 'crash-loop'}),
    pod('imageless', {outcome: 'image-pull-backoff'}),
    pod('homeless', {spec: {nodeSelector: {pool: 'nowhere'}}}),
    pod('evicted', {outcome: 'evicted'}),
    deployment('stopped', 0),
    {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: {name: 'full'},
      spec: {hard: {'count/configmaps': '1'}},
    },
  );
  await place.kubectl('rollout', 'restart', `deployment/${RELEASE}-agent-local`);
  await place.kubectl('rollout', 'status', `deployment/${RELEASE}-agent-local`, '--timeout=60s');
  await expect
    .poll(
      () => place.kubectl('get', 'pod', 'evicted', '--output', 'jsonpath={.status.phase}'),
      QUICK,
    )
    .toBe('Failed');
  const {stdout: _, ...found} = await seen(place);
  expect(found).toEqual({exit: 0, state: 'ready', causes: [], recent: []});
});

test('a revision that failed is shown after a later one, and is a cause before', async () => {
  const place = await installed('agent-local', helm);
  expect((await failedUpgrade(place, 'agent-local')).exitCode).not.toBe(0);
  expect(await seen(place)).toMatchObject({exit: 1, causes: ['RELEASE_FAILED'], recent: []});
  expect(await codesIn(place)).toContain('RELEASE_FAILED');
  expect((await runHelm(place, 'rollback', RELEASE, '1')).exitCode).toBe(0);
  await expect.poll(async () => (await seen(place)).state, QUICK).toBe('ready');
  expect(await seen(place)).toMatchObject({exit: 0, causes: [], recent: ['REVISION_FAILED']});
});

test('a paused rollout is named, with the command that continues it', async () => {
  const place = await installed('agent-local', helm);
  const name = `deployment/${RELEASE}-agent-local`;
  await place.kubectl('rollout', 'pause', name);
  await place.kubectl('set', 'env', name, 'NEW=value');
  await expect.poll(async () => (await seen(place)).causes, QUICK).toEqual(['ROLLOUT_PAUSED']);
  const {exit, stdout} = await seen(place);
  const [cause] = JSON.parse(stdout).causes as {remedies: {text: string}[]}[];
  expect(exit).toBe(1);
  expect(cause?.remedies[0]?.text).toContain(`kubectl rollout resume ${name}`);
});

test('a deleted token is a cause in status and in a bundle', async () => {
  const place = await installed('agent-local', helm);
  await place.kubectl('delete', 'secret', 'scalr-agent-token');
  expect(await seen(place)).toMatchObject({
    exit: 1,
    state: 'not-ready',
    causes: ['SECRET_NOT_FOUND'],
  });
  expect(await codesIn(place)).toContain('SECRET_NOT_FOUND');
});

test('a run that a quota rejects is shown', async () => {
  const place = await installed('agent-job', helm);
  const labels = {
    'app.kubernetes.io/instance': RELEASE,
    'app.kubernetes.io/component': 'task',
  };
  await place.kubectl.apply({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: {name: 'compute'},
    spec: {hard: {'requests.cpu': '1m'}},
  });
  // A quota rejects nothing before its controller has counted.
  const counted = () =>
    place.kubectl('get', 'quota', 'compute', '--output', 'jsonpath={.status.hard}');
  await expect.poll(counted).not.toBe('');
  await place.kubectl.apply({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {name: 'atask-1'},
    spec: {
      template: {
        metadata: {labels},
        spec: {
          restartPolicy: 'Never',
          containers: [{name: 'runner', image: 'scalr/runner', resources: {requests: {cpu: '1'}}}],
        },
      },
    },
  });
  await expect.poll(async () => (await seen(place)).recent, QUICK).toEqual(['RUNS_REJECTED']);
  expect((await seen(place)).stdout).toContain('exceeded quota: compute');
});

test('an error of now counts, whatever the clocks of the container and of this machine say', async () => {
  const place = await installed('agent-local', helm);
  const lines = ['2026-01-01 05:00:00 [error] ProxyError: Tunnel connection failed: 407'];
  await setLogs(place.kubeconfig, {namespace: place.namespace}, {'*': {current: lines}});
  await expect.poll(async () => (await seen(place)).causes, QUICK).toEqual(['PROXY_REFUSED']);
  expect((await seen(place)).exit).toBe(1);
  const now = () => new Date(Date.now() + 3 * 3_600_000);
  const ahead = await status(place, helm, ['--json'], {now});
  expect(JSON.parse(ahead.stdout).causes).toMatchObject([{code: 'PROXY_REFUSED'}]);
});

test('preflight counts what other pods have requested', async () => {
  const cluster = await startCluster();
  onTestFinished(() => cluster.stop());
  const place = await installPlace(cluster.kubeconfig);
  const argv = ['--url', 'https://acme.scalr.io', '--concurrency', '2', '--json'];
  const capacity = async () => {
    const flags = [...(await chartFlags('agent-local')), ...argv];
    const {checks} = JSON.parse((await preflight(place, helm, flags)).stdout);
    return (checks as {id: string}[]).find(({id}) => id === 'total-capacity');
  };
  expect(await capacity()).toMatchObject({status: 'pass'});
  const {items} = JSON.parse(await place.kubectl('get', 'nodes', '--output', 'json')) as {
    items: {metadata: {name: string}; status: {allocatable: {cpu: string}}}[];
  };
  await place.kubectl.apply(
    ...items.map(({metadata: {name: nodeName}, status: {allocatable}}) => {
      const resources = {requests: {cpu: allocatable.cpu}};
      const containers = [{name: 'busy', image: 'scalr/agent:1', resources}];
      return pod(`busy-${nodeName}`, {spec: {nodeName, containers}});
    }),
  );
  expect(await capacity()).toMatchObject({
    status: 'fail',
    message: expect.stringMatching(/room for 0 concurrent runs .* beside other pods; required: 2$/),
  });
});
