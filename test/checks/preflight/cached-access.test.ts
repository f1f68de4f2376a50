import {expect, test} from 'vitest';
import {cachedProcesses} from '../../../src/cluster/kubernetes/with-retries.ts';
import {type Call, callName} from '../../../src/ground/call.ts';
import type {ProcessResult} from '../../../src/ground/command-line.ts';
import {ExpectedError} from '../../../src/ground/errors.ts';
import type {Processes} from '../../../src/ground/system/system.ts';

const call = (verb: 'get' | 'version' | 'config view'): Call => ({
  tool: 'kubectl',
  verb,
  kubeTarget: {namespace: 'team'},
});
const answer = (stderr = ''): ProcessResult => ({
  exitCode: stderr === '' ? 0 : 1,
  stdout: '',
  stderr,
});
const BUSY = answer(
  'Error from server (ServiceUnavailable): the server is currently unable to handle the request',
);

/** Answers one after another, the last for ever. */
function asking(
  answers: readonly (ProcessResult | ExpectedError)[],
  signal = new AbortController().signal,
) {
  const [calls, pauses]: [string[], number[]] = [[], []];
  const run: Processes['run'] = async (call, options) => {
    calls.push(callName(call));
    if (options?.signal?.aborted) return answer('error: timed out waiting for a response');
    const found = answers[calls.length - 1] ?? answers.at(-1);
    if (found instanceof ExpectedError) throw found;
    return found as ProcessResult;
  };
  const start: Processes['start'] = () => {
    throw new Error('nothing is started that may go on alone');
  };
  const sleep = async (milliseconds: number): Promise<void> => void pauses.push(milliseconds);
  return {...cachedProcesses({run, start}, {signal, sleep}), calls, pauses};
}

test('the same question is asked once, by whoever asks', async () => {
  const {run, start, calls} = asking([answer()]);
  await Promise.all([
    run(call('version')),
    start(call('version')).outcome,
    run(call('config view')),
  ]);
  expect(calls).toEqual(['kubectl version', 'kubectl config']);
});

test('a question that was aborted is asked again', async () => {
  const {run, calls} = asking([answer()]);
  const aborted = AbortSignal.abort();
  expect(await run(call('version'), {signal: aborted})).toMatchObject({exitCode: 1});
  expect(await run(call('version'))).toEqual(answer());
  expect(calls).toHaveLength(2);
});

test('a moment of weakness is outlived, and one that lasts is not', async () => {
  const passing = asking([BUSY, answer()]);
  expect(await passing.run(call('get'))).toEqual(answer());
  expect(passing.pauses).toEqual([500]);
  const lasting = asking([BUSY]);
  expect(await lasting.run(call('get'))).toEqual(BUSY);
  expect(lasting.calls).toHaveLength(3);
});

test.each([
  'Error from server (Forbidden): pods is forbidden',
  'Unable to connect to the server: net/http: request canceled (Client.Timeout exceeded while awaiting headers)',
  'The connection to the server 127.0.0.1:1 was refused',
])('waiting does not help against: %s', async (stderr) => {
  const {run, calls} = asking([answer(stderr)]);
  await run(call('get'));
  expect(calls).toHaveLength(1);
});

test('a tool that is not there is an answer', async () => {
  const missing = new ExpectedError('helm not found on PATH.', {code: 'TOOL_NOT_FOUND'});
  expect(await asking([missing]).run(call('get'))).toMatchObject({
    exitCode: 1,
    stderr: 'helm not found on PATH.',
  });
});

test('when time is over nothing is asked again', async () => {
  const {run, calls} = asking([BUSY], AbortSignal.abort());
  expect(await run(call('get'))).toMatchObject({
    stderr: expect.stringContaining('timed out waiting for a response'),
  });
  expect(calls).toHaveLength(1);
});

test('a question that is taken back ends', async () => {
  const {start} = asking([answer()]);
  const running = start(call('get'));
  running.interrupt();
  expect((await running.outcome).exitCode).toBe(0);
});
