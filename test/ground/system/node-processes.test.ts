import {join, resolve} from 'node:path';
import {execa} from 'execa';
import {expect, test} from 'vitest';
import {Secret} from '../../../src/ground/secret.ts';
import {nodeProcesses} from '../../../src/ground/system/node-processes.ts';
import {ownTools} from '../../support/own-tools.ts';

const {folder, tool} = ownTools();

const ADAPTER = resolve(import.meta.dirname, '../../../src/ground/system/node-processes.ts');

/** How a program ends, and whether in time. */
async function ended(script: string, timeout: number) {
  const {exitCode, timedOut} = await execa(
    'npx',
    ['tsx', '--input-type=module', '--eval', script],
    {reject: false, timeout},
  );
  return {exitCode, timedOut};
}

test('passes input on standard input and returns all output', async () => {
  const {run} = nodeProcesses({docker: tool('cat; echo "$1" >&2; exit 3')});
  expect(await run({tool: 'docker', args: ['a b'], input: new Secret('hidden\n')})).toEqual({
    exitCode: 3,
    stdout: 'hidden\n',
    stderr: 'a b\n',
  });
});

test('suggests a next step when the tool is missing', async () => {
  await expect(
    nodeProcesses({helm: join(folder, 'nothing')}).run({tool: 'helm', verb: 'version'}),
  ).rejects.toMatchObject({
    code: 'TOOL_NOT_FOUND',
    suggestions: ['Install helm, or set its path with --helm'],
  });
});

test('lets an interrupted tool finish', async () => {
  const {start} = nodeProcesses({
    helm: tool('trap "echo tidied; exit 7" INT; echo on; while :; do sleep 0.05; done'),
  });
  const running = start({tool: 'helm', verb: 'version'});
  await new Promise((done) => setTimeout(done, 400));
  running.interrupt();
  expect(await running.outcome).toMatchObject({exitCode: 7, stdout: 'on\ntidied\n'});
});

test('exits before a tool that it leaves running', async () => {
  const slow = tool('sleep 30');
  const script = `import {nodeProcesses} from '${ADAPTER}';
    const running = nodeProcesses({helm: '${slow}'}).start({tool: 'helm', verb: 'version'});
    setTimeout(() => running.leave(), 700);`;
  expect(await ended(script, 15_000)).toEqual({exitCode: 0, timedOut: false});
});

test('exits while a child process of a tool is running', async () => {
  const script = `import {nodeProcesses} from '${ADAPTER}';
    await nodeProcesses({helm: '${tool('sleep 30 & exec sleep 30')}'}).run({tool: 'helm', verb: 'version'}, {signal: AbortSignal.timeout(200)});`;
  expect(await ended(script, 5_000)).toEqual({exitCode: 0, timedOut: false});
});

test('stops a query when its signal is aborted', async () => {
  const {run} = nodeProcesses({helm: tool('echo begun; exec sleep 30')});
  expect(
    await run({tool: 'helm', verb: 'version'}, {signal: AbortSignal.timeout(400)}),
  ).toMatchObject({
    exitCode: 1,
    stdout: 'begun\n',
    stderr: expect.stringContaining('timed out waiting for a response'),
  });
});

test('waits for its own signal when Ctrl-C ends the tool first', async () => {
  const {run} = nodeProcesses({helm: tool('kill -INT $$')});
  const interrupt = new AbortController();
  const running = run({tool: 'helm', verb: 'version'}, {signal: interrupt.signal}).then(
    () => interrupt.signal.aborted,
  );
  await new Promise((done) => setTimeout(done, 250));
  interrupt.abort('SIGINT');
  expect(await running).toBe(true);
});

test('does not wait for child processes of a stopped tool', async () => {
  const {run} = nodeProcesses({helm: tool('sleep 30 & exec sleep 30')});
  const start = Date.now();
  expect(
    await run({tool: 'helm', verb: 'version'}, {signal: AbortSignal.timeout(200)}),
  ).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('timed out waiting for a response'),
  });
  expect(Date.now() - start).toBeLessThan(5000);
});

test('starts and kills nothing when the call is already aborted', async () => {
  const script = `import {nodeProcesses} from '${ADAPTER}';
    const {exitCode} = await nodeProcesses({helm: '${join(folder, 'nothing')}'}).run({tool: 'helm', verb: 'version'}, {signal: AbortSignal.abort()});
    process.exitCode = exitCode + 4;`;
  const {exitCode} = await execa('npx', ['tsx', '--input-type=module', '--eval', script], {
    reject: false,
    timeout: 15_000,
    detached: true,
  });
  expect(exitCode).toBe(5);
});
