import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout} from 'node:timers/promises';
import {afterAll, beforeAll, expect, test, vi} from 'vitest';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {accountWith} from '../control-plane/accounts.ts';
import {until} from '../control-plane/api.ts';
import {type Cluster, startCluster} from '../control-plane/start-cluster.ts';
import type {Workplace} from '../control-plane/workplace.ts';
import {installPlace, stepFlags, TOKEN} from '../support/install-place.ts';
import {debug, install, status, uninstall} from '../support/run-on-cluster.ts';
import {stateOf, twoClusters} from '../support/two-clusters.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();
const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));

let other: Cluster;
beforeAll(async () => {
  other = await startCluster();
});
afterAll(async () => {
  await other.stop();
  rmSync(scratch, {recursive: true});
});

/** Both clusters have the same release. */
async function bothInstalled() {
  const both = await twoClusters(other.kubeconfig);
  for (const place of [both.dev, both.prod]) await installed(place);
  return {...both, before: await stateOf(both.prod)};
}

async function installed(place: Pick<Workplace, 'kubeconfig' | 'namespace'>): Promise<void> {
  const argv = [...(await stepFlags('agent-local')), '--yes'];
  const {exit, stderr} = await install(place, helm, argv, {env: TOKEN});
  expect(exit, stderr).toBe(0);
}

/** Sets variables for the tools and for the program. */
function withVariables(variables: Readonly<Record<string, string>>) {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  return {env: {...TOKEN, ...variables}};
}

test('variables of helm that select another cluster or namespace are ignored, with a note', async () => {
  const {dev, prod, place, before} = await bothInstalled();
  const deps = withVariables({
    HELM_KUBECONTEXT: 'prod',
    HELM_KUBEAPISERVER: other.server,
    HELM_KUBEINSECURE_SKIP_TLS_VERIFY: 'true',
    HELM_NAMESPACE: 'kube-public',
  });
  try {
    const argv = [...(await stepFlags('agent-local')), '--extra-env', 'TEAM=a', '--yes', '--json'];
    const {stdout, stderr, exit} = await install(place, helm, argv, deps);
    expect(exit, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({context: 'dev', changed: true});
    expect(stderr).toContain(
      'HELM_KUBECONTEXT, HELM_KUBEAPISERVER, HELM_KUBEINSECURE_SKIP_TLS_VERIFY, HELM_NAMESPACE are ignored. Select the cluster with --kube-context or --kubeconfig',
    );
    expect(stderr.match(/are ignored/g)).toHaveLength(1);
    expect(await dev.kubectl('get', 'deployments', '--output', 'yaml')).toContain('TEAM');
    const removed = await uninstall(place, helm, ['--yes'], deps);
    expect(removed.exit, removed.stderr).toBe(0);
    expect(await dev.kubectl('get', 'deployments', '--output', 'name')).toBe('');
    expect(await stateOf(prod)).toBe(before);
  } finally {
    vi.unstubAllEnvs();
  }
});

test('another current context while the plan waits for an answer does not move the change', async () => {
  const {dev, prod, place, before, use} = await bothInstalled();
  const confirm = async (): Promise<boolean> => {
    await use('prod');
    return true;
  };
  const source = (await stepFlags('agent-local')).slice(2, 4);
  const on = await debug(place, helm, ['on', ...source], {hasTerminal: true, prompter: {confirm}});
  expect(on.exit, on.stderr).toBe(0);
  expect(on.stderr).toMatch(/Context +dev\n/);
  expect(await dev.kubectl('get', 'deployments', '--output', 'yaml')).toMatch(/DEBUG/i);
  await use('dev');
  const {exit, stderr} = await uninstall(place, helm, [], {hasTerminal: true, prompter: {confirm}});
  expect(exit, stderr).toBe(0);
  expect(await dev.kubectl('get', 'deployments', '--output', 'name')).toBe('');
  expect(await stateOf(prod)).toBe(before);
});

test('a kubeconfig that selects another cluster under the same name stops the command before a change', async () => {
  const {dev, prod, place, before, rename} = await bothInstalled();
  const unchanged = await stateOf(dev);
  const confirm = async (): Promise<boolean> => {
    await rename();
    return true;
  };
  const {exit, stderr} = await uninstall(place, helm, [], {hasTerminal: true, prompter: {confirm}});
  expect(stderr).toMatch(
    /Context dev no longer selects the cluster of the plan\. Namespace kube-system had the UID [\da-f-]{36}, and now it has the UID [\da-f-]{36}\./,
  );
  expect(stderr).toMatch(/kubectl cluster-info --context dev --kubeconfig/);
  expect(exit).toBe(1);
  expect(await stateOf(dev)).toBe(unchanged);
  expect(await stateOf(prod)).toBe(before);
});

const WAITING_MS = 2000;

/** Holds the pod of the agent, and changes the kubeconfig while the uninstall waits for it. */
async function whilePodsEnd(
  {dev, place}: Awaited<ReturnType<typeof bothInstalled>>,
  change: () => Promise<void>,
) {
  const pods = await dev.kubectl('get', 'pods', '--output', 'name');
  const finalizers = (names: readonly string[]) =>
    dev.kubectl(
      'patch',
      pods,
      '--type=merge',
      `--patch=${JSON.stringify({metadata: {finalizers: names}})}`,
    );
  await finalizers(['test.scalr.io/hold']);
  const running = uninstall(place, helm, ['--yes', '--json']);
  await until('the pod is being deleted', async () =>
    (
      await dev.kubectl('get', pods, '--output', 'jsonpath={.metadata.deletionTimestamp}')
    ).startsWith('20'),
  );
  // The uninstall waits in a process that has read the kubeconfig.
  await setTimeout(WAITING_MS);
  await change();
  await finalizers([]);
  return running;
}

test('another current context while an uninstall waits for pods does not move it', async () => {
  const both = await bothInstalled();
  const {exit, stderr} = await whilePodsEnd(both, () => both.use('prod'));
  expect(exit, stderr).toBe(0);
  expect(await both.dev.kubectl('get', 'deployments', '--output', 'name')).toBe('');
  expect(await stateOf(both.prod)).toBe(both.before);
});

test('a kubeconfig that is changed to another cluster during a wait stops the uninstall', async () => {
  const both = await bothInstalled();
  const {exit, stdout} = await whilePodsEnd(both, both.rename);
  expect(exit).toBe(1);
  const {error} = JSON.parse(stdout);
  expect(error.code).toBe('TARGET_CHANGED');
  expect(error.message).toContain('Nothing more was changed');
  expect(error.suggestions.join('\n')).toMatch(
    /kubectl scale deployment\/scalr-agent-agent-local .*--context dev/,
  );
  expect(await both.dev.kubectl('get', 'deployments', '--output', 'name')).not.toBe('');
  expect(await stateOf(both.prod)).toBe(both.before);
});

test('a user who may not read kube-system gets a note, and the pinned context holds', async () => {
  const place = await installPlace();
  await installed(place);
  const kubeconfig = await accountWith('admin', place);
  const {exit, stderr} = await uninstall({...place, kubeconfig}, helm, ['--yes']);
  expect(exit, stderr).toBe(0);
  expect(stderr).toContain(
    'Cannot read the UID of namespace kube-system (forbidden). If the kubeconfig changes to another cluster during this command, the change cannot be detected.',
  );
});

test('preferences of kubectl do not keep objects that an uninstall deletes', async () => {
  const place = await installPlace();
  await installed(place);
  const kuberc = join(scratch, 'kuberc');
  const options = [{name: 'interactive', default: 'true'}];
  writeFileSync(
    kuberc,
    JSON.stringify({
      apiVersion: 'kubectl.config.k8s.io/v1beta1',
      kind: 'Preference',
      defaults: [
        {command: 'delete', options},
        {command: 'config view', options: [{name: 'minify', default: 'true'}]},
      ],
    }),
  );
  const deps = withVariables({KUBERC: kuberc});
  try {
    const argv = ['--purge=all', '--confirm', 'scalr-agent', '--yes'];
    const {exit, stderr} = await uninstall(place, helm, argv, deps);
    expect(exit, stderr).toBe(0);
    expect(stderr).toContain('KUBERC is ignored.');
    expect(stderr).not.toContain('Not removed');
    const fleet = await status(place, helm, ['--contexts', '*'], deps);
    expect(fleet.stdout).toContain('test-cluster');
  } finally {
    vi.unstubAllEnvs();
  }
});
