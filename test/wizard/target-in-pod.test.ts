import {expect, test} from 'vitest';
import type {ListQuestion} from '../../src/ground/system/system.ts';
import {askTarget} from '../../src/wizard/ask-target.ts';
import type {QuestionDeps} from '../../src/wizard/asking.ts';
import {type FactReaders, GatheredFacts} from '../../src/wizard/gathered-facts.ts';
import {placeText} from '../../src/wizard/place.ts';
import {startState, type WizardState} from '../../src/wizard/wizard-state.ts';
import {ENTER, scriptedPrompter} from '../support/scripted-prompter.ts';

test('in a pod without a kubeconfig, the cluster of its service account is proposed', async () => {
  const {prompter, asked} = scriptedPrompter([['Where will the agent run?', ENTER]]);
  const read: WizardState['place'][] = [];
  const readers: FactReaders = {
    cluster: async ({place}) => {
      read.push(place);
      return {
        facts: {},
        storageClasses: [],
        releases: [],
        nodePools: [],
        summary: '3 nodes',
        isRead: true,
      };
    },
    installed: async () => undefined,
    lacking: async () => [],
    pools: async () => undefined,
    objects: async () => ({
      claims: [],
      secrets: [],
      serviceAccounts: [],
      identities: [],
      quotas: [],
    }),
    requested: async () => new Map(),
    held: async () => undefined,
  };
  const deps = {
    prompter,
    contexts: {all: [], isInPod: true},
    facts: new GatheredFacts(async () => readers),
  } as unknown as QuestionDeps;
  const frame = {heading: [], canGoBack: 'quit'} as const;
  const {place} = await askTarget({state: startState(new Map()), frame, deps});
  const [{choices: [first] = []} = {}] = asked as ListQuestion[];
  expect(first).toMatchObject({
    value: 'current',
    label: 'service account of this pod',
    description: 'reading the cluster …',
  });
  expect(place).toEqual({kind: 'kubernetes'});
  expect(placeText(place)).toBe('service account of this pod');
  expect(read).toEqual([{kind: 'kubernetes'}]);
});
