import {expect, test} from 'vitest';
import {ClusterIdentity} from '../../../src/cluster/kubernetes/cluster-identity.ts';
import type {Call} from '../../../src/ground/call.ts';
import {argumentsOf} from '../../../src/ground/call-arguments.ts';
import type {ProcessResult} from '../../../src/ground/command-line.ts';
import type {ReadError} from '../../../src/ground/fact.ts';
import {Secret} from '../../../src/ground/secret.ts';
import type {Running} from '../../../src/ground/system/system.ts';

const TARGET = {namespace: 'agents', kubeContext: 'dev'};
const STEP: Call = {tool: 'helm', verb: 'uninstall', release: 'agent'};
const REQUEST: Call = {
  tool: 'kubectl',
  verb: 'apply',
  kubeTarget: TARGET,
  requests: [{method: 'PATCH', path: '/', contentType: 'json', body: new Secret('')}],
};
const namespace = (uid: string) => ({metadata: {name: 'kube-system', uid}});
const answer = (uid: string): ProcessResult => ({
  exitCode: 0,
  stdout: JSON.stringify(namespace(uid)),
  stderr: '',
});
const refusal = (stderr: string): ProcessResult => ({exitCode: 1, stdout: '', stderr});
const never = new AbortController().signal;

/** `answers` are those of kubectl, one after another; the last one remains. */
function cluster({
  planned = {uid: 'one'},
  answers = [answer('one')],
}: {
  planned?: {uid: string} | {error: ReadError};
  answers?: readonly ProcessResult[];
}) {
  const seen = {read: 0, started: 0, left: 0, interrupted: 0, notes: [] as ReadError[]};
  const clock = {ms: 0};
  let release: (result: ProcessResult) => void = () => undefined;
  const processes = {
    run: async (call: Call): Promise<ProcessResult> => {
      expect(argumentsOf(call)).toEqual(expect.arrayContaining(['--context', 'dev']));
      const result = answers[Math.min(seen.read, answers.length - 1)];
      seen.read += 1;
      return result as ProcessResult;
    },
    start: (): Running => {
      seen.started += 1;
      return {
        outcome: new Promise((resolve) => {
          release = resolve;
          queueMicrotask(() => resolve({exitCode: 0, stdout: '', stderr: ''}));
        }),
        interrupt: () => {
          seen.interrupted += 1;
          release(refusal('interrupted'));
        },
        leave: () => {
          seen.left += 1;
        },
      };
    },
  };
  const identity = new ClusterIdentity(TARGET, {
    kubernetes: {
      get: async () => ('error' in planned ? planned : {status: 200, body: namespace(planned.uid)}),
    },
    processes,
    now: () => new Date(clock.ms),
    sleep: async () => undefined,
    onUnknown: (error) => seen.notes.push(error),
  });
  clock.ms = 10_000;
  const {start} = identity.guard(processes);
  return {identity, start, seen, clock};
}

test('every process that changes something is verified before it starts', async () => {
  const {start, seen} = cluster({});
  for (const _ of [1, 2]) expect(await start(STEP).outcome).toMatchObject({exitCode: 0});
  expect(seen).toMatchObject({read: 2, started: 2});
});

test('a change through the connection of the plan is verified only after a wait', async () => {
  const {start, seen, clock} = cluster({});
  for (const _ of [1, 2, 3]) await start(REQUEST).outcome;
  expect(seen).toMatchObject({read: 1, started: 3});
  clock.ms += 60_000;
  await start(REQUEST).outcome;
  expect(seen).toMatchObject({read: 2, started: 4});
});

test.each([
  {now: 'another cluster', answers: [answer('two')], code: 'TARGET_CHANGED'},
  {
    now: 'a user who may not read it',
    answers: [refusal('Error from server (Forbidden): namespaces "kube-system" is forbidden')],
    code: 'TARGET_CHANGED',
  },
])('nothing starts when the kubeconfig selects $now', async ({answers, code}) => {
  const {start, seen} = cluster({answers});
  await expect(start(STEP).outcome).rejects.toMatchObject({code});
  expect(seen.started).toBe(0);
});

test('nothing starts when the API server is gone, and the call fails as kubectl does', async () => {
  const gone = refusal('Unable to connect to the server: dial tcp: i/o timeout');
  const {start, seen} = cluster({answers: [gone]});
  expect(await start(STEP).outcome).toEqual(gone);
  expect(seen.started).toBe(0);
});

test('an overloaded API server is asked again', async () => {
  const {start, seen} = cluster({
    answers: [refusal('Error from server (TooManyRequests): too many requests'), answer('one')],
  });
  expect(await start(STEP).outcome).toMatchObject({exitCode: 0});
  expect(seen).toMatchObject({read: 2, started: 1});
});

test('an unknown UID is reported once, and blocks nothing', async () => {
  const error: ReadError = {kind: 'forbidden', message: 'namespaces is forbidden', status: 403};
  const {identity, start, seen} = cluster({planned: {error}, answers: [answer('two')]});
  expect(await identity.planned(never)).toBeUndefined();
  for (const _ of [1, 2]) expect(await start(STEP).outcome).toMatchObject({exitCode: 0});
  expect(seen).toMatchObject({read: 0, started: 2, notes: [error]});
});

test('a UID that could not be read with the plan is read again before a change', async () => {
  const error: ReadError = {kind: 'stalled', message: 'no response for 5 s'};
  const {identity, start, seen} = cluster({planned: {error}});
  expect(await identity.planned(never)).toBeUndefined();
  expect(seen.notes).toEqual([]);
  expect(await start(STEP).outcome).toMatchObject({exitCode: 0});
  expect(seen.notes).toEqual([error]);
});

test('an interrupt before the call starts ends it, and one after is passed on', async () => {
  const {start, seen} = cluster({});
  const early = start(STEP);
  early.interrupt();
  expect(await early.outcome).toMatchObject({exitCode: 1, stderr: 'not started: interrupted'});
  expect(seen.started).toBe(0);
  const left = start(STEP);
  left.leave();
  await left.outcome;
  expect(seen).toMatchObject({started: 1, left: 1});
  left.interrupt();
  expect(seen.interrupted).toBe(1);
});
