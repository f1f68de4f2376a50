import {expect, test} from 'vitest';
import {isNewEnough} from '../../src/cli/node-version.ts';
import {nodeRelease} from '../support/node-releases.ts';
import {runBuilt} from './built.ts';

test('reports on Node.js 10 in one line that it is too old', async () => {
  const node = await nodeRelease('10.24.1');
  for (const bin of ['scalr-agent', 'scalr-agent-install'] as const) {
    const {stdout, stderr, status} = runBuilt(bin, ['values'], {node});
    expect(stderr).toMatch(
      /^Error: Node\.js 20\.17 or newer is required\. This is v10\.24\.1 \(\/.*\)\. Install a newer version .*\n$/,
    );
    expect({stdout, status}).toEqual({stdout: '', status: 1});
  }
});

test.each([
  ['8.17.0', false],
  ['18.20.8', false],
  ['20.16.0', false],
  ['20.17.0', true],
  ['20.20.2', true],
  ['22.0.0', true],
  ['100.1.0', true],
  ['24.0.0-nightly20250101', true],
])('reports whether %s is new enough: %s', (version, isIt) => {
  expect(isNewEnough(version, '20.17')).toBe(isIt);
});
