import fc from 'fast-check';
import {expect, test} from 'vitest';
import {driftOf} from '../../../src/cluster/diff/values-diff.ts';
import type {Values} from '../../../src/ground/tree.ts';

test.each<[string, Values, Values, object[]]>([
  ['nothing', {a: {b: 1}}, {a: {b: 1}}, []],
  ['the order of keys', {a: 1, b: 2}, {b: 2, a: 1}, []],
  ['an empty map', {a: 1, b: {}}, {a: 1, c: {d: {}}}, []],
  [
    'what only one side has',
    {a: {b: 1}},
    {a: {c: 2}},
    [
      {path: 'a.b', installed: 1},
      {path: 'a.c', file: 2},
    ],
  ],
  [
    'a map in place of a value',
    {a: 'x'},
    {a: {b: 1, c: 2}},
    [{path: 'a', installed: 'x', file: {b: 1, c: 2}}],
  ],
  ['a list as a whole', {a: [1, 2]}, {a: [2, 1]}, [{path: 'a', installed: [1, 2], file: [2, 1]}]],
  ['what deletes a default', {a: null}, {}, [{path: 'a', installed: null}]],
  ['a text and a number', {a: '1'}, {a: 1}, [{path: 'a', installed: '1', file: 1}]],
  ['a key with a dot', {a: {'b.c': 1}}, {}, [{path: 'a.b\\.c', installed: 1}]],
])('%s', (_, given, desired, differences) => {
  expect(driftOf(given, desired).differences).toEqual(differences);
});

test('secrets that differ are named and not shown', () => {
  const given = {
    agent: {token: 'one'},
    extraEnv: {PASSWORD: 'one'},
    env: [{name: 'A', value: 'one'}],
  };
  const desired = {
    agent: {token: 'two'},
    extraEnv: {PASSWORD: 'two'},
    env: [{name: 'A', value: 'two'}],
  };
  const drift = driftOf(given, desired);
  expect(drift.differences.map(({path}) => path)).toEqual([
    'agent.token',
    'env',
    'extraEnv.PASSWORD',
  ]);
  expect(JSON.stringify(drift)).not.toMatch(/one"|two/);
  expect(drift.file).not.toEqual(drift.installed);
});

test('the debug switch is no secret', () => {
  const given = {
    extraEnv: {SCALR_AGENT_DEBUG: '0'},
    env: [{name: 'SCALR_AGENT_DEBUG', value: '0'}],
  };
  const desired = {
    extraEnv: {SCALR_AGENT_DEBUG: '1'},
    env: [{name: 'SCALR_AGENT_DEBUG', value: '1'}],
  };
  expect(driftOf(given, desired)).toMatchObject({
    differences: [{path: 'env'}, {path: 'extraEnv.SCALR_AGENT_DEBUG', installed: '0', file: '1'}],
    installed: given,
    file: desired,
  });
});

test('the same values never differ, and others always do in both directions', () => {
  const values = fc.dictionary(fc.string(), fc.jsonValue({maxDepth: 3})) as fc.Arbitrary<Values>;
  fc.assert(
    fc.property(values, values, (one, other) => {
      expect(driftOf(one, structuredClone(one)).differences).toEqual([]);
      const paths = (drift: ReturnType<typeof driftOf>) => drift.differences.map(({path}) => path);
      expect(paths(driftOf(one, other))).toEqual(paths(driftOf(other, one)));
    }),
  );
});
