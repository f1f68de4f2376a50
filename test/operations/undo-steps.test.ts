import {expect, test} from 'vitest';
import type {Call} from '../../src/ground/call.ts';
import {argumentsOf} from '../../src/ground/call-arguments.ts';
import {failed} from '../../src/ground/errors.ts';
import {revert, type TriedUndo} from '../../src/operations/undo-steps.ts';
import {fakeKubernetes} from '../support/fake-kubernetes.ts';

const undo: TriedUndo = {
  object: {kind: 'Deployment', name: 'agent'},
  restores: 'replicas',
  text: 'It is stopped.',
  call: {tool: 'kubectl', verb: 'scale', kubeTarget: {namespace: 'team'}, flags: ['--replicas=2']},
  reverted: 'It is started again.',
  byHand: ['Start it again: kubectl scale --replicas=2 --namespace team'],
  isDone: true,
};
const kubernetes = fakeKubernetes({
  objects: [
    {apiVersion: 'apps/v1', kind: 'Deployment', metadata: {name: 'agent', namespace: 'team'}},
  ],
});
const CHANGED = failed('TARGET_CHANGED', 'The cluster is another one.', ['Select it again']);

/** Every change fails, because the kubeconfig selects another cluster by now. */
async function reverted(failure: ReturnType<typeof failed>) {
  const changes: string[] = [];
  const access = {
    kubernetes,
    processes: {
      run: () => Promise.reject(new Error('nothing is run')),
      start: (call: Call) => {
        changes.push(argumentsOf(call).join(' '));
        const outcome = Promise.reject(CHANGED);
        return {outcome, interrupt: () => undefined, leave: () => undefined};
      },
    },
  };
  const name = {release: 'agent', kubeTarget: {namespace: 'team'}};
  return {changes, failure: await revert(failure, [undo], name, access)};
}

test('what cannot be reverted is listed, also when the cluster is another one meanwhile', async () => {
  const {failure} = await reverted(failed('TOOL_FAILED', 'helm upgrade failed.', ['Look']));
  expect(failure).toMatchObject({
    code: 'TOOL_FAILED',
    message: 'helm upgrade failed. The cluster is another one. It is stopped.',
    suggestions: ['Start it again: kubectl scale --replicas=2 --namespace team', 'Look'],
  });
});

test('nothing is reverted in another cluster', async () => {
  const {changes, failure} = await reverted(CHANGED);
  expect(changes).toEqual([]);
  expect(failure).toMatchObject({
    code: 'TARGET_CHANGED',
    message: 'The cluster is another one. It is stopped.',
    suggestions: ['Select it again', 'Start it again: kubectl scale --replicas=2 --namespace team'],
  });
});
