import {expect, test} from 'vitest';
import type {Pod} from '../../../src/cluster/objects.ts';
import {hasRunId, runIdOf} from '../../../src/support-bundle/collect/scope.ts';

const pod = (name: string, labels: Readonly<Record<string, string>> = {}, env: readonly {name: string; value?: string}[] = []): Pod => ({
  kind: 'Pod',
  metadata: {name, labels},
  spec: {containers: [{name: 'runner', env}]},
});

test.each([
  ['w-run-abc1', true],
  ['run-abc1-plan-x', true],
  ['w.run-abc1.plan', true],
  ['abc1', false],
  ['w-run-abc12', false],
  ['w-rerun-abc1', false],
])('run-abc1 in the name %s: %s', (name, expected) => {
  expect(hasRunId(pod(name), 'run-abc1')).toBe(expected);
});

test('a digit is not every run that has it somewhere', () => {
  expect(['run-1', 'run-12', 'run-v0o1'].filter((name) => hasRunId(pod(name), '1'))).toEqual(['run-1']);
});

test('labels and variables are ids only as a whole', () => {
  const whole = [pod('w', {run: 'run-abc1'}), pod('w', {}, [{name: 'RUN', value: 'run-abc1'}])];
  const part = [
    pod('w', {run: 'run-abc12'}),
    pod('w', {run: 'x-run-abc1'}),
    pod('w', {}, [{name: 'RUN', value: 'run-abc1-plan'}, {name: 'OF'}]),
  ];
  expect([...whole, ...part].map((each) => hasRunId(each, 'run-abc1'))).toEqual([true, true, false, false, false]);
});

test('which run it is shows in labels and names', () => {
  const found = [
    pod('w', {id: 'run-v0o1'}),
    pod('atask-7x-plan'),
    pod('atask-run-1-plan-x'),
    pod('scalr-agent-run-2-y'),
    pod('agent-1', {app: 'rerun-1'}),
  ].map(runIdOf);
  expect(found).toEqual(['run-v0o1', 'atask-7x', 'run-1', 'run-2', undefined]);
});
