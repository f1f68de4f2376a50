import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, afterEach, beforeAll, beforeEach, expect, inject, test} from 'vitest';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {directoryOf} from '../cluster/helm/charts-under-test.ts';
import {findHelmMatrix} from '../cluster/helm/find-helm.ts';
import {type Fault, faultyApi} from '../control-plane/faulty-api.ts';
import {type Cluster, startCluster} from '../control-plane/start-cluster.ts';
import type {Workplace} from '../control-plane/workplace.ts';
import {type Installed, installedByHelm} from '../support/installed-by-helm.ts';
import {uninstall, upgrade} from '../support/run-on-cluster.ts';

const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
afterAll(() => rmSync(scratch, {recursive: true, force: true}));

/** A cluster of its own, because CRDs belong to the cluster. */
let cluster: Cluster | undefined;
beforeAll(async () => {
  if (inject('simulated')) cluster = await startCluster();
});
afterAll(() => cluster?.stop());

/** Diagnostics are written to the current directory. */
const home = process.cwd();
beforeEach(() => process.chdir(mkdtempSync(join(scratch, 'home-'))));
afterEach(() => process.chdir(home));

const source = (chart: ChartName, version: string): Promise<string> =>
  directoryOf({chart, version}, scratch);

const [{path: helm} = {path: 'helm'}] = await findHelmMatrix();

/** The selector of the default release name changes, so its Deployment is deleted; another one is only scaled to 0. */
const REPLACED = 'scalr-agent';
const SCALED = 'prod';

interface Failing {
  release: string;
  method: string;
  path: RegExp;
  fault: Fault;
  times?: number;
  more?: readonly string[];
  /** Before the upgrade. */
  prepare?(place: Workplace): Promise<void>;
}

async function upgradeThrough({
  release,
  method,
  path,
  fault,
  times = 1,
  more = [],
  prepare,
}: Failing) {
  const target = {chart: 'agent-job', version: '0.5.67'} as const;
  const old = await source('agent-job', '0.5.67');
  const place = await installedByHelm(helm, release, target, old, [], cluster?.kubeconfig);
  const before = await workloads(place);
  await prepare?.(place);
  const api = await faultyApi(place.kubeconfig);
  const injected = api.inject(method, path, fault, times);
  const next = await source('agent-job', '0.6.5');
  const argv = ['--release', release, '--chart-source', next, '--yes', '--json', ...more];
  const {stdout, exit} = await upgrade({...place, kubeconfig: api.kubeconfig}, helm, argv);
  expect(injected.count()).toBeGreaterThan(0);
  injected.end();
  const again = () => upgrade(place, helm, argv);
  return {place, before, exit, result: JSON.parse(stdout), again};
}

/** Template and replicas of every Deployment. */
const workloads = ({kubectl}: Workplace): Promise<string> =>
  kubectl(
    'get',
    'deployments',
    '--output',
    'jsonpath={range .items[*]}{.metadata.name} {.spec.replicas} {.spec.selector} {.spec.template}{"\\n"}{end}',
  );

const images = ({kubectl}: Workplace): Promise<string> =>
  kubectl('get', 'deployments', '--output', 'jsonpath={.items[*].metadata.labels.helm\\.sh/chart}');

const status = async (place: Installed, release: string) =>
  JSON.parse((await place.helm('history', release, '--output', 'json')).stdout).at(-1);

type Write = [what: string, method: string, path: RegExp];

const WRITES: readonly Write[] = [
  ['applying the CRDs', 'PATCH', /\/customresourcedefinitions\//],
  ['scaling the Deployment to 0', 'PATCH', /\/deployments\/[^/]+\/scale/],
  ['deleting the Deployment', 'DELETE', /\/deployments\//],
  ['creating the record of helm', 'POST', /\/secrets/],
  ['creating the ServiceAccount', 'POST|PATCH', /\/serviceaccounts/],
  ['creating the Deployment', 'POST|PATCH', /\/deployments(\?|\/scalr-agent\?)/],
  ['creating the AgentTaskTemplate', 'POST|PATCH', /\/agenttasktemplates/],
];

test.each(WRITES)('an upgrade completes when %s fails once with 500', async (_, method, path) => {
  const {exit, result, place} = await upgradeThrough({
    release: REPLACED,
    method,
    path,
    fault: {status: 500},
  });
  expect(exit, JSON.stringify(result)).toBe(0);
  expect(result).toMatchObject({changed: true, agent: 'registered'});
  expect(await images(place)).toBe('agent-job-0.6.5');
});

test.each([
  ['429', {status: 429}],
  ['503', {status: 503}],
] as const)('an upgrade completes when helm is refused twice with %s', async (_, fault) => {
  const path = /\/deployments(\?|\/scalr-agent\?)/;
  const {exit, result} = await upgradeThrough({
    release: REPLACED,
    method: 'POST|PATCH',
    path,
    fault,
    times: 2,
  });
  expect(exit, JSON.stringify(result)).toBe(0);
});

test('creates the deleted Deployment again when helm makes no new revision', async () => {
  const {place, before, exit, result, again} = await upgradeThrough({
    release: REPLACED,
    method: 'POST',
    path: /\/secrets/,
    fault: {status: 403},
    times: 100,
  });
  expect(exit).toBe(1);
  expect(result.error.message).toContain(
    'Deployment scalr-agent is created again with its former settings. Release scalr-agent runs as before.',
  );
  expect(await workloads(place)).toBe(before);
  expect((await again()).exit).toBe(0);
});

test('scales the Deployment up again when helm makes no new revision', async () => {
  const {place, before, result, again} = await upgradeThrough({
    release: SCALED,
    method: 'POST',
    path: /\/secrets/,
    fault: {status: 403},
    times: 100,
  });
  expect(result.error.message).toContain('is scaled up again. Release prod runs as before.');
  expect(await workloads(place)).toBe(before);
  expect((await again()).exit).toBe(0);
});

/** A run in flight that does not end. */
const RUN = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: {name: 'run-1'},
  spec: {
    template: {
      metadata: {
        labels: {'app.kubernetes.io/instance': SCALED, 'app.kubernetes.io/component': 'task'},
        annotations: {'test.scalr.io/outcome': 'unready'},
      },
      spec: {restartPolicy: 'Never', containers: [{name: 'runner', image: 'scalr/agent'}]},
    },
  },
};

test('scales the Deployment up again when the drain does not end in time', async () => {
  const {place, before, result} = await upgradeThrough({
    release: SCALED,
    method: 'PATCH',
    path: /\/scale/,
    fault: {delayMs: 1},
    more: ['--drain-timeout', '1s'],
    prepare: ({kubectl}) => kubectl.apply(RUN),
  });
  expect(result.error).toMatchObject({
    code: 'TIMED_OUT',
    message: expect.stringMatching(/is scaled up again\. Release prod runs as before\.$/),
    suggestions: expect.arrayContaining([expect.stringContaining('--no-drain')]),
  });
  expect(await workloads(place)).toBe(before);
});

test('says what is gone and prints the rollback when helm has changed what the old agent needs', async () => {
  const {place, result} = await upgradeThrough({
    release: REPLACED,
    method: 'POST|PATCH',
    path: /\/deployments(\?|\/scalr-agent\?)/,
    fault: {status: 403},
    times: 100,
  });
  const {message, suggestions} = result.error;
  expect(await images(place)).toBe('');
  expect(message).toContain('Deployment scalr-agent is deleted, so the agent does not run.');
  const printed = suggestions.filter((each: string) =>
    /^(Roll back to the revision|If helm does not find)/.test(each),
  );
  for (const line of printed) {
    const [tool, ...args] = line.split(': ')[1].split(' ');
    if (tool === 'kubectl') await place.kubectl(...args);
    else await place.helm(...args);
  }
  expect(await images(place)).toBe('agent-job-0.5.67');
});

test.each([
  REPLACED,
  SCALED,
])('--rollback-on-failure repeats a rollback of %s that helm fails on an object without a record', async (release) => {
  const {place, before, result} = await upgradeThrough({
    release,
    method: 'POST|PATCH',
    path: /\/deployments(\?|\/[^/]+\?)/,
    fault: {status: 403},
    more: ['--rollback-on-failure'],
  });
  expect(result.error.message).toContain('Rolled back to revision 1.');
  expect(await status(place, release)).toMatchObject({
    status: 'deployed',
    chart: 'agent-job-0.5.67',
  });
  expect(await images(place)).toBe('agent-job-0.5.67');
  expect((await workloads(place)).split(' ').slice(0, 2)).toEqual(before.split(' ').slice(0, 2));
});

/** Another chart, while helm cannot delete the record of the old release. */
async function changeThrough(fault: Fault, times: number) {
  const target = {chart: 'agent-local', version: '0.6.5'} as const;
  const old = await source('agent-local', '0.6.5');
  const place = await installedByHelm(helm, SCALED, target, old, [], cluster?.kubeconfig);
  const api = await faultyApi(place.kubeconfig);
  const injected = api.inject('DELETE', /\/secrets\/sh\.helm/, fault, times);
  const next = await source('agent-job', '0.6.5');
  const argv = ['--release', SCALED, '--chart', 'agent-job', '--chart-source', next, '--yes'];
  const done = await upgrade({...place, kubeconfig: api.kubeconfig}, helm, [...argv, '--json']);
  expect(injected.count()).toBeGreaterThan(0);
  return {place, exit: done.exit, result: JSON.parse(done.stdout)};
}

test('a change of the chart completes when helm cannot delete the old record once', async () => {
  const {place, exit, result} = await changeThrough({status: 500}, 1);
  expect(exit, JSON.stringify(result)).toBe(0);
  expect(await images(place)).toBe('agent-job-0.6.5');
});

test('a change of the chart prints the uninstall when the old release remains', async () => {
  const {place, result} = await changeThrough({status: 403}, 100);
  expect(result.error.message).toMatch(
    /^The new release is ready\. Release prod is not completely uninstalled\./,
  );
  const [command, ...others] = result.error.suggestions;
  expect(command).toBe(
    `Continue the uninstall: scalr-agent uninstall --release prod --namespace ${place.namespace} --kube-context test-cluster --kubeconfig ${command.split(' ').at(-1)}`,
  );
  expect(others.join()).not.toContain('same command again');
  const argv = ['--release', 'prod', '--yes', '--json'];
  const done = await uninstall(place, helm, argv);
  expect(JSON.parse(done.stdout)).toMatchObject({complete: true});
  expect(await images(place)).toBe('agent-job-0.6.5');
});
