import {setImmediate as turn} from 'node:timers/promises';
import {expect, test} from 'vitest';
import type {ApiReader, ApiResult} from '../../../../src/cluster/kubernetes/client.ts';
import type {Pod} from '../../../../src/cluster/kubernetes/objects.ts';
import {record} from '../../../../src/extensions/bundle/collect/record.ts';
import type {BundledRelease} from '../../../../src/extensions/bundle/collect/scope.ts';

const JOBS: BundledRelease = {
  name: 'jobs',
  chart: 'agent-job',
  version: '0.6.5',
  runsOf: {chart: 'agent-job', version: '0.6.5', release: 'jobs', taskLabels: {}},
};

const pod = (name: string, phase: string, labels: Readonly<Record<string, string>> = {}): Pod => ({
  metadata: {name, uid: name, labels: {'app.kubernetes.io/instance': 'jobs', ...labels}},
  status: {phase, containerStatuses: [{name: 'worker', state: {running: {}}}]},
});
const ofRun = (name: string, phase: string, run: string): Pod =>
  pod(name, phase, {'app.kubernetes.io/component': 'task', run});

/** Looks at one list of pods after the other, and for ever at the last one. */
async function watched(
  options: {run?: string; container?: string},
  ...looks: readonly (readonly Pod[])[]
) {
  let left = looks;
  const until = new AbortController();
  const api: ApiReader = {
    async get(path) {
      if (!path.includes('/pods?')) return {status: 200, body: {items: []}};
      const [items = []] = left;
      if (left.length > 1) left = left.slice(1);
      else setTimeout(() => until.abort(), 200);
      return {status: 200, body: {items}};
    },
    stream: async () => ({error: {kind: 'not-started', message: 'it waits'}}),
    close: async () => undefined,
  };
  const deps = {
    api,
    until: until.signal,
    now: () => new Date(),
    sleep: async () => turn(),
    onLog: () => undefined,
  };
  const {logs, gaps} = await record(
    {
      namespace: 'n',
      releases: [JOBS],
      since: undefined,
      maxBytes: 1e6,
      readsSecrets: false,
      ...options,
    },
    deps,
  );
  return {isTold: until.signal.aborted, files: logs.map(({item}) => item.file), gaps};
}

const AGENT = pod('agent-1', 'Running');

test('ends with a run whose ID is only in a label', async () => {
  const there = [AGENT, ofRun('w-1', 'Running', 'run-x')];
  const {isTold, files} = await watched(
    {run: 'run-x'},
    there,
    there,
    [AGENT, ofRun('w-1', 'Succeeded', 'run-x')],
    [AGENT],
  );
  expect(isTold).toBe(false);
  expect(files).toContain('logs/w-1/worker.log');
});

test('does not end with a run whose ID has the same prefix', async () => {
  const {isTold, files} = await watched(
    {run: 'run-x'},
    [AGENT, pod('w-run-x2', 'Succeeded', {'app.kubernetes.io/component': 'task'})],
    [AGENT],
  );
  expect({isTold, files}).toEqual({isTold: true, files: ['logs/agent-1/worker.log']});
});

test('reports a requested run and container that never appeared', async () => {
  const run = {what: 'run run-x', error: {kind: 'not-found', message: 'not seen while watching'}};
  const container = {
    what: 'container nope',
    error: {kind: 'not-found', message: 'no container with this name started while watching'},
  };
  expect((await watched({run: 'run-x', container: 'worker'}, [AGENT])).gaps).toEqual([run]);
  expect((await watched({container: 'nope'}, [AGENT])).gaps).toEqual([container]);
});

const failed: ApiResult = {error: {kind: 'server', message: 'etcd has no leader', status: 500}};

/** Lists pods once for each answer, so many seconds after the one before. */
async function listed(
  ...answers: readonly [seconds: number, answer: ApiResult | readonly Pod[]][]
) {
  let time = Date.parse('2026-11-21T08:00:00Z');
  const left = [...answers];
  const until = new AbortController();
  const api: ApiReader = {
    async get(path) {
      if (!path.includes('/pods?')) return {status: 200, body: {items: []}};
      const [seconds, answer] = left.shift() ?? [0, failed];
      time += seconds * 1000;
      if (left.length === 0) until.abort();
      return Array.isArray(answer) ? {status: 200, body: {items: answer}} : (answer as ApiResult);
    },
    stream: async () => ({error: {kind: 'not-started', message: 'it waits'}}),
    close: async () => undefined,
  };
  const {logs, gaps} = await record(
    {namespace: 'n', releases: [JOBS], since: undefined, maxBytes: 1e6, readsSecrets: false},
    {
      api,
      until: until.signal,
      now: () => new Date(time),
      sleep: async () => turn(),
      onLog: () => undefined,
    },
  );
  return {files: logs.map(({item}) => item.file), gaps};
}

test('keeps the last list when lists fail for some seconds, and reports it', async () => {
  const {files, gaps} = await listed([0, [AGENT]], [2, failed], [10, failed]);
  expect(files).toEqual(['logs/agent-1/worker.log']);
  expect(gaps).toMatchObject([
    {
      what: 'Pod objects (--watch)',
      at: '2026-11-21T08:00:00.000Z',
      isMinor: true,
      error: {kind: 'server', message: expect.stringMatching(/^not watched for 12 s: .*no leader/)},
    },
  ]);
});

test('reports possibly missing runs when lists fail longer than a run exists', async () => {
  const {gaps} = await listed([0, [AGENT]], [2, failed], [60, [AGENT]], [2, [AGENT]]);
  expect(gaps).toMatchObject([
    {isMinor: false, error: {message: expect.stringMatching(/^not watched for 62 s/)}},
  ]);
});

test('reports nothing without failures', async () => {
  expect((await listed([0, [AGENT]], [100, [AGENT]])).gaps).toEqual([]);
});
