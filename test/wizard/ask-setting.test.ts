import {expect, test} from 'vitest';
import {Secret} from '../../src/ground/secret.ts';
import {token, tokenSecret} from '../../src/settings/agent.ts';
import {nodeSelector} from '../../src/settings/placement.ts';
import {concurrency} from '../../src/settings/purpose.ts';
import {openQuestions} from '../../src/wizard/apply.ts';
import {askSetting} from '../../src/wizard/ask-setting.ts';
import type {QuestionDeps} from '../../src/wizard/asking.ts';
import {startState} from '../../src/wizard/wizard-state.ts';
import {ENTER, scriptedPrompter} from '../support/scripted-prompter.ts';

const given = (value: unknown) => ({value, source: 'prompt'}) as const;

const SECRETS = {
  objects: {claims: [], secrets: ['mine'], serviceAccounts: [], identities: [], quotas: []},
};

test.each([
  ['new', ['token-secret']],
  ['mine', ['token-secret', 'token']],
])('with the Secret %s, these answers change: %s', async (name, ids) => {
  const state = startState(new Map([[token.id, given(new Secret('a.b.c'))]]));
  const {prompter} = scriptedPrompter([
    ['Secret', name === 'mine' ? name : '…'],
    ...(name === 'mine' ? [] : [['Secret', name] as const]),
  ]);
  const {answers = []} = await askSetting(tokenSecret.id, {
    state: openQuestions(state, [tokenSecret.id]),
    known: {lacking: [], ...SECRETS},
    frame: {heading: [], canGoBack: true},
    deps: {prompter, env: {}, now: () => new Date()} as unknown as QuestionDeps,
  });
  expect(answers.map(([{id}]) => id)).toEqual(ids);
});

/** The answer of Enter at a question that a check has opened. */
async function accept(id: string, recommended: string): Promise<unknown> {
  const state = startState(
    new Map([
      [concurrency.id, given(20)],
      [nodeSelector.id, given({pool: 'runs'})],
    ]),
  );
  const {prompter} = scriptedPrompter([['', ENTER]]);
  const {answers = []} = await askSetting(id, {
    state: openQuestions(state, [id], recommended),
    known: {lacking: []},
    frame: {heading: [], canGoBack: true},
    deps: {prompter, env: {}, now: () => new Date()} as unknown as QuestionDeps,
  });
  return answers[0]?.[1]?.value;
}

test('a fix proposes what its check recommends', async () => {
  expect(await accept(concurrency.id, '12')).toBe(12);
});

test('a fix does not replace a list by what it recommends to add', async () => {
  expect(await accept(nodeSelector.id, 'arch=amd64')).toEqual({pool: 'runs'});
});
