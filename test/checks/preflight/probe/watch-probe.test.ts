import {expect, test} from 'vitest';
import {unreadableLog} from '../../../../src/checks/preflight/probe/watch-probe.ts';

test.each([
  ['forbidden', 'Ask an administrator'],
  ['refused', 'Run the command again'],
] as const)('a log that is %s has its own remedy', (kind, remedy) => {
  expect(unreadableLog({kind, message: 'no logs found'}).remedy).toContain(remedy);
});
