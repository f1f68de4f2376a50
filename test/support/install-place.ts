import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {expect, onTestFinished} from 'vitest';
import type {ChartName} from '../../src/charts/schema.ts';
import {setLogs} from '../cluster/logs.ts';
import {type Workplace, workplace} from '../cluster/workplace.ts';
import {directoryOf} from '../helm/charts-under-test.ts';
import {install} from './run-on-cluster.ts';

export const TOKEN = {SCALR_AGENT_TOKEN: 'hunter2'};

/** A namespace whose agents say that they are ready, and take no room from other tests when the test is over. */
export async function installPlace(): Promise<Workplace> {
  const place = await workplace();
  await setLogs(place.kubeconfig, {namespace: place.namespace}, {'*': {current: ['The agent is ready to receive tasks']}});
  onTestFinished(async () => void (await place.kubectl('delete', 'deployments,daemonsets', '--all', '--wait=false')));
  return place;
}

const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
process.once('exit', () => rmSync(scratch, {recursive: true, force: true}));

/** The flags that name a chart on the disk. */
export const chartFlags = async (chart: ChartName): Promise<string[]> => [
  '--chart',
  chart,
  '--chart-source',
  await directoryOf({chart, version: '0.6.5'}, scratch),
];

/** For an install whose failures have to be those of its steps, not of the checks before them; nothing is left for the cluster to answer. */
export const stepFlags = async (chart: ChartName): Promise<string[]> => [
  ...(await chartFlags(chart)),
  '--skip-preflight',
  ...['--cloud', 'other', '--node-os', 'other'],
];

/** Run again, and told that no helm runs any more, it becomes whole; run once more it finds nothing to do. */
export async function expectWholeness(place: Workplace, helm: string, argv: readonly string[]): Promise<void> {
  const mended = await install(place, helm, [...argv, '--take-over', '--yes', '--json'], {env: TOKEN});
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
  const own = await place.kubectl('get', 'secrets', '--selector=scalr.io/release', '--output', 'name');
  expect(own).toBe('secret/scalr-agent-token');
  expect(await place.kubectl('get', 'deployments', '--output', 'jsonpath={.items[*].status.readyReplicas}')).toBe('1');
}
