import {mkdirSync, readdirSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {expect, test} from 'vitest';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {type FaultyApi, faultyApi} from '../control-plane/faulty-api.ts';
import {setLogs} from '../control-plane/logs.ts';
import {pod} from '../control-plane/objects.ts';
import {type Workplace, workplace} from '../control-plane/workplace.ts';
import {collected, freshFile} from '../support/collected.ts';
import {collectLogs} from '../support/run-on-cluster.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();

/** An agent of each name, whose log has so many lines, behind an API server that can be made to fail. */
async function agents(
  names: readonly string[],
  lines = 3,
): Promise<{kubeTarget: Workplace; api: FaultyApi}> {
  const place = await workplace();
  const labels = {'app.kubernetes.io/name': 'agent-local', 'app.kubernetes.io/instance': 'by-hand'};
  await place.kubectl.apply(...names.map((name) => ({...pod(name), metadata: {name, labels}})));
  const log = Array.from({length: lines}, (_, line) => `line ${line} of the log`);
  await setLogs(place.kubeconfig, {namespace: place.namespace}, {'*': {current: log}});
  await place.kubectl('wait', 'pod', '--all', '--for=condition=Ready', '--timeout=20s');
  await expect
    .poll(() => place.kubectl('logs', names[0] as string).catch(String))
    .toContain('line 0');
  const api = await faultyApi(place.kubeconfig);
  return {kubeTarget: {...place, kubeconfig: api.kubeconfig}, api};
}

const LOG_OF_B = /\/pods\/b\/log\?/;
const B = 'logs/b/agent.log';

test('retries when the server requests it', async () => {
  const {kubeTarget, api} = await agents(['a', 'b']);
  const faults = [/\/pods\?/, LOG_OF_B, /\/events\?/].map((path) =>
    api.inject('GET', path, {status: 429, retryAfter: 1}, 1),
  );
  expect(await collected(kubeTarget, helm)).toMatchObject({exit: 0, errors: []});
  expect(faults.map((each) => each.count())).toEqual([1, 1, 1]);
});

test.each([
  [{status: 429}, 'busy'],
  [{status: 500}, 'server'],
] as const)('reports only one missing log when it always returns %j', async (fault, kind) => {
  const {kubeTarget, api} = await agents(['a', 'b', 'c']);
  api.inject('GET', LOG_OF_B, fault);
  const {exit, result, errors, names, text} = await collected(kubeTarget, helm);
  expect({exit, complete: result.complete}).toEqual({exit: 7, complete: false});
  expect(errors).toMatchObject([{what: B, kind}]);
  expect(names.filter((name) => name.startsWith('logs/'))).toEqual([
    'logs/a/agent.log',
    'logs/c/agent.log',
  ]);
  expect(text('SUMMARY.md')).toContain(`- ${B} (NOT_COLLECTED): `);
});

test('skips a node that does not respond', async () => {
  const {kubeTarget, api} = await agents(['a', 'b', 'c']);
  api.inject('GET', LOG_OF_B, 'stall');
  const {exit, errors, names, seconds} = await collected(kubeTarget, helm);
  expect(exit).toBe(7);
  expect(errors).toMatchObject([{what: B, kind: 'stalled'}]);
  expect(names).toEqual(expect.arrayContaining(['logs/a/agent.log', 'logs/c/agent.log']));
  expect(seconds).toBeLessThan(120);
});

test('keeps the start of a log when the node stops sending, and reports it as incomplete', async () => {
  const {kubeTarget, api} = await agents(['a', 'b'], 40_000);
  api.inject('GET', LOG_OF_B, 'hang');
  const {exit, errors, text} = await collected(kubeTarget, helm);
  expect(exit).toBe(7);
  expect(errors).toMatchObject([
    {what: B, kind: 'stalled', message: expect.stringMatching(/^incomplete/)},
  ]);
  expect(text(B)).toMatch(/^\S+ line 0 of the log\n/);
  expect(text(B)).not.toContain('line 39999 ');
  expect(text('logs/a/agent.log')).toMatch(/line 39999 of the log\n$/);
});

test('keeps the start of an interrupted log', async () => {
  const {kubeTarget, api} = await agents(['a', 'b'], 40_000);
  api.inject('GET', LOG_OF_B, 'cut');
  const {exit, errors, text} = await collected(kubeTarget, helm);
  expect(exit).toBe(7);
  expect(errors).toMatchObject([
    {what: B, kind: 'truncated', message: expect.stringMatching(/^incomplete/)},
  ]);
  expect(text(B).length).toBeGreaterThan(100_000);
  expect(text(B)).not.toContain('line 39999 ');
  expect(text('SUMMARY.md')).toContain(`- ${B} (NOT_COLLECTED): incomplete`);
});

test('handles a pod that is deleted between the list and its log', async () => {
  const {kubeTarget, api} = await agents(['a', 'b']);
  const late = api.inject('GET', LOG_OF_B, {delayMs: 3000});
  const collecting = collected(kubeTarget, helm);
  await late.hit;
  await kubeTarget.kubectl('delete', 'pod', 'b', '--grace-period=0', '--force');
  const {exit, errors, names} = await collecting;
  expect(exit).toBe(7);
  expect(errors).toMatchObject([{what: B, kind: 'not-found'}]);
  expect(names).toEqual(expect.arrayContaining(['logs/a/agent.log', 'objects/pod/b.json']));
});

test.each([
  [/\/events\?/, 'Event objects'],
  [/\/networkpolicies\?/, 'NetworkPolicy objects'],
  [/\/nodes\//, /^\/api\/v1\/nodes\//],
])('reports only the failed part for a failure at %s', async (path, what) => {
  const {kubeTarget, api} = await agents(['a']);
  api.inject('GET', path, {status: 500});
  const {exit, errors, names} = await collected(kubeTarget, helm);
  expect(exit).toBe(7);
  expect(errors).toMatchObject([
    {what: typeof what === 'string' ? what : expect.stringMatching(what), kind: 'server'},
  ]);
  expect(names).toContain('logs/a/agent.log');
});

test('writes a bundle in time when the API server stops', async () => {
  const names = Array.from({length: 20}, (_, at) => `agent-${at}`);
  const {kubeTarget, api} = await agents(names);
  const late = api.inject('GET', /\/pods\/agent-1[0-9]\/log\?/, 'stall');
  const collecting = collected(kubeTarget, helm, ['--timeout', '40s']);
  await late.hit;
  api.stop();
  const {exit, errors, names: all, text, seconds} = await collecting;
  expect(exit).toBe(7);
  expect(errors.length).toBeGreaterThan(0);
  const lost = errors.map(({what}) => what);
  expect(all).toEqual(
    expect.arrayContaining(
      names.map((name) => `logs/${name}/agent.log`).filter((log) => !lost.includes(log)),
    ),
  );
  expect(text('SUMMARY.md')).toContain('## Not included');
  expect(seconds).toBeLessThan(120);
});

test('writes a bundle of the data so far when it times out', async () => {
  const {kubeTarget, api} = await agents(['a', 'b']);
  api.inject('GET', LOG_OF_B, 'stall');
  const {exit, errors, names, seconds} = await collected(kubeTarget, helm, ['--timeout', '6s']);
  expect(exit).toBe(7);
  expect(errors).toMatchObject([
    {what: B, kind: 'aborted', message: expect.stringContaining('timed out (--timeout)')},
  ]);
  expect(names).toContain('logs/a/agent.log');
  expect(seconds).toBeLessThan(60);
});

test('continues with other kinds when a list does not respond', async () => {
  const {kubeTarget, api} = await agents(['a']);
  api.inject('GET', /\/secrets\?/, 'stall');
  const {exit, errors, names, seconds, text} = await collected(kubeTarget, helm);
  expect(exit).toBe(7);
  expect(errors.map(({kind}) => kind)).toEqual(['stalled', 'stalled']);
  expect(text('SUMMARY.md')).toMatch(/^Secrets were not searched: 1 namespace not readable\./);
  expect(names).toContain('logs/a/agent.log');
  expect(seconds).toBeLessThan(120);
});

test('reports an unreachable API server and writes nothing', async () => {
  const {kubeTarget, api} = await agents(['a']);
  api.stop();
  const directory = join(dirname(freshFile()), kubeTarget.namespace);
  mkdirSync(directory);
  const {stdout, exit} = await collectLogs(kubeTarget, helm, [
    '--json',
    '--out',
    join(directory, 'x.zip'),
  ]);
  expect({exit, ...JSON.parse(stdout).error}).toMatchObject({
    exit: 1,
    code: 'CLUSTER_UNREACHABLE',
    suggestions: [expect.stringContaining('kubectl cluster-info'), expect.any(String)],
  });
  expect(readdirSync(directory)).toEqual([]);
});
