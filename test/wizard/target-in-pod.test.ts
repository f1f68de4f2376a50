import {expect, test} from 'vitest';
import type {ListQuestion} from '../../src/ground/system/system.ts';
import {AnswerStore, placeText} from '../../src/wizard/answer-store.ts';
import {targetQuestion} from '../../src/wizard/choose-target.ts';
import {ENTER, scriptedPrompter} from '../support/scripted-prompter.ts';

test('in a pod without a kubeconfig, the cluster of its service account is proposed', async () => {
  const store = new AnswerStore(new Map());
  const {prompter, asked} = scriptedPrompter([['Where will the agent run?', ENTER]]);
  const read: (string | undefined)[] = [];
  const question = targetQuestion(
    store,
    {all: [], isInPod: true},
    {
      prompter,
      read: async (context) => {
        read.push(context);
        return {facts: {}, storageClasses: [], summary: '3 nodes', isRead: true};
      },
      lacking: async () => [],
    },
  );
  expect(await question.ask({heading: [], canGoBack: 'quit'})).toBe('service account of this pod');
  const [{choices: [first] = []} = {}] = asked as ListQuestion[];
  expect(first).toMatchObject({
    value: 'current',
    description: 'service account of this pod, reading the cluster …',
  });
  expect(store.place).toEqual({kind: 'kubernetes'});
  expect(placeText(store.place)).toBe('service account of this pod');
  expect(read).toEqual([undefined, undefined]);
});
