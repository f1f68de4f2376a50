import {describe, expect, test} from 'vitest';
import {addRelease} from '../../src/charts/add-release.ts';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {chartSchema, defaultsOf, leavesOf} from '../../src/charts/releases/schema.ts';
import {at, getAt, setAt, type Values} from '../../src/ground/tree.ts';
import {TARGETS} from '../support/versions.ts';

const unpacked = (name: ChartName, version: string, values: Values) => ({
  metadata: {name, version, appVersion: '9.9.9'},
  values,
});

describe('a known release', () => {
  test.each(TARGETS)('$chart $version changes nothing when it is imported again', ({
    chart,
    version,
  }) => {
    const before = chartSchema(chart);
    const metadata = {
      name: chart,
      ...before['x-releases'].find((release) => release.version === version),
    };
    const after = addRelease(before, {
      metadata: metadata as never,
      values: defaultsOf(before, version),
    });
    expect(after).toEqual(before);
  });
});

describe('a new release', () => {
  const before = chartSchema('agent-local');
  const values = defaultsOf(before, '0.6.5');
  setAt(values, at('agent.greeting'), 'hello');
  setAt(values, at('replicaCount'), 2);
  delete values['extraVolumes'];
  const after = addRelease(before, {
    ...unpacked('agent-local', '0.7.0', values),
    schema: {properties: {agent: {properties: {greeting: {enum: ['hello', 'hi']}}}}},
  });
  const node = (path: string) =>
    leavesOf(after, '0.7.0').find((leaf) => leaf.path.join('.') === path)?.node;

  test('is the newest release with its own keys and defaults', () => {
    expect(after['x-releases'].at(-1)).toEqual({version: '0.7.0', appVersion: '9.9.9'});
    expect(defaultsOf(after, '0.7.0')).toEqual(values);
  });

  test('does not change other releases', () => {
    for (const {version} of before['x-releases'])
      expect(defaultsOf(after, version)).toEqual(defaultsOf(before, version));
  });

  test('adds new keys with the constraints of its schema', () => {
    expect(node('agent.greeting')).toMatchObject({
      type: 'string',
      enum: ['hello', 'hi'],
      'x-versions': '>=0.7.0',
    });
  });

  test('ends the range of a removed key', () => {
    expect(node('extraVolumes')).toBeUndefined();
    expect(
      leavesOf(after, '0.6.5').find(({path}) => path[0] === 'extraVolumes')?.node['x-versions'],
    ).toBe('0.6.1 - 0.6.5');
  });

  test('records different defaults of a key', () => {
    expect(getAt(defaultsOf(after, '0.6.5'), ['replicaCount'])).toBe(1);
    expect(getAt(defaultsOf(after, '0.7.0'), ['replicaCount'])).toBe(2);
  });

  test('keeps manual edits', () => {
    expect(node('strategy.rollingUpdate.maxSurge')?.type).toEqual(['integer', 'string']);
  });
});
