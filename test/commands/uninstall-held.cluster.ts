import {setTimeout} from 'node:timers/promises';
import {expect, onTestFinished, test} from 'vitest';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {setLogs} from '../control-plane/logs.ts';
import {startCluster} from '../control-plane/start-cluster.ts';
import {installPlace, stepFlags, TOKEN} from '../support/install-place.ts';
import {install, uninstall} from '../support/run-on-cluster.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();

/** Time passes only in pauses, and these are short. */
function shortPauses() {
  let time = Date.now();
  return {
    now: () => new Date(time),
    sleep: async (milliseconds: number) => {
      time += milliseconds;
      await setTimeout(20);
    },
  };
}

test('says which finalizer holds a pod while it waits, and how to remove it', async () => {
  const place = await installPlace();
  const {kubectl, namespace} = place;
  const installed = await install(place, helm, [...(await stepFlags('agent-local')), '--yes'], {
    env: TOKEN,
  });
  expect(installed.exit, installed.stderr).toBe(0);
  const name = await kubectl('get', 'pods', '--output', 'jsonpath={.items[0].metadata.name}');
  const finalizers = (list: string[] | null) =>
    kubectl(
      'patch',
      'pod',
      name,
      '--type=merge',
      `--patch=${JSON.stringify({metadata: {finalizers: list}})}`,
    );
  await finalizers(['example.com/hold']);
  onTestFinished(async () => {
    await kubectl('delete', 'pod', name, '--ignore-not-found', '--wait=false');
    await finalizers(null).catch(() => undefined);
  });
  const {exit, stderr} = await uninstall(
    place,
    helm,
    ['--yes', '--drain-timeout', '1m'],
    shortPauses(),
  );
  expect(exit, stderr).toBe(6);
  const held = `Pod ${name}: its deletion is not complete, pending finalizers: example.com/hold`;
  expect(stderr.split(held).length - 1, stderr).toBe(2);
  expect(stderr).toMatch(new RegExp(`kubectl patch pod/${name} .*--namespace ${namespace}`));
});

test('says what the verification at the end waits for', async () => {
  const place = await installPlace();
  const {kubectl} = place;
  const installed = await install(place, helm, [...(await stepFlags('agent-local')), '--yes'], {
    env: TOKEN,
  });
  expect(installed.exit, installed.stderr).toBe(0);
  const name = await kubectl(
    'get',
    'deployments',
    '--output',
    'jsonpath={.items[0].metadata.name}',
  );
  const finalizers = (list: string[] | null) =>
    kubectl(
      'patch',
      'deployment',
      name,
      '--type=merge',
      `--patch=${JSON.stringify({metadata: {finalizers: list}})}`,
    );
  await finalizers(['example.com/hold']);
  onTestFinished(async () => {
    await finalizers(null).catch(() => undefined);
  });
  const {exit, stderr} = await uninstall(place, helm, ['--yes', '--timeout', '1m'], shortPauses());
  expect(exit, stderr).toBe(6);
  const held = `Deployment ${name}: its deletion is not complete, pending finalizers: example.com/hold`;
  const lines = stderr.replaceAll(/\s+/g, ' ').split(held).length - 1;
  // Once while it waits, and at the end with the way out.
  expect(lines, stderr).toBe(2);
  expect(stderr).toMatch(new RegExp(`If it no longer exists: kubectl patch deployment/${name}`));
});

test('names the API service that keeps the namespace, and how to go on', async () => {
  // A dead API service disturbs everything else in a cluster.
  const cluster = await startCluster();
  onTestFinished(() => cluster.stop());
  const {kubeconfig, kubectl} = await installPlace(cluster.kubeconfig);
  const place = {kubeconfig, namespace: 'own'};
  await setLogs(kubeconfig, place, {'*': {current: ['The agent is ready to receive tasks']}});
  const argv = [...(await stepFlags('agent-local')), '--yes'];
  const installed = await install(place, helm, argv, {env: TOKEN});
  expect(installed.exit, installed.stderr).toBe(0);
  await kubectl.apply({
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: {name: 'v1beta1.dead.example.com'},
    spec: {
      group: 'dead.example.com',
      version: 'v1beta1',
      groupPriorityMinimum: 100,
      versionPriority: 100,
      insecureSkipTLSVerify: true,
      service: {name: 'gone', namespace: 'default'},
    },
  });
  await kubectl('wait', 'apiservice/v1beta1.dead.example.com', '--for=condition=Available=false');
  const purge = ['--purge=secrets,namespace', '--confirm', 'scalr-agent', '--timeout', '40s'];
  const {exit, stderr} = await uninstall(place, helm, ['--yes', ...purge], {});
  expect(exit, stderr).toBe(6);
  expect(stderr).toContain('Namespace own: its deletion is not complete: Discovery failed');
  expect(stderr).toMatch(/Repair the API service v1beta1\.dead\.example\.com, or delete it/);
});
