import {expect, test} from 'vitest';
import type {Call} from '../../src/ground/call.ts';

import type {Values} from '../../src/ground/tree.ts';
import {confirmKeys} from '../../src/operations/confirm-keys.ts';

const CHART = {
  target: {chart: 'agent-local', version: '0.7.0'},
  path: 'agent-local-0.7.0',
} as const;

/** helm with a chart of which some top-level values change the container. */
function helmWith({reads, fails}: {reads: readonly string[]; fails?: (values: Values) => boolean}) {
  let renders = 0;
  return {
    rendered: () => renders,
    run: async ({input = ''}: Call) => {
      renders += 1;
      const values = JSON.parse(input as string) as Values;
      if (fails?.(values)) return {exitCode: 1, stdout: '', stderr: 'Error: replicaCount is wrong'};
      const args = reads.map((key) => String(values[key] ?? 'none'));
      const stdout = JSON.stringify({
        kind: 'Deployment',
        metadata: {name: 'agent', annotations: {random: String(renders)}},
        spec: {template: {spec: {containers: [{name: 'agent-local', args}]}}},
      });
      return {exitCode: 0, stdout, stderr: ''};
    },
  };
}

const messagesOf = (values: Values, helm: ReturnType<typeof helmWith>) =>
  confirmKeys([values], CHART, helm).then(([found]) =>
    found?.unconfirmed.map(({message}) => message),
  );

test('renders once without each key, and names the one that no template reads', async () => {
  const helm = helmWith({reads: ['one', 'two']});
  expect(await messagesOf({one: 1, two: 2, dead: 3}, helm)).toEqual([
    'dead has no effect: no template of agent-local 0.7.0 changes with it.',
  ]);
  expect(helm.rendered()).toBe(2 + 3);
});

test('confirms a key without which helm fails', async () => {
  const helm = helmWith({reads: [], fails: (values) => values['needed'] === undefined});
  expect(await messagesOf({needed: 1}, helm)).toEqual([]);
});

test('does not confirm more than forty keys', async () => {
  const keys = Array.from({length: 42}, (_, index) => `key${index}`);
  const values = Object.fromEntries(keys.map((key) => [key, 1]));
  const helm = helmWith({reads: keys});
  expect(await messagesOf(values, helm)).toEqual([
    'key40 is not confirmed: the values have too many keys.',
    'key41 is not confirmed: the values have too many keys.',
  ]);
  expect(helm.rendered()).toBe(2 + 40);
});

test('renders without a key once for all files, and reports which file the chart rejects', async () => {
  const helm = helmWith({reads: ['one'], fails: (values) => values['replicaCount'] === 9});
  const [first, second, wrong] = await confirmKeys(
    [{one: 1, dead: 2}, {one: 3}, {replicaCount: 9}],
    CHART,
    helm,
  );
  expect([first, second].map((each) => each?.unconfirmed.map(({path}) => path))).toEqual([
    [['dead']],
    [],
  ]);
  expect(wrong?.rejection?.message).toContain('agent-local 0.7.0 rejects the values.');
  expect(helm.rendered()).toBe(2 + 2 + 1 + 2);
});
