import {existsSync, mkdtempSync, readdirSync, readFileSync, rmSync} from 'node:fs';
import {chmod, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {delimiter, join} from 'node:path';
import {afterAll, afterEach, expect, onTestFinished, test, vi} from 'vitest';
import type {KubernetesClient} from '../../../src/cluster/kubernetes/client.ts';
import {kubernetesClient} from '../../../src/cluster/kubernetes/connect.ts';
import {INSTALL_KUBECTL} from '../../../src/ground/errors.ts';
import {HANGS} from '../../support/own-tools.ts';
import {readLog} from './read-log.ts';

// The sockets of these tests and nobody else's.
const folder = mkdtempSync(join(tmpdir(), 'api-'));
const place = {namespace: 'scalr-agent'};
const forEver = new AbortController().signal;
afterAll(() => rmSync(folder, {recursive: true}));
afterEach(() => vi.unstubAllEnvs());

/** The API through a kubectl of our own: what it does as a proxy, and what as `kubectl get --raw PATH`, which is `$3`. */
async function apiBy({
  proxy,
  raw = 'exit 9',
  signal = forEver,
}: {
  proxy: string;
  raw?: string;
  signal?: AbortSignal;
}): Promise<KubernetesClient> {
  vi.stubEnv('TMPDIR', folder);
  const kubectl = join(folder, `kubectl-${Math.random()}`);
  await writeFile(kubectl, `#!/bin/sh\nif [ "$1" = proxy ]; then ${proxy}\nelse ${raw}\nfi\n`);
  await chmod(kubectl, 0o755);
  const api = kubernetesClient(place, {kubectl});
  onTestFinished(() => api.close());
  await api.connect(signal);
  return api;
}

const sockets = (): string[] =>
  readdirSync(folder).filter((name) => name.startsWith('scalr-agent-'));
const OLD = 'echo "error: unknown flag: --unix-socket" >&2; exit 1';

/** A proxy that answers every request with one line of text. */
const SERVES = `exec node -e '
  const path = process.argv.find((each) => each.startsWith("--unix-socket=")).split("=")[1];
  require("http").createServer((_, out) => out.end("through the proxy")).listen(path, () => console.log("Starting to serve on " + path));
' -- "$@"`;

test('runs kubectl per request when no socket can be created', async () => {
  const api = await apiBy({proxy: OLD, raw: `echo '{"path": "'"$3"'"}'`});
  expect(await api.get('/api/v1/pods?limit=1', {signal: forEver})).toEqual({
    status: 200,
    body: {path: '/api/v1/pods?limit=1'},
  });
  expect(await readLog(await api.stream('/log', {signal: forEver}))).toEqual({
    text: '{"path": "/log"}\n',
    error: undefined,
  });
  expect(sockets()).toEqual([]);
});

test('starts no kubectl when no file of KUBECONFIG exists, except in a pod', async () => {
  const files = [join(folder, 'missing'), join(folder, 'gone')];
  vi.stubEnv('KUBECONFIG', files.join(delimiter));
  vi.stubEnv('KUBERNETES_SERVICE_HOST', '');
  const message = `Cannot read the kubeconfig ${files.join(', ')} (no such file or directory).`;
  await expect(apiBy({proxy: SERVES})).rejects.toMatchObject({
    code: 'CLUSTER_UNREACHABLE',
    message,
  });
  await writeFile(files[1] as string, '');
  await apiBy({proxy: SERVES});
  await rm(files[1] as string);
  vi.stubEnv('KUBERNETES_SERVICE_HOST', '10.0.0.1');
  await apiBy({proxy: SERVES});
});

test('causes no listener warning when many requests share one signal', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const api = await apiBy({proxy: SERVES});
  const signal = new AbortController().signal;
  await Promise.all(Array.from({length: 30}, async () => api.get('/', {signal})));
  await new Promise(setImmediate);
  expect(warnings).toEqual([]);
});

test('works when the path of the temporary directory is too long for a socket', async () => {
  const long = mkdtempSync(join(tmpdir(), 'x'.repeat(90)));
  onTestFinished(() => rmSync(long, {recursive: true}));
  const kubectl = join(folder, 'kubectl');
  await writeFile(kubectl, `#!/bin/sh\n${SERVES}\n`, {mode: 0o755});
  vi.stubEnv('TMPDIR', long);
  const api = kubernetesClient(place, {kubectl});
  expect(await api.get('/', {signal: forEver})).toMatchObject({
    status: 200,
    body: 'through the proxy',
  });
  await api.close();
  expect(readdirSync(long)).toEqual([]);
});

test('runs kubectl per request when the proxy exits', async () => {
  const api = await apiBy({
    proxy: SERVES.replace('out.end("through the proxy")', 'process.exit()'),
    raw: 'echo by itself',
  });
  expect(await api.get('/', {signal: forEver})).toEqual({status: 200, body: 'by itself\n'});
  expect(sockets()).toEqual([]);
});

test('leaves no socket and no directory behind', async () => {
  const api = await apiBy({proxy: SERVES});
  expect(sockets()).toHaveLength(1);
  await api.close();
  expect(sockets()).toEqual([]);
});

test('stops waiting for a proxy that never serves when the signal is aborted', async () => {
  const api = await apiBy({
    proxy: HANGS,
    signal: AbortSignal.timeout(500),
    raw: 'echo by itself',
  });
  expect(sockets()).toEqual([]);
  expect(await api.get('/', {signal: forEver})).toEqual({status: 200, body: 'by itself\n'});
});

test.each([
  ['error: context "nope" does not exist', 'CLUSTER_UNREACHABLE'],
  ['error: stat /nowhere: no such file or directory', 'CLUSTER_UNREACHABLE'],
  ['error: You must be logged in to the server', 'NOT_LOGGED_IN'],
])('fails at once when %s', async (words, code) => {
  await expect(apiBy({proxy: `echo '${words}' >&2; exit 1`})).rejects.toMatchObject({code});
  expect(sockets()).toEqual([]);
});

test('suggests a next step when kubectl is missing', async () => {
  await expect(
    kubernetesClient(place, {kubectl: '/nowhere/kubectl'}).connect(forEver),
  ).rejects.toMatchObject({
    code: 'TOOL_NOT_FOUND',
    suggestions: [INSTALL_KUBECTL],
  });
});

test.each([
  ['Error from server (Forbidden): pods is forbidden', {kind: 'forbidden', status: 403}],
  ['Error from server (NotFound): pods "x" not found', {kind: 'not-found', status: 404}],
  [
    'Error from server (BadRequest): container "c" in pod "p" is waiting to start: trying',
    {kind: 'not-started', status: 400},
  ],
  ['error: You must be logged in to the server (Unauthorized)', {kind: 'not-logged-in'}],
])('reports the same error for kubectl as over HTTP: %s', async (words, error) => {
  const api = await apiBy({proxy: OLD, raw: `echo '${words}' >&2; exit 1`});
  expect(await api.stream('/log', {signal: forEver})).toMatchObject({error});
});

test('keeps the start of a log that kubectl truncates', async () => {
  const api = await apiBy({
    proxy: OLD,
    raw: 'echo begun; echo "error: unexpected EOF" >&2; exit 1',
  });
  expect(await readLog(await api.stream('/log', {signal: forEver}))).toMatchObject({
    text: 'begun\n',
    error: {kind: 'truncated'},
  });
});

test('accepts an empty log', async () => {
  const api = await apiBy({proxy: OLD, raw: 'exit 0'});
  expect(await readLog(await api.stream('/log', {signal: forEver}))).toEqual({
    text: '',
    error: undefined,
  });
});

test('stops a stalled kubectl after the idle time', async () => {
  const mark = join(folder, 'ended');
  const api = await apiBy({
    proxy: OLD,
    raw: `echo begun; trap 'touch ${mark}; exit' TERM; while :; do sleep 0.05; done`,
  });
  expect(await readLog(await api.stream('/log', {signal: forEver, idleMs: 300}))).toMatchObject({
    text: 'begun\n',
    error: {kind: 'stalled'},
  });
  await expect.poll(() => existsSync(mark)).toBe(true);
});

test('aborts queued calls with their signal, and runs at most four at once', async () => {
  const api = await apiBy({
    proxy: OLD,
    raw: `echo $$ >> ${join(folder, 'started')}; ${HANGS}`,
  });
  const controller = new AbortController();
  const answers = Array.from({length: 9}, () => api.get('/', {signal: controller.signal}));
  const list = join(folder, 'started');
  const started = (): number =>
    existsSync(list) ? readFileSync(list, 'utf8').trim().split('\n').length : 0;
  await expect.poll(started).toBe(4);
  controller.abort();
  for (const answer of await Promise.all(answers))
    expect(answer).toMatchObject({error: {kind: 'aborted'}});
  expect(started()).toBe(4);
});
