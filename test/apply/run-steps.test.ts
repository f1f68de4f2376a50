import {describe, expect, test} from 'vitest';
import {runSteps} from '../../src/apply/run-steps.ts';
import type {Step} from '../../src/plan/step.ts';
import type {Outcome, Processes} from '../../src/ports/processes.ts';
import {fakeKubernetes} from '../support/fake-kubernetes.ts';

const step = (id: string, more: Partial<Step> = {}): Step => ({id, title: `Do ${id}`, call: {tool: 'helm', args: [id]}, ...more});

/** Calls that end when the test says so, and remember what was asked of them. */
function world() {
  const [asked, insisted] = [new AbortController(), new AbortController()];
  const calls: {name: string; end: (outcome: Partial<Outcome>) => void; isInterrupted: boolean; isLeft: boolean}[] = [];
  const start: Processes['start'] = ({args}) => {
    const call = {name: args[0] as string, end: (_: Partial<Outcome>): void => undefined, isInterrupted: false, isLeft: false};
    const outcome = new Promise<Outcome>((resolve) => {
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
  const interrupts = {asked: asked.signal, insisted: insisted.signal, release: () => undefined};
  return {
    asked,
    insisted,
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

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('steps run one after another', async () => {
  const {calls, said, options} = world();
  const running = runSteps([step('one'), step('two')], options);
  await turn();
  expect(calls.map(({name}) => name)).toEqual(['one']);
  calls[0]?.end({});
  await turn();
  calls[1]?.end({});
  await running;
  expect(said).toEqual(['one started', 'two started']);
});

test('a failure ends the plan unless the step tolerates what was said', async () => {
  const {calls, options} = world();
  const running = runSteps([step('one', {tolerates: /not found/}), step('two'), step('three')], options);
  calls[0]?.end({exitCode: 1, stderr: 'Error: release: not found'});
  await turn();
  calls[1]?.end({exitCode: 1, stderr: 'Error: no'});
  await expect(running).rejects.toMatchObject({code: 'TOOL_FAILED', message: 'helm two failed: no'});
  expect(calls).toHaveLength(2);
});

test('the first Ctrl-C is passed on and waited for; nothing more is started', async () => {
  const {asked, calls, said, options} = world();
  const running = runSteps([step('one'), step('two'), step('three')], options);
  calls[0]?.end({});
  await turn();
  asked.abort('SIGINT');
  expect(calls[1]).toMatchObject({isInterrupted: true, isLeft: false});
  expect(said.at(-1)).toBe('two ending');
  calls[1]?.end({exitCode: 1, stderr: 'Error: interrupted'});
  await expect(running).rejects.toMatchObject({
    code: 'INTERRUPTED',
    exit: 130,
    message: 'Interrupted. Done before: Do one. Broken off: Do two.',
  });
  expect(calls).toHaveLength(2);
});

test('the second Ctrl-C leaves at once, and says what goes on and what was done', async () => {
  const {asked, insisted, calls, options} = world();
  const running = runSteps([step('one'), step('two')], options);
  calls[0]?.end({});
  await turn();
  asked.abort('SIGTERM');
  insisted.abort('SIGTERM');
  await expect(running).rejects.toMatchObject({exit: 143, message: 'Interrupted. Done before: Do one. helm goes on alone with: Do two.'});
  expect(calls[1]).toMatchObject({isLeft: true});
});

test('a Ctrl-C in the first step does not claim that nothing was changed', async () => {
  const {asked, calls, options} = world();
  const running = runSteps([step('one')], options);
  asked.abort('SIGINT');
  calls[0]?.end({exitCode: 1, stderr: 'Error: interrupted'});
  await expect(running).rejects.toMatchObject({message: 'Interrupted. Broken off: Do one.'});
});

test('helm is asked to end when its time is over', async () => {
  const {calls, options} = world();
  const running = runSteps([step('one'), step('two')], {...options, timeoutMs: 50});
  calls[0]?.end({});
  await expect.poll(() => calls[1]?.isInterrupted).toBe(true);
  calls[1]?.end({exitCode: 1, stderr: 'Error: context canceled'});
  await expect(running).rejects.toMatchObject({
    code: 'TIMED_OUT',
    exit: 6,
    message: 'Do two: helm did not come to an end within --timeout. It was asked to end, and did. Done before: Do one.',
  });
});

describe('what a failure leaves changed', () => {
  const undo = {text: 'It is stopped.', title: 'Start it again', call: {tool: 'kubectl' as const, args: ['scale', '--replicas=2']}};

  test('is said with the call that takes it back', async () => {
    const {calls, options} = world();
    const running = runSteps([step('stop', {undo}), step('wait')], options);
    await turn();
    calls[0]?.end({});
    await turn();
    calls[1]?.end({exitCode: 1, stderr: 'Error: no'});
    await expect(running).rejects.toMatchObject({
      message: 'helm wait failed: no. It is stopped.',
      suggestions: ['Start it again: kubectl scale --replicas=2', expect.any(String)],
    });
  });

  test('is nothing where the step failed itself, or once a later one is final', async () => {
    const first = world();
    const alone = runSteps([step('stop', {undo})], first.options);
    await turn();
    first.calls[0]?.end({exitCode: 1, stderr: 'Error: no'});
    await expect(alone).rejects.toMatchObject({message: 'helm stop failed: no'});
    const second = world();
    const all = runSteps([step('stop', {undo}), step('release', {isFinal: true}), step('gone')], second.options);
    for (const outcome of [{}, {}, {exitCode: 1, stderr: 'Error: no'}]) {
      await turn();
      second.calls.at(-1)?.end(outcome);
    }
    await expect(all).rejects.toMatchObject({message: 'helm gone failed: no'});
  });
});
