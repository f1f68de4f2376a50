import {expect, test} from 'vitest';
import {namespaceChecks} from '../../../../src/checks/preflight/checks/namespace.ts';
import type {PreflightContext} from '../../../../src/checks/preflight/facts/context.ts';
import type {KubernetesObject} from '../../../../src/cluster/kubernetes/objects.ts';
import {known, unknown} from '../../../../src/ground/fact.ts';
import {clusterWith, preflightContext, saidBy} from '../context.ts';

const namespace = (labels: Record<string, string>, more = {}) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {name: 'scalr-agent', labels, ...more},
});
const enforcing = (level: string) =>
  clusterWith([namespace({'pod-security.kubernetes.io/enforce': level})], {
    without: ['scalr-agent'],
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

const STRICT = {
  allowPrivilegeEscalation: false,
  runAsNonRoot: true,
  capabilities: {drop: ['ALL']},
  seccompProfile: {type: 'RuntimeDefault'},
};
const pod = (
  spec: object = {},
  securityContext: object = STRICT,
): Pick<PreflightContext, 'manifest'> => ({
  manifest: known(
    [
      {
        kind: 'Pod',
        metadata: {name: 'a'},
        spec: {containers: [{name: 'main', securityContext}], ...spec},
      } as KubernetesObject,
    ],
    'helm template',
  ),
});
const HOST_PATH = pod({volumes: [{name: 'data', hostPath: {path: '/var/lib/x'}}]});

test.each([
  ['restricted', pod(), /^pass: .*the pods require restricted/],
  [
    'restricted',
    pod({}, {}),
    /^fail: .*runAsNonRoot of main is not true.* -> Use settings that comply:\n--set securityContext.allowPri/,
  ],
  ['restricted', pod({}, {...STRICT, runAsUser: 0}), /^fail: .*runAsUser 0 of main/],
  ['baseline', pod({}, {}), /^pass: .*the pods require baseline/],
  [
    'baseline',
    HOST_PATH,
    /^fail: .*hostPath volume \/var\/lib\/x.* -> Use --cache ephemeral .*; Or allow these pods: .*enforce=privileged/,
  ],
  [
    'restricted',
    pod({volumes: [{name: 'data', hostPath: {path: '/var/lib/x'}}]}, {}),
    /^fail: .* -> Remove what no setting can fix \(hostPath volume \/var\/lib\/x\), and use:\n--set /,
  ],
  ['baseline', pod({hostNetwork: true}), /^fail: .*hostNetwork/],
  ['baseline', pod({}, {privileged: true}), /^fail: .*privileged container main/],
  ['baseline', pod({}, {capabilities: {add: ['SYS_ADMIN']}}), /^fail: .*SYS_ADMIN/],
  ['privileged', HOST_PATH, /^pass: /],
] as const)('Pod Security %s', async (level, pods, outcome) => {
  expect(await said('pod-security', enforcing(level), pods)).toMatch(outcome);
});

test('suggests another chart when no settings of the chart comply', async () => {
  const context = await preflightContext(
    {chart: 'agent-k8s'},
    enforcing('restricted'),
    pod({}, {}),
  );
  expect(saidBy(namespaceChecks, 'pod-security', context)).toMatch(
    / -> No settings of agent-k8s .*--chart agent-local.* Or allow these pods: kubectl/,
  );
});

test('skips when the namespace has no label and the pods are not restricted', async () => {
  expect(await said('pod-security', UNLABELED, pod())).toMatch(/^pass: .*restricted/);
  expect(await said('pod-security', UNLABELED, pod({}, {}))).toMatch(
    /^skip: Cannot read the level .*: .* require baseline -> .*enforce=baseline/,
  );
  expect(await said('pod-security', UNLABELED, HOST_PATH)).toMatch(
    /^skip: .*the pods require privileged -> Set the level: kubectl label .*enforce=privileged/,
  );
  expect(await said('pod-security', NONE, HOST_PATH)).toMatch(
    / -> Set the level: kubectl create namespace scalr-agent && kubectl label /,
  );
  expect(await said('pod-security', REFUSING, HOST_PATH)).toMatch(/^skip: /);
  expect(
    await said('pod-security', enforcing('baseline'), {manifest: unknown('failed', 'no chart')}),
  ).toMatch(/^skip: /);
});
