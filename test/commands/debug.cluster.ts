import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {directoryOf, REAL} from '../cluster/helm/charts-under-test.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {setLogs} from '../control-plane/logs.ts';
import {workplace as freshWorkplace, type Workplace} from '../control-plane/workplace.ts';
import {violations} from '../support/output-schema.ts';
import {debug, install} from '../support/run-on-cluster.ts';

const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
const CHARTS: readonly ChartName[] = ['agent-local', 'agent-k8s', 'agent-job'];
const KEYS = {
  'agent-local': 'extraEnv.SCALR_AGENT_DEBUG',
  'agent-k8s': 'agent.debug',
  'agent-job': 'agent.debug',
} as const;
const sources = {} as Record<ChartName, string>;
beforeAll(async () => {
  for (const chart of CHARTS)
    sources[chart] = await directoryOf({chart, version: '0.6.5'}, scratch);
});
afterAll(() => rmSync(scratch, {recursive: true, force: true}));

const TOKEN = {SCALR_AGENT_TOKEN: 'hunter2'};
const helms = await findHelm();
const [first = {path: 'helm'}] = helms;

async function installed(chart: ChartName, helm: string): Promise<Workplace> {
  const place = await freshWorkplace();
  await setLogs(
    place.kubeconfig,
    {namespace: place.namespace},
    {'*': {current: ['The agent is ready to receive tasks']}},
  );
  const ownDirectory = chart === 'agent-k8s' ? ['--data-home', `/var/lib/${place.namespace}`] : [];
  const argv = [
    '--chart',
    chart,
    '--chart-source',
    sources[chart],
    '--extra-env',
    'TEAM=a',
    '--skip-preflight',
    '--yes',
  ];
  const {exit, stderr} = await install(place, helm, [...argv, ...ownDirectory], {env: TOKEN});
  expect(exit, stderr).toBe(0);
  return place;
}

const helmJson = async (helm: string, {kubeconfig, namespace}: Workplace, ...args: string[]) => {
  const {stdout} = await execa(helm, [
    ...args,
    'scalr-agent',
    '--namespace',
    namespace,
    '--kubeconfig',
    kubeconfig,
    '--output',
    'json',
  ]);
  return JSON.parse(stdout);
};

describe.each(helms)('with Helm $major', ({path: helm}) => {
  test.each(
    CHARTS,
  )('keeps the other values and the version of %s when switched on twice and off', async (chart) => {
    const place = await installed(chart, helm);
    const values = await helmJson(helm, place, 'get', 'values');
    const argv = ['--chart-source', sources[chart], '--yes', '--json'];
    const on = await debug(place, helm, ['on', ...argv]);
    expect(on.exit, on.stdout).toBe(0);
    expect(violations('debug', on.stdout)).toEqual([]);
    expect(JSON.parse(on.stdout)).toMatchObject({
      changed: true,
      debug: 'on',
      chart,
      chartVersion: '0.6.5',
      keys: [KEYS[chart]],
      agent: 'registered',
      steps: [{id: 'release', title: `Enable debug logs in release scalr-agent (${chart}-0.6.5)`}],
    });
    const variables = await place.kubectl(
      'get',
      'deployments',
      '-o',
      'jsonpath={.items[0].spec.template.spec.containers[0].env}',
    );
    expect(JSON.parse(variables)).toContainEqual({
      name: 'SCALR_AGENT_DEBUG',
      value: chart === 'agent-k8s' ? 'true' : '1',
    });
    expect(JSON.parse((await debug(place, helm, ['on', ...argv])).stdout)).toMatchObject({
      changed: false,
      steps: [],
    });

    const off = await debug(place, helm, ['off', ...argv]);
    expect(off.exit, off.stdout).toBe(0);
    expect(await helmJson(helm, place, 'get', 'values')).toEqual(values);
    const history = await helmJson(helm, place, 'history');
    expect(history.map((each: {chart: string}) => each.chart)).toEqual(
      Array(3).fill(`${chart}-0.6.5`),
    );
  });

  test('changes nothing while a Helm operation runs', async () => {
    const place = await installed('agent-local', helm);
    const unready = [
      '--reuse-values',
      '--set',
      'podAnnotations.test\\.scalr\\.io/outcome=unready',
      '--wait',
      '--timeout',
      '60s',
    ];
    const where = ['--namespace', place.namespace, '--kubeconfig', place.kubeconfig];
    const running = execa(
      helm,
      ['upgrade', 'scalr-agent', sources['agent-local'], ...unready, ...where],
      {reject: false},
    );
    const pending = [
      'get',
      'secrets',
      '--selector=owner=helm,status=pending-upgrade',
      '--output',
      'name',
    ];
    await expect.poll(() => place.kubectl(...pending)).not.toBe('');
    const {stdout} = await debug(place, helm, [
      'on',
      '--chart-source',
      sources['agent-local'],
      '--yes',
      '--json',
    ]);
    expect(JSON.parse(stdout).error).toMatchObject({code: 'RELEASE_BUSY', exit: 1});
    running.kill('SIGKILL');
    await running;
  });
});

test('changes nothing with --dry-run or without confirmation, and prints no value of the release', async () => {
  const place = await installed('agent-local', first.path);
  const source = ['--chart-source', sources['agent-local']];
  const dry = await debug(place, first.path, ['on', ...source, '--dry-run']);
  expect(dry.exit, dry.stderr).toBe(0);
  expect(dry.stdout).toMatch(/^helm upgrade scalr-agent .* # reads values from standard input\n$/);
  expect(dry.stderr.replaceAll(/\s+/g, ' ')).toContain(
    'The agent pods restart, and runs inside are interrupted.',
  );
  const unasked = await debug(place, first.path, ['on', ...source, '--json']);
  expect(JSON.parse(unasked.stdout).error).toMatchObject({code: 'NOT_CONFIRMED', exit: 2});
  expect(await helmJson(first.path, place, 'history')).toHaveLength(1);
});

test('names runs in flight of agent-job, which continue', async () => {
  const place = await installed('agent-job', first.path);
  const labels = {
    'app.kubernetes.io/instance': 'scalr-agent',
    'app.kubernetes.io/component': 'task',
  };
  const template = {
    // The run does not end by itself.
    metadata: {labels, annotations: {'test.scalr.io/outcome': 'unready'}},
    spec: {restartPolicy: 'Never', containers: [{name: 'runner', image: 'a'}]},
  };
  await place.kubectl.apply({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {name: 'run-1-plan'},
    spec: {template},
  });
  const {stdout} = await debug(place, first.path, [
    'on',
    '--chart-source',
    sources['agent-job'],
    '--yes',
    '--json',
  ]);
  expect(JSON.parse(stdout)).toMatchObject({
    runsInFlight: ['Job run-1-plan'],
    warnings: [
      {
        code: 'RESTART',
        message: 'The controller restarts. 1 run is in flight; only new runs write debug logs.',
      },
    ],
  });
  expect(await place.kubectl('get', 'jobs', '-o', 'name')).toContain('job.batch/run-1-plan');
});

test('refuses a missing release and a missing state', async () => {
  const place = await installed('agent-local', first.path);
  const missing = await debug(place, first.path, ['on', '--release', 'other', '--json']);
  expect(JSON.parse(missing.stdout).error).toMatchObject({code: 'RELEASE_NOT_FOUND', exit: 2});
  const unnamed = await debug(place, first.path, ['--json']);
  expect(JSON.parse(unnamed.stdout).error).toMatchObject({code: 'USAGE', exit: 2});
  expect(await helmJson(first.path, place, 'history')).toHaveLength(1);
});

// The charts that stand in have no label with their version.
test.runIf(REAL)('refuses a --chart-source with another version or chart', async () => {
  const place = await installed('agent-local', first.path);
  const older = await directoryOf({chart: 'agent-local', version: '0.6.4'}, scratch);
  for (const [source, found] of [
    [older, 'agent-local-0.6.4'],
    [sources['agent-job'], 'agent-job-0.6.5'],
  ] as const) {
    const {stdout} = await debug(place, first.path, [
      'on',
      '--chart-source',
      source,
      '--yes',
      '--json',
    ]);
    const message = expect.stringContaining(`--chart-source contains ${found},`);
    expect(JSON.parse(stdout).error).toMatchObject({code: 'CONFLICTING_SETTINGS', message});
  }
  expect(await helmJson(first.path, place, 'history')).toHaveLength(1);
});
