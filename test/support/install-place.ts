import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {expect, onTestFinished} from 'vitest';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {directoryOf} from '../cluster/helm/charts-under-test.ts';
import {setLogs} from '../control-plane/logs.ts';
import {type Workplace, workplace} from '../control-plane/workplace.ts';
import {install} from './run-on-cluster.ts';

export const TOKEN = {SCALR_AGENT_TOKEN: 'hunter2'};

/** A namespace whose agents log that they are ready, and are deleted after the test. */
export async function installPlace(kubeconfig?: string, namespace?: string): Promise<Workplace> {
  const place = await workplace({}, kubeconfig, namespace);
  await setLogs(
    place.kubeconfig,
    {namespace: place.namespace},
    {'*': {current: ['The agent is ready to receive tasks']}},
  );
  const path = `/apis/apps/v1/namespaces/${place.namespace}`;
  onTestFinished(async () => {
    for (const kind of ['deployments', 'daemonsets'])
      await place.kubectl.api('DELETE', `${path}/${kind}?propagationPolicy=Background`);
  });
  return place;
}

const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
process.once('exit', () => rmSync(scratch, {recursive: true, force: true}));

/** Flags for a chart on disk. */
export const chartFlags = async (chart: ChartName): Promise<string[]> => [
  '--chart',
  chart,
  '--chart-source',
  await directoryOf({chart, version: '0.6.5'}, scratch),
];

/** Flags for tests of install steps: no preflight checks, and no settings read from the cluster. */
export const stepFlags = async (chart: ChartName): Promise<string[]> => [
  ...(await chartFlags(chart)),
  '--skip-preflight',
  '--cloud',
  'other',
  '--node-os',
  'other',
];

/** Expects that a second install with --take-over completes the release, and that a third has no changes. */
export async function expectWholeness(
  place: Workplace,
  helm: string,
  argv: readonly string[],
): Promise<void> {
  const mended = await install(place, helm, [...argv, '--take-over', '--yes', '--json'], {
    env: TOKEN,
  });
  expect(JSON.parse(mended.stdout)).toMatchObject({agent: 'registered'});
  const again = await install(place, helm, [...argv, '--yes', '--json'], {env: TOKEN});
  expect(JSON.parse(again.stdout)).toMatchObject({changed: false, agent: 'registered'});
  const records = await place.kubectl(
    'get',
    'secrets',
    '--selector=owner=helm',
    '--output',
    'jsonpath={.items[-1:].metadata.labels.status}',
  );
  expect(records).toBe('deployed');
  const own = await place.kubectl(
    'get',
    'secrets',
    '--selector=scalr.io/release',
    '--output',
    'name',
  );
  expect(own).toBe('secret/scalr-agent-token');
  expect(
    await place.kubectl(
      'get',
      'deployments',
      '--output',
      'jsonpath={.items[*].status.readyReplicas}',
    ),
  ).toBe('1');
}
