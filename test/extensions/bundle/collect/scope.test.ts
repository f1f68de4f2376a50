import {describe, expect, test} from 'vitest';
import type {KubernetesObject, Pod} from '../../../../src/cluster/kubernetes/objects.ts';
import {logItems} from '../../../../src/extensions/bundle/collect/log-items.ts';
import {
  type BundledRelease,
  bundleScope,
  hasRunId,
  runIdOf,
  runIds,
} from '../../../../src/extensions/bundle/collect/scope.ts';

const LOCAL: BundledRelease = {
  name: 'mine',
  chart: 'agent-local',
  version: '0.6.5',
  runsOf: undefined,
};
const JOB: BundledRelease = {
  name: 'jobs',
  chart: 'agent-job',
  version: '0.6.5',
  runsOf: {chart: 'agent-job', version: '0.6.5', release: 'jobs', taskLabels: {}},
};

const object = (
  kind: string,
  name: string,
  more: Partial<KubernetesObject['metadata']> = {},
  rest: object = {},
): KubernetesObject => ({
  kind,
  metadata: {name, uid: `${kind}-${name}`, ...more},
  ...rest,
});
const ofRelease = (release: string) => ({labels: {'app.kubernetes.io/instance': release}});
const ownedBy = (kind: string, name: string) => ({
  ownerReferences: [{kind, name, uid: `${kind}-${name}`}],
});
const names = (objects: readonly KubernetesObject[]): string[] =>
  objects.map(({kind, metadata}) => `${kind}/${metadata.name}`);
const task = {
  labels: {'app.kubernetes.io/instance': 'jobs', 'app.kubernetes.io/component': 'task'},
};

const NAMESPACE = [
  object('Deployment', 'mine', ofRelease('mine')),
  object('Deployment', 'theirs', ofRelease('theirs')),
  object('ReplicaSet', 'mine-1', ownedBy('Deployment', 'mine')),
  object('ReplicaSet', 'theirs-1', ownedBy('Deployment', 'theirs')),
  object('Job', 'scalr-agent-run-1-plan', {}, {spec: {template: {metadata: task}}}),
  object('Job', 'backup'),
  object('Pod', 'mine-1-a', ownedBy('ReplicaSet', 'mine-1'), {
    spec: {volumes: [{persistentVolumeClaim: {claimName: 'cache'}}]},
  }),
  object('Pod', 'theirs-1-a', ownedBy('ReplicaSet', 'theirs-1')),
  object('Pod', 'scalr-agent-run-1-plan-x', {...task, ...ownedBy('Job', 'scalr-agent-run-1-plan')}),
  object('Pod', 'scalr-agent-run-2-plan-y', task),
  object('PersistentVolumeClaim', 'cache'),
  object('PersistentVolumeClaim', 'theirs'),
  object('NetworkPolicy', 'deny-all'),
  object('Event', 'e1', {}, {involvedObject: {kind: 'Pod', name: 'mine-1-a'}}),
  object('Event', 'e2', {}, {involvedObject: {kind: 'Pod', name: 'theirs-1-a'}}),
  object('Event', 'e3', {}, {involvedObject: {kind: 'Pod', name: 'scalr-agent-run-0-plan-z'}}),
];

describe('what goes into the bundle', () => {
  test('is what belongs to the release, what it mounts and what acts on it; nothing of anybody else', () => {
    expect(names(bundleScope(NAMESPACE, [LOCAL]).objects)).toEqual([
      'Deployment/mine',
      'ReplicaSet/mine-1',
      'Pod/mine-1-a',
      'PersistentVolumeClaim/cache',
      'NetworkPolicy/deny-all',
      'Event/e1',
    ]);
  });

  test('has the Jobs and run pods, and the events of those that have vanished', () => {
    const found = names(bundleScope(NAMESPACE, [JOB]).objects);
    expect(found).toEqual(
      expect.arrayContaining([
        'Job/scalr-agent-run-1-plan',
        'Pod/scalr-agent-run-1-plan-x',
        'Pod/scalr-agent-run-2-plan-y',
        'Event/e3',
      ]),
    );
    expect(found).not.toContain('Job/backup');
  });

  test('can be one run', () => {
    const {pods} = bundleScope(NAMESPACE, [LOCAL, JOB], {run: 'run-2'});
    expect(names(pods)).toEqual(['Pod/mine-1-a', 'Pod/scalr-agent-run-2-plan-y']);
  });

  test('tells the runs that are there, desired or not', () => {
    expect(runIds(NAMESPACE, [LOCAL, JOB])).toEqual(['run-1', 'run-2']);
  });

  test('is known by its name where helm knows of no release', () => {
    const agent = object('Deployment', 'by-hand', {
      labels: {'app.kubernetes.io/name': 'agent-local'},
    });
    expect(names(bundleScope([...NAMESPACE, agent], []).objects)).toEqual([
      'NetworkPolicy/deny-all',
      'Deployment/by-hand',
    ]);
  });
});

describe('logs', () => {
  const state = {running: {}};
  const pod: Pod = {
    kind: 'Pod',
    metadata: {name: 'p'},
    status: {
      initContainerStatuses: [{name: 'prepare', state: {terminated: {exitCode: 0}}}],
      containerStatuses: [
        {name: 'agent', state, restartCount: 2, lastState: {terminated: {exitCode: 137}}},
        {name: 'waits', state: {waiting: {reason: 'ContainerCreating'}}},
      ],
      ephemeralContainerStatuses: [{name: 'debugger', state}],
    },
  };

  test('are those of every container that has one, and the one before a restart', () => {
    expect(logItems([pod], 'ns', {since: undefined}).map(({file}) => file)).toEqual([
      'logs/p/prepare.log',
      'logs/p/agent.log',
      'logs/p/agent.previous.log',
      'logs/p/debugger.log',
    ]);
  });

  test('begin where they are desired from; what was said before a restart is desired whenever it was', () => {
    const [current, previous] = logItems([pod], 'a b', {since: {seconds: 60}, container: 'agent'});
    expect(current?.path).toBe(
      '/api/v1/namespaces/a%20b/pods/p/log?container=agent&timestamps=true&sinceSeconds=60',
    );
    expect(previous?.path).toBe(
      '/api/v1/namespaces/a%20b/pods/p/log?container=agent&timestamps=true&previous=true',
    );
  });
});

const pod = (
  name: string,
  labels: Readonly<Record<string, string>> = {},
  env: readonly {name: string; value?: string}[] = [],
): Pod => ({
  kind: 'Pod',
  metadata: {name, labels},
  spec: {containers: [{name: 'runner', env}]},
});

test.each([
  ['w-run-abc1', true],
  ['run-abc1-plan-x', true],
  ['w.run-abc1.plan', true],
  ['abc1', false],
  ['w-run-abc12', false],
  ['w-rerun-abc1', false],
])('run-abc1 in the name %s: %s', (name, expected) => {
  expect(hasRunId(pod(name), 'run-abc1')).toBe(expected);
});

test('a digit is not every run that has it somewhere', () => {
  expect(['run-1', 'run-12', 'run-v0o1'].filter((name) => hasRunId(pod(name), '1'))).toEqual([
    'run-1',
  ]);
});

test('labels and variables are ids only as a whole', () => {
  const whole = [pod('w', {run: 'run-abc1'}), pod('w', {}, [{name: 'RUN', value: 'run-abc1'}])];
  const part = [
    pod('w', {run: 'run-abc12'}),
    pod('w', {run: 'x-run-abc1'}),
    pod('w', {}, [{name: 'RUN', value: 'run-abc1-plan'}, {name: 'OF'}]),
  ];
  expect([...whole, ...part].map((each) => hasRunId(each, 'run-abc1'))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});

test('which run it is shows in labels and names', () => {
  const found = [
    pod('w', {id: 'run-v0o1'}),
    pod('atask-7x-plan'),
    pod('atask-run-1-plan-x'),
    pod('scalr-agent-run-2-y'),
    pod('agent-1', {app: 'rerun-1'}),
  ].map(runIdOf);
  expect(found).toEqual(['run-v0o1', 'atask-7x', 'run-1', 'run-2', undefined]);
});
