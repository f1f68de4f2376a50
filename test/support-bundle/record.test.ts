import {setImmediate as turn} from 'node:timers/promises';
import {expect, test} from 'vitest';
import type {Pod} from '../../src/cluster/objects.ts';
import type {ApiReader} from '../../src/kubernetes/client.ts';
import {redactionFor} from '../../src/support-bundle/bundle.ts';
import {record} from '../../src/support-bundle/record.ts';
import type {BundledRelease} from '../../src/support-bundle/scope.ts';

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
  const {redact: redactor} = redactionFor([]);
  const world = {api, redactor, until: until.signal, now: () => new Date(), sleep: async () => turn(), onLog: () => undefined};
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
