import {execa} from 'execa';
import {expect, test} from 'vitest';
import type {Pod} from '../../src/cluster/kubernetes/objects.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {findKubectl} from '../control-plane/kubectl.ts';
import {setLogs} from '../control-plane/logs.ts';
import {type Workplace, workplace} from '../control-plane/workplace.ts';
import {PROGRAM} from '../package/built.ts';
import {chartFlags, TOKEN} from '../support/install-place.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();
const kubectl = await findKubectl();
const argv = await chartFlags('agent-local');

/** The built program in a group of its own, with a probe that does not end by itself. */
function start({kubeconfig, namespace}: Workplace) {
  const place = [
    '--kubeconfig',
    kubeconfig,
    '--namespace',
    namespace,
    '--helm',
    helm,
    '--kubectl',
    kubectl,
  ];
  const flags = [
    'preflight',
    ...place,
    '--url',
    'https://acme.scalr.io',
    ...argv,
    '--metadata-service',
    'block',
    '--probe',
  ];
  return execa(process.execPath, [PROGRAM, ...flags], {
    detached: true,
    stdin: 'ignore',
    reject: false,
    env: TOKEN,
  });
}

const probes = async ({kubectl: run}: Workplace): Promise<string> =>
  run(
    'get',
    'pods,networkpolicies',
    '--selector',
    'scalr.io/probe=scalr-agent',
    '--output',
    'name',
  );

async function begun(place: Workplace): Promise<Pod & {spec: {activeDeadlineSeconds?: number}}> {
  await expect.poll(() => probes(place), {interval: 200}).toContain('pod/');
  return place.kubectl.get((await probes(place)).split('\n')[0] as string);
}

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 130],
] as const)('deletes the probe when the process group receives %s', async (signal, status) => {
  const place = await workplace();
  const child = start(place);
  await begun(place);
  process.kill(-(child.pid as number), signal);
  const {exitCode, stderr} = await child;
  expect(stderr).toContain('Interrupted. The probe was deleted.');
  expect(exitCode).toBe(status);
  expect(await probes(place)).toBe('');
});

test('limits the lifetime of a probe left by a kill, and removes it on the next run', async () => {
  const place = await workplace();
  const killed = start(place);
  const pod = await begun(place);
  process.kill(-(killed.pid as number), 'SIGKILL');
  await killed;
  expect(pod.spec.activeDeadlineSeconds).toBe(180);
  expect(await probes(place)).toContain(`pod/${pod.metadata.name}`);
  await setLogs(place.kubeconfig, {namespace: place.namespace}, {'*': {current: ['probe done']}});
  await start(place);
  await expect.poll(() => probes(place)).toBe('');
});
