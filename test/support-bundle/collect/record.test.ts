import {setImmediate as turn} from 'node:timers/promises';
import {expect, test} from 'vitest';
import type {Pod} from '../../../src/cluster/objects.ts';
import type {Answer, ApiReader} from '../../../src/kubernetes/client.ts';
import {record} from '../../../src/support-bundle/collect/record.ts';
import type {BundledRelease} from '../../../src/support-bundle/collect/scope.ts';

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
const ofRun = (name: string, phase: string, run: string): Pod => pod(name, phase, {'app.kubernetes.io/component': 'task', run});

/** Looks at one list of pods after the other, and for ever at the last one. */
async function watched(wish: {run?: string; container?: string}, ...looks: readonly (readonly Pod[])[]) {
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
    stream: async () => ({trouble: {kind: 'not-started', message: 'it waits'}}),
    close: async () => undefined,
  };
  const world = {api, until: until.signal, now: () => new Date(), sleep: async () => turn(), onLog: () => undefined};
  const {logs, gaps} = await record(
    {namespace: 'n', releases: [JOBS], since: undefined, maxBytes: 1e6, readsSecrets: false, ...wish},
    world,
  );
  return {isTold: until.signal.aborted, files: logs.map(({item}) => item.file), gaps};
}

const AGENT = pod('agent-1', 'Running');

test('it ends with a run whose id is only in a label', async () => {
  const there = [AGENT, ofRun('w-1', 'Running', 'run-x')];
  const {isTold, files} = await watched({run: 'run-x'}, there, there, [AGENT, ofRun('w-1', 'Succeeded', 'run-x')], [AGENT]);
  expect(isTold).toBe(false);
  expect(files).toContain('logs/w-1/worker.log');
});

test('another run whose id only begins alike does not end it', async () => {
  const {isTold, files} = await watched(
    {run: 'run-x'},
    [AGENT, pod('w-run-x2', 'Succeeded', {'app.kubernetes.io/component': 'task'})],
    [AGENT],
  );
  expect({isTold, files}).toEqual({isTold: true, files: ['logs/agent-1/worker.log']});
});

test('a run and a container that were looked for and never seen are missing', async () => {
  const run = {what: 'run run-x', trouble: {kind: 'not-found', message: 'it was not seen'}};
  const container = {what: 'container nope', trouble: {kind: 'not-found', message: 'none of this name was seen to begin'}};
  expect((await watched({run: 'run-x', container: 'worker'}, [AGENT])).gaps).toEqual([run]);
  expect((await watched({container: 'nope'}, [AGENT])).gaps).toEqual([container]);
});

const failed: Answer = {trouble: {kind: 'server', message: 'etcd has no leader', status: 500}};

/** Lists pods once for each answer, so many seconds after the one before. */
async function listed(...answers: readonly [seconds: number, answer: Answer | readonly Pod[]][]) {
  let time = Date.parse('2026-11-21T08:00:00Z');
  const left = [...answers];
  const until = new AbortController();
  const api: ApiReader = {
    async get(path) {
      if (!path.includes('/pods?')) return {status: 200, body: {items: []}};
      const [seconds, answer] = left.shift() ?? [0, failed];
      time += seconds * 1000;
      if (left.length === 0) until.abort();
      return Array.isArray(answer) ? {status: 200, body: {items: answer}} : (answer as Answer);
    },
    stream: async () => ({trouble: {kind: 'not-started', message: 'it waits'}}),
    close: async () => undefined,
  };
  const {logs, gaps} = await record(
    {namespace: 'n', releases: [JOBS], since: undefined, maxBytes: 1e6, readsSecrets: false},
    {api, until: until.signal, now: () => new Date(time), sleep: async () => turn(), onLog: () => undefined},
  );
  return {files: logs.map(({item}) => item.file), gaps};
}

test('what could not be listed for some seconds is as it was, and that nobody looked is said', async () => {
  const {files, gaps} = await listed([0, [AGENT]], [2, failed], [10, failed]);
  expect(files).toEqual(['logs/agent-1/worker.log']);
  expect(gaps).toMatchObject([
    {
      what: 'Pod objects of --watch',
      isMinor: true,
      trouble: {kind: 'server', message: expect.stringMatching(/^for 12 s nobody saw .*no leader/)},
    },
  ]);
});

test('in a time that is longer than the life of a run something may be missing', async () => {
  const {gaps} = await listed([0, [AGENT]], [2, failed], [60, [AGENT]], [2, [AGENT]]);
  expect(gaps).toMatchObject([{isMinor: false, trouble: {message: expect.stringMatching(/^for 62 s /)}}]);
});

test('while all goes well there is nothing to say', async () => {
  expect((await listed([0, [AGENT]], [100, [AGENT]])).gaps).toEqual([]);
});
