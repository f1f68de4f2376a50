import {expect, test} from 'vitest';
import {runChecks} from '../../src/preflight/check.ts';
import {CHECKS} from '../../src/preflight/checks/index.ts';
import {preflightContext} from './context.ts';

test.each(['agent-k8s', 'agent-local', 'agent-job'])('nothing is wrong with %s on an ordinary cluster', async (chart) => {
  const checked = runChecks(CHECKS, await preflightContext({chart}));
  expect(checked.filter(({status}) => status !== 'pass')).toEqual([]);
});
