import {execa} from 'execa';
import {expect, test} from 'vitest';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {findKubectl} from '../control-plane/kubectl.ts';
import {fillLog, setLogs} from '../control-plane/logs.ts';
import {pod} from '../control-plane/objects.ts';
import {type Workplace, workplace} from '../control-plane/workplace.ts';
import {PROGRAM} from '../package/built.ts';
import {freshFile} from '../support/collected.ts';
import {NODE_RELEASES, nodeRelease} from '../support/node-releases.ts';
import {PEAK_FD, PEAK_PRELOAD} from '../support/peak-memory.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();
const kubectl = await findKubectl();
const MIB = 1024 * 1024;

/** The most memory the built program held while it made a bundle of everything, in MiB. */
const peak = (place: Workplace, ...how: readonly string[]): Promise<number> =>
  peakOn(process.execPath, place, ...how);

async function peakOn(
  node: string,
  {kubeconfig, namespace}: Workplace,
  ...how: readonly string[]
): Promise<number> {
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
  const argv = [
    '--import',
    PEAK_PRELOAD,
    PROGRAM,
    'collect-logs',
    ...place,
    '--max-size',
    '1Gi',
    '--out',
    freshFile(),
    ...how,
  ];
  const {stdio} = await execa(node, argv, {stdio: ['ignore', 'ignore', 'ignore', 'pipe']});
  return Number(stdio[PEAK_FD]) / 1024;
}

const labels = {'app.kubernetes.io/name': 'agent-local'};
const filler = (index: number): string =>
  `run-${(index * 7919) % 104729} polled the queue of the account and found nothing to do`;

test('a log of 64 MiB takes about as much memory as one of a line, followed or not', async () => {
  const place = await workplace();
  const {kubeconfig, namespace} = place;
  await place.kubectl.apply({...pod('a'), metadata: {name: 'a', labels}});
  await setLogs(kubeconfig, {namespace}, {'*': {current: ['hello']}});
  await place.kubectl('wait', 'pod', '--all', '--for=condition=Ready', '--timeout=20s');
  await expect.poll(() => place.kubectl('logs', 'a').catch(String)).toContain('hello');
  const small = await peak(place);
  await fillLog(kubeconfig, {namespace}, '*', 64 * MIB, filler);
  expect((await peak(place)) - small).toBeLessThan(96);
  expect((await peak(place, '--watch', '--for', '10s')) - small).toBeLessThan(96);
}, 180_000);

test('twenty logs of 5 MiB take at most 300 MB on every Node.js, 15 of them for the page', async () => {
  const place = await workplace();
  const {kubeconfig, namespace} = place;
  const names = Array.from({length: 20}, (_, index) => `agent-${index}`);
  await Promise.all(
    names.map((name) => place.kubectl.apply({...pod(name), metadata: {name, labels}})),
  );
  await setLogs(kubeconfig, {namespace}, {'*': {current: ['hello']}});
  await fillLog(kubeconfig, {namespace}, '*', 5 * MIB, filler);
  await place.kubectl('wait', 'pod', '--all', '--for=condition=Ready', '--timeout=60s');
  await expect
    .poll(() => place.kubectl('logs', 'agent-19', '--tail=1').catch(String))
    .toContain('polled the queue');
  for (const release of NODE_RELEASES) {
    expect({
      release,
      tooMuch: Math.max(0, (await peakOn(await nodeRelease(release), place)) - 300),
    }).toEqual({release, tooMuch: 0});
  }
}, 300_000);
