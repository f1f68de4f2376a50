import {mkdirSync, readdirSync, statSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {expect, test} from 'vitest';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {type FaultyApi, faultyApi} from '../control-plane/faulty-api.ts';
import {findKubectl} from '../control-plane/kubectl.ts';
import {setLogs} from '../control-plane/logs.ts';
import {pod} from '../control-plane/objects.ts';
import {workplace} from '../control-plane/workplace.ts';
import {PROGRAM} from '../package/built.ts';
import {freshFile, unpack} from '../support/collected.ts';
import {violations} from '../support/output-schema.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();
const kubectl = await findKubectl();

/** The built program in a group of its own, without a terminal, on two agents behind an API server that can be made to fail. */
async function start(prepare: (api: FaultyApi) => void, ...more: readonly string[]) {
  const place = await workplace();
  const labels = {'app.kubernetes.io/name': 'agent-local'};
  await place.kubectl.apply(
    ...['a', 'b'].map((name) => ({...pod(name), metadata: {name, labels}})),
  );
  const current = Array.from({length: 20_000}, (_, line) => `line ${line}, raw data`);
  const {namespace, kubeconfig} = place;
  await setLogs(kubeconfig, {namespace}, {'*': {current}});
  await setLogs(kubeconfig, {namespace, pod: 'b'}, {'*': {current: current.slice(0, 100)}});
  await place.kubectl('wait', 'pod', '--all', '--for=condition=Ready', '--timeout=20s');
  await expect.poll(() => place.kubectl('logs', 'a', '--tail=1').catch(String)).toContain('line');
  const api = await faultyApi(place.kubeconfig);
  prepare(api);
  const directory = freshFile();
  mkdirSync(directory);
  const sockets = join(tmpdir(), place.namespace);
  mkdirSync(sockets);
  const file = join(directory, 'x.zip');
  const flags = [
    '--kubeconfig',
    api.kubeconfig,
    '--namespace',
    place.namespace,
    '--helm',
    helm,
    '--kubectl',
    kubectl,
    '--out',
    file,
  ];
  const child = execa(process.execPath, [PROGRAM, 'collect-logs', ...flags, ...more], {
    detached: true,
    stdin: 'ignore',
    reject: false,
    env: {TMPDIR: sockets},
  });
  return {
    child,
    file,
    files: () => readdirSync(directory),
    bytes: () =>
      readdirSync(directory).reduce(
        (sum, name) => sum + (name.endsWith('.partial') ? statSync(join(directory, name)).size : 0),
        0,
      ),
    sockets: () => readdirSync(sockets),
    signal: (name: NodeJS.Signals) => void process.kill(-(child.pid as number), name),
    /** Processes that have to do with this namespace. */
    left: async () => (await execa('pgrep', ['-f', place.namespace], {reject: false})).stdout,
  };
}

const LOG_OF_B = /\/pods\/b\/log\?/;

/** Half of one log has come, and some of the other, larger one. */
async function halfway(...more: readonly string[]) {
  let hung: Promise<unknown> = Promise.resolve();
  const run = await start(
    (api) => {
      hung = api.inject('GET', LOG_OF_B, 'hang').hit;
    },
    ...more,
  );
  await hung;
  await expect.poll(run.bytes).toBeGreaterThan(32 * 1024);
  return run;
}

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s in the middle keeps what is there in a whole archive', async (name, status) => {
  const run = await halfway();
  run.signal(name);
  const {exitCode, stdout, stderr} = await run.child;
  expect({exitCode, stdout}, stderr).toEqual({exitCode: status, stdout: run.file});
  expect(run.files()).toEqual(['x.zip']);
  const {errors, names, text} = await unpack(run.file);
  expect(errors).toContainEqual(
    expect.objectContaining({
      what: 'logs/b/agent.log',
      kind: 'aborted',
      message: expect.stringContaining('interrupted'),
    }),
  );
  expect(names).toEqual(
    expect.arrayContaining(['logs/a/agent.log', 'SUMMARY.md', 'redactions.json']),
  );
  expect(text('SUMMARY.md')).toContain('- logs/b/agent.log (NOT_COLLECTED): ');
  expect({left: await run.left(), sockets: run.sockets()}).toEqual({left: '', sockets: []});
});

async function watching() {
  const run = await start(() => undefined, '--watch');
  let said = '';
  run.child.stderr?.on('data', (chunk) => {
    said += chunk;
  });
  await expect.poll(() => said).toMatch(/Following logs\/b\/agent\.log/);
  return run;
}

test('who insists while it watches gets no bundle', async () => {
  const run = await watching();
  run.signal('SIGINT');
  run.signal('SIGHUP');
  const {exitCode, stdout, stderr} = await run.child;
  expect({exitCode, stdout}, stderr).toEqual({exitCode: 130, stdout: ''});
  expect({files: run.files(), left: await run.left(), sockets: run.sockets()}).toEqual({
    files: [],
    left: '',
    sockets: [],
  });
});

test('of --watch Ctrl-C is the end that it waits for', async () => {
  const run = await watching();
  run.signal('SIGINT');
  const {exitCode, stdout, stderr} = await run.child;
  expect({exitCode, stdout}, stderr).toEqual({exitCode: 0, stdout: run.file});
  const {errors, text} = await unpack(run.file);
  expect(errors).toEqual([]);
  expect(text('logs/b/agent.log')).toContain('line 99, raw data');
  expect({files: run.files(), left: await run.left(), sockets: run.sockets()}).toEqual({
    files: ['x.zip'],
    left: '',
    sockets: [],
  });
});

test('before anything was read it leaves nothing', async () => {
  let stalled: Promise<unknown> = Promise.resolve();
  const run = await start((api) => {
    stalled = api.inject('GET', /./, 'stall').hit;
  });
  await stalled;
  run.signal('SIGINT');
  const {exitCode, stderr, stdout} = await run.child;
  expect({exitCode, stdout}).toEqual({exitCode: 130, stdout: ''});
  expect(stderr).toContain('Interrupted. No bundle was written.');
  expect({files: run.files(), left: await run.left(), sockets: run.sockets()}).toEqual({
    files: [],
    left: '',
    sockets: [],
  });
});

test('who insists gets no bundle, at once', async () => {
  const run = await halfway();
  run.signal('SIGINT');
  // Two of one name that are sent at once are one.
  run.signal('SIGHUP');
  const {exitCode, stderr} = await run.child;
  expect(exitCode).toBe(130);
  expect(stderr).toContain('No bundle was written');
  expect({files: run.files(), left: await run.left(), sockets: run.sockets()}).toEqual({
    files: [],
    left: '',
    sockets: [],
  });
});

test('killed it leaves nothing: no archive, whole or half, no proxy and no socket', async () => {
  const run = await halfway();
  run.signal('SIGKILL');
  expect(await run.child).toMatchObject({signal: 'SIGKILL'});
  await expect.poll(run.files).toEqual([]);
  await expect.poll(run.left).toBe('');
  expect(run.sockets()).toEqual([]);
});

test('without a terminal it says plain lines, and on standard output only where the bundle is', async () => {
  const run = await start(() => undefined);
  const {exitCode, stdout, stderr} = await run.child;
  expect({exitCode, stdout}, stderr).toEqual({exitCode: 0, stdout: run.file});
  expect(stderr).toMatch(/^(\d+) of \1 files\n✓ .*x\.zip: /m);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  expect(stderr).not.toMatch(/[\r\x1b]/);
  expect({left: await run.left(), sockets: run.sockets()}).toEqual({left: '', sockets: []});
});

test('--json is one document on standard output and nothing else', async () => {
  const run = await start(() => undefined, '--json');
  const {exitCode, stdout} = await run.child;
  expect(exitCode).toBe(0);
  expect(violations('collect-logs', stdout)).toEqual([]);
  expect(JSON.parse(stdout)).toMatchObject({
    schemaVersion: 1,
    file: run.file,
    complete: true,
    containers: 2,
  });
});
