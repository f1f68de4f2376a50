import {expect, test} from 'vitest';
import {annotate, label, restart, scale} from '../../../src/cluster/kubernetes/changes.ts';

const TARGET = {namespace: 'scalr'};

test.each([
  ['Deployment', '/apis/apps/v1/namespaces/scalr/deployments/a'],
  ['DaemonSet', '/apis/apps/v1/namespaces/scalr/daemonsets/a'],
  ['Secret', '/api/v1/namespaces/scalr/secrets/a'],
  ['PersistentVolumeClaim', '/api/v1/namespaces/scalr/persistentvolumeclaims/a'],
  ['PersistentVolume', '/api/v1/persistentvolumes/a'],
  ['Job', '/apis/batch/v1/namespaces/scalr/jobs/a'],
])('sends annotations and labels of a %s to its API group', (kind, path) => {
  for (const {requests} of [
    annotate(TARGET, {kind, name: 'a'}, {b: 'c'}),
    label(TARGET, {kind, name: 'a'}, {b: 'c'}),
  ])
    expect(requests?.map((each) => each.path.split('?')[0])).toEqual([path]);
});

test('sends scales and restarts to the group of workloads', () => {
  const paths = [
    scale(TARGET, {kind: 'Deployment', name: 'a'}, 0),
    restart(TARGET, {kind: 'DaemonSet', name: 'a'}),
  ].map(({requests}) => requests?.[0]?.path);
  expect(paths).toEqual([
    expect.stringMatching(/^\/apis\/apps\/v1\/namespaces\/scalr\/deployments\/a\/scale\?/),
    expect.stringMatching(/^\/apis\/apps\/v1\/namespaces\/scalr\/daemonsets\/a\?/),
  ]);
});

test('refuses a kind whose group it does not know', () => {
  expect(() => annotate(TARGET, {kind: 'AgentTask', name: 'a'}, {})).toThrow('Unknown API group');
});
