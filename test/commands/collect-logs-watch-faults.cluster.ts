import {setTimeout as wait} from 'node:timers/promises';
import {execa} from 'execa';
import {expect, test} from 'vitest';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {accountWith} from '../control-plane/accounts.ts';
import {type FaultyApi, faultyApi} from '../control-plane/faulty-api.ts';
import {appendLog, setLogs} from '../control-plane/logs.ts';
import {pod} from '../control-plane/objects.ts';
import {workplace} from '../control-plane/workplace.ts';
import {collected} from '../support/collected.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();
const A = 'logs/a/agent.log';
const FOLLOWED = /\/pods\/a\/log\?.*follow=true/;
const LISTS = /\/namespaces\/[\w-]+\/(pods|jobs|replicasets|events)\?/;

/** Two agents that are followed by way of an API server that can be made to fail, and say a line a moment until it is enough. */
async function watched(
  prepare: (api: FaultyApi) => void,
  argv: readonly string[] = ['--for', '2m'],
  rules?: readonly object[],
) {
  const place = await workplace();
  const {namespace, kubeconfig, kubectl} = place;
  const labels = {'app.kubernetes.io/name': 'agent-local', 'app.kubernetes.io/instance': 'by-hand'};
  await kubectl.apply(...['a', 'b'].map((name) => ({...pod(name), metadata: {name, labels}})));
  await setLogs(kubeconfig, {namespace}, {'*': {current: ['line 0']}});
  await kubectl('wait', 'pod', '--all', '--for=condition=Ready', '--timeout=20s');
  await expect.poll(() => kubectl('logs', 'a').catch(String)).toContain('line 0');
  const api = await faultyApi(kubeconfig);
  prepare(api);
  const asWhom = rules === undefined ? api.kubeconfig : await accountWith(rules, place);
  const interrupt = new AbortController();
  const forceQuit = new AbortController().signal;
  let said = '';
  const stderr = (text: string): void => {
    said += text;
  };
  const handleInterrupts = () => ({
    interrupt: interrupt.signal,
    forceQuit,
    release: () => undefined,
  });
  const bundle = collected({...place, kubeconfig: asWhom}, helm, ['--watch', ...argv], {
    handleInterrupts,
    stderr,
  });
  await expect.poll(() => said).toContain(`Following ${A}`);
  let lines = 1;
  return {
    place,
    api,
    bundle,
    /** More lines, a quarter of a second apart. */
    async goesOn(count: number) {
      for (const last = lines + count; lines < last; lines += 1) {
        await appendLog(kubeconfig, {namespace}, '*', `line ${lines}`);
        await wait(250);
      }
    },
    /** Ctrl-C. */
    async end() {
      interrupt.abort('SIGINT');
      return {lines, ...(await bundle)};
    },
  };
}

/** Every line once, in order. */
const all = (lines: number): number[] => Array.from({length: lines}, (_, line) => line);
const numbersIn = (log: string): number[] =>
  [...log.matchAll(/ line (\d+)$/gm)].map(([, number]) => Number(number));

test.each([
  ['break off again and again', {breakAfterMs: 1200}, 2],
  ['fall silent', {silentAfterMs: 500}, 1],
  ['are answered by 429', {status: 429, retryAfter: 1}, 3],
  ['are answered by 500', {status: 500}, 3],
  ['are forbidden for a while', {status: 403}, 2],
  ['are reset', 'reset', 3],
] as const)('loses and repeats no line when streams %s', async (_, fault, times) => {
  let injected: ReturnType<FaultyApi['inject']> | undefined;
  const run = await watched((api) => {
    injected = api.inject('GET', FOLLOWED, fault, times);
  });
  await run.goesOn(30);
  const {exit, errors, text, lines} = await run.end();
  expect(injected?.count()).toBe(times);
  expect({exit, errors}).toEqual({exit: 0, errors: []});
  expect(numbersIn(text(A))).toEqual(all(lines));
});

test.each([
  ['410 Gone', {status: 410}],
  ['429', {status: 429, retryAfter: 1}],
  ['500', {status: 500}],
  ['a reset', 'reset'],
] as const)('follows logs and finds new runs while lists return %s', async (_, fault) => {
  const run = await watched(() => undefined);
  const injected = run.api.inject('GET', LISTS, fault);
  await injected.hit;
  await run.place.kubectl.apply({
    ...pod('run-3-plan'),
    metadata: {
      name: 'run-3-plan',
      labels: {'app.kubernetes.io/name': 'agent-local', 'app.kubernetes.io/instance': 'by-hand'},
    },
  });
  await run.goesOn(12);
  injected.end();
  await run.goesOn(12);
  const {exit, errors, names, text, lines} = await run.end();
  expect(exit, JSON.stringify(errors)).toBe(0);
  // That for some seconds nobody looked is said, and is too short for a run to come and go.
  for (const error of errors)
    expect(error).toMatchObject({
      what: expect.stringMatching(/ objects \(--watch\)$/),
      isMinor: true,
    });
  expect(numbersIn(text(A))).toEqual(all(lines));
  expect(names).toContain('logs/run-3-plan/agent.log');
});

test('waits for an API server that restarts, and records the lines meanwhile', async () => {
  const run = await watched(() => undefined);
  await run.goesOn(4);
  run.api.stop();
  await run.goesOn(16);
  await run.api.start();
  await run.goesOn(16);
  const {exit, errors, text, lines} = await run.end();
  expect(exit, JSON.stringify(errors)).toBe(0);
  expect(numbersIn(text(A))).toEqual(all(lines));
});

test('runs kubectl per request when kubectl proxy does not work', async () => {
  const run = await watched(() => undefined);
  await run.goesOn(4);
  const {stdout} = await execa('pgrep', [
    '-f',
    `proxy .*${run.api.kubeconfig}|${run.api.kubeconfig}.* proxy`,
  ]);
  for (const pid of stdout.split('\n')) process.kill(Number(pid), 'SIGKILL');
  await run.goesOn(24);
  const {exit, errors, text, lines} = await run.end();
  expect(exit, JSON.stringify(errors)).toBe(0);
  expect(numbersIn(text(A))).toEqual(all(lines));
});

test('keeps the start of a log when the pod is deleted while its stream is interrupted, and reports it', async () => {
  const run = await watched((api) => void api.inject('GET', FOLLOWED, {breakAfterMs: 2000}, 1));
  await run.goesOn(4);
  const broken = run.api.inject('GET', FOLLOWED, {status: 500});
  await broken.hit;
  await run.place.kubectl('delete', 'pod', 'a', '--grace-period=0', '--force');
  await run.goesOn(16);
  const {exit, errors, names, text, result} = await run.end();
  expect(exit).toBe(7);
  expect(result.complete).toBe(false);
  expect(errors).toMatchObject([
    {what: A, kind: 'server', message: expect.stringMatching(/^incomplete/)},
  ]);
  expect(numbersIn(text(A)).slice(0, 4)).toEqual(all(4));
  expect(names).toContain('gone/objects/pod/a.json');
  expect(text('SUMMARY.md')).toContain(`- ${A} (NOT_COLLECTED): incomplete`);
});

test('keeps followed logs when the API server is down at the end, and reports missing parts', async () => {
  const run = await watched(() => undefined, ['--for', '2m', '--timeout', '20s']);
  await run.goesOn(8);
  run.api.stop();
  const {exit, errors, text} = await run.end();
  expect(exit).toBe(7);
  expect(errors.map(({what}) => what)).toEqual(expect.arrayContaining([A, 'Pod objects']));
  expect(numbersIn(text(A)).slice(0, 6)).toEqual(all(6));
});

const READ = ['get', 'list'];

test('follows with list permission but without watch', async () => {
  const rules = ['', 'apps', 'batch', 'networking.k8s.io', 'policy'].map((group) => ({
    apiGroups: [group],
    resources: ['*', 'pods'],
    verbs: READ,
  }));
  const run = await watched(() => undefined, ['--for', '2m'], rules);
  await run.goesOn(8);
  const {exit, errors, text, lines} = await run.end();
  expect(exit, JSON.stringify(errors)).toBe(0);
  expect(numbersIn(text(A))).toEqual(all(lines));
});

test('follows what a restricted account can read, and reports the rest', async () => {
  const rules = [{apiGroups: [''], resources: ['pods', 'pods/log'], verbs: READ}];
  const run = await watched(() => undefined, ['--for', '2m'], rules);
  await run.goesOn(8);
  const {exit, errors, text, lines} = await run.end();
  expect(exit).toBe(7);
  expect(errors).toContainEqual(
    expect.objectContaining({what: 'Event objects (--watch)', kind: 'forbidden'}),
  );
  expect(numbersIn(text(A))).toEqual(all(lines));
});

test('ends after --for', async () => {
  const start = Date.now();
  const run = await watched(() => undefined, ['--for', '8s']);
  await run.goesOn(8);
  const {exit, errors, text} = await run.bundle;
  expect({exit, errors}).toEqual({exit: 0, errors: []});
  expect(numbersIn(text(A)).slice(0, 8)).toEqual(all(8));
  expect(Date.now() - start).toBeLessThan(120_000);
});
