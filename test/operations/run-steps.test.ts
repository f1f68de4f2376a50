import {describe, expect, test} from 'vitest';
import {callName, type KubectlCall} from '../../src/ground/call.ts';
import type {ProcessResult} from '../../src/ground/command-line.ts';
import {failed} from '../../src/ground/errors.ts';
import type {Processes} from '../../src/ground/system/system.ts';
import {runSteps} from '../../src/operations/run-steps.ts';
import type {Step, Undo} from '../../src/operations/step.ts';
import {fakeKubernetes} from '../support/fake-kubernetes.ts';

const step = (id: string, more: Partial<Step> = {}): Step => ({
  id,
  title: `Do ${id}`,
  call: {tool: 'helm', verb: 'upgrade', release: id},
  ...more,
});

/** Calls that end when the test says so, and remember what was asked of them. */
function deps() {
  const interrupt = new AbortController();
  const forceQuit = new AbortController();
  const calls: {
    name: string;
    end: (outcome: Partial<ProcessResult>) => void;
    isInterrupted: boolean;
    isLeft: boolean;
  }[] = [];
  const start: Processes['start'] = (started) => {
    const call = {
      name: ('release' in started && started.release) || callName(started),
      end: (_: Partial<ProcessResult>): void => undefined,
      isInterrupted: false,
      isLeft: false,
    };
    const outcome = new Promise<ProcessResult>((resolve) => {
      call.end = (given) => resolve({exitCode: 0, stdout: '', stderr: '', ...given});
    });
    calls.push(call);
    return {
      outcome,
      interrupt: () => {
        call.isInterrupted = true;
      },
      leave: () => {
        call.isLeft = true;
      },
    };
  };
  const processes: Processes = {start, run: (call) => start(call).outcome};
  const said: string[] = [];
  const interrupts = {
    interrupt: interrupt.signal,
    forceQuit: forceQuit.signal,
    release: () => undefined,
  };
  return {
    interrupt,
    forceQuit,
    calls,
    said,
    options: {
      processes,
      kubernetes: fakeKubernetes(),
      interrupts,
      now: () => new Date(0),
      sleep: async () => undefined,
      onStep: ({id}: Step, state: string) => said.push(`${id} ${state}`),
    },
  };
}

const CHANGED = failed('TARGET_CHANGED', 'The cluster is another one.', [
  'Check which cluster is selected',
]);

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('runs steps one after another', async () => {
  const {calls, said, options} = deps();
  const running = runSteps([step('one'), step('two')], options);
  await turn();
  expect(calls.map(({name}) => name)).toEqual(['one']);
  calls[0]?.end({});
  await turn();
  calls[1]?.end({});
  await running;
  expect(said).toEqual(['one started', 'one done', 'two started', 'two done']);
});

test('lists the steps of the whole operation when it is interrupted between two parts of it', async () => {
  const {calls, interrupt, options} = deps();
  const all = {...options, completed: []};
  const first = runSteps([step('one')], all);
  calls[0]?.end({});
  await first;
  interrupt.abort('SIGINT');
  await expect(runSteps([step('two')], all)).rejects.toMatchObject({
    code: 'INTERRUPTED',
    message: 'Interrupted. Completed: Do one.',
  });
});

test('stops at a failure unless the step tolerates its stderr', async () => {
  const {calls, options} = deps();
  const running = runSteps(
    [step('one', {tolerates: /not found/}), step('two'), step('three')],
    options,
  );
  calls[0]?.end({exitCode: 1, stderr: 'Error: release: not found'});
  await turn();
  calls[1]?.end({exitCode: 1, stderr: 'Error: no'});
  await expect(running).rejects.toMatchObject({
    code: 'TOOL_FAILED',
    message: 'helm upgrade failed: no',
  });
  expect(calls).toHaveLength(2);
});

test('forwards the first Ctrl-C, waits for the tool and starts no further step', async () => {
  const {interrupt, calls, said, options} = deps();
  const running = runSteps([step('one'), step('two'), step('three')], options);
  calls[0]?.end({});
  await turn();
  interrupt.abort('SIGINT');
  expect(calls[1]).toMatchObject({isInterrupted: true, isLeft: false});
  expect(said.at(-1)).toBe('two ending');
  calls[1]?.end({exitCode: 1, stderr: 'Error: interrupted'});
  await expect(running).rejects.toMatchObject({
    code: 'INTERRUPTED',
    exit: 130,
    message: 'Interrupted. Completed: Do one. Not completed: Do two.',
  });
  expect(calls).toHaveLength(2);
});

test('returns at once on the second Ctrl-C, and lists what continues and what is completed', async () => {
  const {interrupt, forceQuit, calls, options} = deps();
  const running = runSteps([step('one'), step('two')], options);
  calls[0]?.end({});
  await turn();
  interrupt.abort('SIGTERM');
  forceQuit.abort('SIGTERM');
  await expect(running).rejects.toMatchObject({
    exit: 143,
    message: 'Interrupted. Completed: Do one. helm continues in the background: Do two.',
  });
  expect(calls[1]).toMatchObject({isLeft: true});
});

test('does not claim that nothing was changed when interrupted in the first step', async () => {
  const {interrupt, calls, options} = deps();
  const running = runSteps([step('one')], options);
  interrupt.abort('SIGINT');
  calls[0]?.end({exitCode: 1, stderr: 'Error: interrupted'});
  await expect(running).rejects.toMatchObject({message: 'Interrupted. Not completed: Do one.'});
});

test('interrupts helm when its timeout expires', async () => {
  const {calls, options} = deps();
  const running = runSteps([step('one'), step('two')], {...options, timeoutMs: 50});
  calls[0]?.end({});
  await expect.poll(() => calls[1]?.isInterrupted).toBe(true);
  calls[1]?.end({exitCode: 1, stderr: 'Error: context canceled'});
  await expect(running).rejects.toMatchObject({
    code: 'TIMED_OUT',
    exit: 6,
    message:
      'Do two: helm did not complete within --timeout. It was interrupted. Completed: Do one.',
  });
});

describe('the error of a failed plan', () => {
  const call: KubectlCall = {
    tool: 'kubectl',
    verb: 'scale',
    kubeTarget: {namespace: 'team'},
    flags: ['--replicas=2'],
  };
  const undo: Undo[] = [
    {
      object: {kind: 'Deployment', name: 'agent'},
      restores: 'replicas',
      text: 'It is stopped.',
      call,
      reverted: 'It is started again.',
      byHand: ['Start it again: kubectl scale --replicas=2 --namespace team'],
    },
  ];

  test('lists remaining changes with the call that reverts them', async () => {
    const {calls, options} = deps();
    const agent = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {name: 'agent', namespace: 'team'},
    };
    const running = runSteps([step('stop', {undo}), step('wait')], {
      ...options,
      kubernetes: fakeKubernetes({objects: [agent]}),
    });
    await turn();
    calls[0]?.end({});
    await turn();
    calls[1]?.end({exitCode: 1, stderr: 'Error: no'});
    await expect(running).rejects.toMatchObject({
      message: 'helm upgrade failed: no. It is stopped.',
      suggestions: [
        'Start it again: kubectl scale --replicas=2 --namespace team',
        expect.any(String),
      ],
    });
  });

  test('lists the call that reverts them last when another cluster is selected now', async () => {
    const {calls, options} = deps();
    const agent = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {name: 'agent', namespace: 'team'},
    };
    const {processes} = options;
    const start: Processes['start'] = (call) =>
      calls.length === 0
        ? processes.start(call)
        : {...processes.start(call), outcome: Promise.reject(CHANGED)};
    const running = runSteps([step('stop', {undo}), step('wait')], {
      ...options,
      processes: {...processes, start},
      kubernetes: fakeKubernetes({objects: [agent]}),
    });
    calls[0]?.end({});
    await expect(running).rejects.toMatchObject({
      message: 'The cluster is another one. It is stopped.',
      suggestions: [
        'Check which cluster is selected',
        'Start it again: kubectl scale --replicas=2 --namespace team',
      ],
    });
  });

  test('offers no revert of an object that a failed helm has deleted', async () => {
    const {calls, options} = deps();
    const running = runSteps([step('stop', {undo}), step('uninstall')], {
      ...options,
      kubernetes: fakeKubernetes({}),
    });
    await turn();
    calls[0]?.end({});
    await turn();
    calls[1]?.end({exitCode: 1, stderr: 'Error: no'});
    await expect(running).rejects.toMatchObject({
      message: 'helm upgrade failed: no. Deployment agent is already deleted.',
      suggestions: ['Run the same command again to continue', expect.any(String)],
    });
  });

  test('offers no revert of an object that somebody else has scaled up', async () => {
    const {calls, options} = deps();
    const agent = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {name: 'agent', namespace: 'team'},
      spec: {replicas: 2},
    };
    const running = runSteps([step('stop', {undo}), step('wait')], {
      ...options,
      kubernetes: fakeKubernetes({objects: [agent]}),
    });
    await turn();
    calls[0]?.end({});
    await turn();
    calls[1]?.end({exitCode: 1, stderr: 'Error: no'});
    await expect(running).rejects.toMatchObject({
      message:
        'helm upgrade failed: no. Deployment agent is scaled up again by another user or program.',
      suggestions: [expect.any(String)],
    });
  });

  test('lists no change of the failed step itself, nor of steps before a final one', async () => {
    const first = deps();
    const alone = runSteps([step('stop', {undo})], first.options);
    await turn();
    first.calls[0]?.end({exitCode: 1, stderr: 'Error: no'});
    await expect(alone).rejects.toMatchObject({message: 'helm upgrade failed: no'});
    const second = deps();
    const all = runSteps(
      [step('stop', {undo}), step('release', {isFinal: true}), step('gone')],
      second.options,
    );
    for (const outcome of [{}, {}, {exitCode: 1, stderr: 'Error: no'}]) {
      await turn();
      second.calls.at(-1)?.end(outcome);
    }
    await expect(all).rejects.toMatchObject({message: 'helm upgrade failed: no'});
  });
});
