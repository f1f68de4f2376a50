import {expect, test} from 'vitest';
import {CHECKS} from '../../src/preflight/checks/index.ts';
import {runChecks} from '../../src/preflight/run-checks.ts';
import {situation} from './situation.ts';

test.each(['agent-k8s', 'agent-local', 'agent-job'])('nothing is wrong with %s on an ordinary cluster', async (chart) => {
  const checked = runChecks(CHECKS, await situation({chart}));
  expect(checked.filter(({status}) => status !== 'pass')).toEqual([]);
});
