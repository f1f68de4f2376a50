import {expect, test} from 'vitest';
import {digestOf, versionStatus} from '../../src/charts/charts.ts';
import {agentVersionOf} from '../../src/charts/releases/schema.ts';
import {newestOf, releasesOf, WITHDRAWN} from '../../src/charts/releases/target.ts';
import {TARGETS} from '../support/versions.ts';

const known = releasesOf('agent-local');
const newest = newestOf('agent-local');

test.each([
  [newest, 'newest', 0],
  [known.at(-2) as string, 'behind', 1],
  [known[0] as string, 'behind', known.length - 1],
  ['0.5.1', 'older-than-known', known.length],
  ['99.0.0', 'newer-than-known', 0],
  ['0.5.74', 'withdrawn', known.length - known.indexOf('0.5.75')],
  [`${newest}-company.1`, 'newest', 0],
])('agent-local %s is %s', (version, standing, behind) => {
  expect(versionStatus('agent-local', version)).toEqual({newestKnown: newest, standing, behind});
});

test('knows the agent version of a known release', () => {
  expect(agentVersionOf({chart: 'agent-local', version: newest})).toMatch(/^\d+\.\d+\.\d+$/);
  expect(agentVersionOf({chart: 'agent-local', version: '99.0.0'})).toBeUndefined();
});

test('knows the digest of every release in the public repository', () => {
  for (const {chart, version} of TARGETS) {
    const expected = WITHDRAWN[chart].includes(version)
      ? undefined
      : expect.stringMatching(/^[0-9a-f]{64}$/);
    expect(digestOf(chart, version)).toEqual(expected);
  }
  expect(digestOf('agent-local', '99.0.0')).toBeUndefined();
});
