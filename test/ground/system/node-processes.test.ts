import {existsSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {execa} from 'execa';
import {expect, test} from 'vitest';
import {Secret} from '../../../src/ground/secret.ts';
import {nodeProcesses} from '../../../src/ground/system/node-processes.ts';
import {HANGS, ownTools} from '../../support/own-tools.ts';

const {folder, tool} = ownTools();

/** One whose child process holds the outputs too. */
const HANGS_WITH_CHILD = `(${HANGS}) & ${HANGS}`;

const ADAPTER = resolve(import.meta.dirname, '../../../src/ground/system/node-processes.ts');

/** How a program ends, whose tools would hang. */
async function ended(script: string) {
  const argv = ['--import', 'tsx', '--input-type=module', '--eval', script];
  const {exitCode, timedOut} = await execa(process.execPath, argv, {
    reject: false,
    timeout: 60_000,
    detached: true,
  });
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
  const trapped = join(folder, 'trapped');
  const {start} = nodeProcesses({
    helm: tool(
      `trap "echo tidied; exit 7" INT; echo on; touch ${trapped}; while :; do sleep 0.05; done`,
    ),
  });
  const running = start({tool: 'helm', verb: 'version'});
  await expect.poll(() => existsSync(trapped)).toBe(true);
  running.interrupt();
  expect(await running.outcome).toMatchObject({exitCode: 7, stdout: 'on\ntidied\n'});
});

test('exits before a tool that it leaves running', async () => {
  const script = `import {nodeProcesses} from '${ADAPTER}';
    const running = nodeProcesses({helm: '${tool(HANGS)}'}).start({tool: 'helm', verb: 'version'});
    setTimeout(() => running.leave(), 700);`;
  expect(await ended(script)).toEqual({exitCode: 0, timedOut: false});
});

test('exits while a child process of a tool is running', async () => {
  const script = `import {nodeProcesses} from '${ADAPTER}';
    await nodeProcesses({helm: '${tool(HANGS_WITH_CHILD)}'}).run({tool: 'helm', verb: 'version'}, {signal: AbortSignal.timeout(200)});`;
  expect(await ended(script)).toEqual({exitCode: 0, timedOut: false});
});

test('stops a query when its signal is aborted', async () => {
  const begun = join(folder, 'begun');
  const {run} = nodeProcesses({helm: tool(`echo begun; touch ${begun}; ${HANGS}`)});
  const interrupt = new AbortController();
  const outcome = run({tool: 'helm', verb: 'version'}, {signal: interrupt.signal});
  await expect.poll(() => existsSync(begun)).toBe(true);
  interrupt.abort();
  expect(await outcome).toMatchObject({
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
  const {run} = nodeProcesses({helm: tool(HANGS_WITH_CHILD)});
  expect(
    await run({tool: 'helm', verb: 'version'}, {signal: AbortSignal.timeout(200)}),
  ).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('timed out waiting for a response'),
  });
});

test('starts and kills nothing when the call is already aborted', async () => {
  const script = `import {nodeProcesses} from '${ADAPTER}';
    const {exitCode} = await nodeProcesses({helm: '${join(folder, 'nothing')}'}).run({tool: 'helm', verb: 'version'}, {signal: AbortSignal.abort()});
    process.exitCode = exitCode + 4;`;
  expect(await ended(script)).toMatchObject({exitCode: 5});
});
