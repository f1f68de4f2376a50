import {describe, expect, test} from 'vitest';
import CollectLogs from '../../src/commands/collect-logs.ts';
import {ExpectedError} from '../../src/errors.ts';
import type {Prepared} from '../../src/support-bundle/collect/prepare.ts';
import {refuseUnknown} from '../../src/support-bundle/collect-from-cluster.ts';
import {runCommand} from '../support/run-command.ts';

const pod = (name: string, ...containers: readonly string[]) => ({
  kind: 'Pod',
  metadata: {name},
  spec: {initContainers: [{name: 'prepare'}], containers: containers.map((each) => ({name: each}))},
});
const objects = [
  pod('agent-1', 'agent'),
  pod('w-run-abc1', 'worker', 'runner'),
  {kind: 'Event', metadata: {name: 'w-run-gone1.17af', uid: 'e'}},
];
const prepared: Prepared = {
  releases: [],
  scope: {objects, pods: objects.slice(0, 2)},
  present: {releases: [], runs: ['run-abc1']},
  texts: () => [],
  logs: [],
  seeds: [],
  gaps: [],
};

function refused(wish: {run?: string; container?: string}, more: Partial<Prepared> = {}): string | undefined {
  try {
    refuseUnknown({...prepared, ...more}, {...wish, place: {namespace: 'many'}});
    return undefined;
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    expect({exit: error.exit, code: error.code}).toEqual({exit: 2, code: 'INVALID_SETTING'});
    return [error.message, ...error.suggestions].join('\n');
  }
}

describe('what is named has to be there', () => {
  test('a run that is there, or of which only events are left', () => {
    expect([{run: 'run-abc1'}, {run: 'run-gone1'}, {container: 'runner'}, {container: 'prepare'}].map((wish) => refused(wish))).toEqual(
      Array(4).fill(undefined),
    );
  });

  test('another run: those that are there are named', () => {
    expect(refused({run: 'nope'})).toBe(
      'There is no run nope in namespace many.\nRuns that are there: run-abc1\nFollow it from its beginning: --watch --run nope',
    );
    expect(refused({run: 'nope'}, {present: {releases: [], runs: []}})).toContain('No run is there');
  });

  test('another container: those that are there are named', () => {
    expect(refused({container: 'nope'})).toBe(
      'There is no container nope in namespace many.\nContainers that are there: agent, prepare, runner, worker',
    );
  });

  test('unless nobody could look, or there is no pod that could have it', () => {
    const gaps = [{what: 'Pod objects', trouble: {kind: 'forbidden', message: 'may not list them'}}] as const;
    expect(refused({run: 'nope', container: 'nope'}, {gaps})).toBeUndefined();
    expect(refused({container: 'nope'}, {scope: {objects: [], pods: []}})).toBeUndefined();
  });
});

test.each(['run', 'container', 'docker', 'inspect', 'out'])('--%s without a word is refused before anything is read', async (flag) => {
  const {stderr, exit} = await runCommand(CollectLogs, [`--${flag}`, '']);
  expect({exit, stderr}).toEqual({exit: 2, stderr: expect.stringContaining(`--${flag} names nothing.`)});
});
