import {expect, test} from 'vitest';
import {namespaceChecks} from '../../../../src/checks/preflight/checks/namespace.ts';
import type {PreflightContext} from '../../../../src/checks/preflight/facts/context.ts';
import {known, unknown} from '../../../../src/ground/fact.ts';
import {clusterWith, preflightContext, saidBy} from '../context.ts';

const namespace = (labels: Record<string, string>, more = {}) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {name: 'scalr-agent', labels, ...more},
});
const UNLABELED = clusterWith([namespace({})], {without: ['scalr-agent']});
const NONE = clusterWith([], {without: ['scalr-agent']});
const REFUSING = {...NONE, refuse: ['namespaces']};
const said = async (id: string, cluster = NONE, but: Partial<PreflightContext> = {}) =>
  saidBy(namespaceChecks, id, await preflightContext({chart: 'agent-local'}, cluster, but));

test('passes for an existing or new namespace, fails for one being deleted, skips without permission', async () => {
  expect(await said('namespace', UNLABELED)).toBe('pass: scalr-agent exists');
  expect(await said('namespace')).toBe('pass: scalr-agent will be created');
  const going = clusterWith([namespace({}, {deletionTimestamp: '2027-01-01T00:00:00Z'})], {
    without: ['scalr-agent'],
  });
  expect(await said('namespace', going)).toMatch(/^fail: .*being deleted/);
  expect(await said('namespace', REFUSING)).toMatch(/^skip: /);
});

test.each([
  ['fail', 'does not exist', known(undefined, 'serviceaccounts')],
  ['pass', 'exists', known({metadata: {name: 'runs'}}, 'serviceaccounts')],
  ['skip', 'cannot be read', unknown('forbidden', 'no')],
])('a service account: %s if it %s', async (verdict, _, account) => {
  const accounts = new Map([['runs', account]]);
  expect(await said('service-accounts', NONE, {accounts})).toMatch(
    new RegExp(`^${verdict}: .*service account runs`, 'i'),
  );
});
