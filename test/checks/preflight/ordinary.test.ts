import {expect, test} from 'vitest';
import {runChecks} from '../../../src/checks/preflight/checks/check.ts';
import {CHECKS} from '../../../src/checks/preflight/run-preflight.ts';
import {preflightContext} from './context.ts';

test.each([
  'agent-k8s',
  'agent-local',
  'agent-job',
])('nothing is wrong with %s on an ordinary cluster', async (chart) => {
  // Workers of agent-k8s need nodes of their own.
  const flags =
    chart === 'agent-k8s'
      ? {chart, 'node-selector': ['kubernetes.azure.com/agentpool=runs']}
      : {chart};
  const checked = runChecks(CHECKS, await preflightContext(flags));
  expect(checked.filter(({verdict}) => verdict !== 'passed')).toEqual([]);
});
