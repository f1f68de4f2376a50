import {describe, expect, test} from 'vitest';
import type {KubernetesObject} from '../../../src/cluster/kubernetes/objects.ts';
import {readyPod, START} from '../diagnose/objects.ts';
import {
  failedRevision,
  ofJob,
  REJECTED_RUN,
  reconnected,
  restarted,
  runJob,
  runPod,
  runWithProxy,
  WORKLOADS,
  waitingRun,
  withoutObject,
} from './histories.ts';
import {lookAt, NOW, statusFrom, WELL} from './readings.ts';

const evicted = (name: string, message: string): KubernetesObject =>
  ({
    ...readyPod(),
    metadata: {...readyPod().metadata, name, uid: name},
    status: {phase: 'Failed', reason: 'Evicted', message, startTime: START},
  }) as KubernetesObject;

const recentOf = (...objects: KubernetesObject[]) => {
  const {state, recent} = statusFrom(ofJob(...objects));
  return {state, recent: recent.map(({code, message}) => `${code}: ${message}`)};
};

describe('what happened to a release that is ready now', () => {
  test('is nothing when nothing happened', () => {
    expect(recentOf(...WELL)).toEqual({state: 'ready', recent: []});
  });

  test('has restarts with their number, time and reason', () => {
    expect(recentOf(...WORKLOADS, restarted('OOMKilled', START))).toEqual({
      state: 'ready',
      recent: [
        'OOM_KILLED: container agent restarted 7 times, the last time at 10:00:00Z: OOMKilled (exit code 137)',
      ],
    });
    expect(recentOf(...WORKLOADS, restarted('Error', START)).recent).toEqual([
      expect.stringMatching(/^RESTARTED: .*: Error \(exit code 137\)$/),
    ]);
  });

  test('has the last revision that failed, if it is recent', () => {
    const failedAt = (at: string) => statusFrom(failedRevision(at)).recent;
    expect(failedAt(START)).toMatchObject([
      {
        code: 'REVISION_FAILED',
        message: 'revision 1 failed at 10:00:00Z; a later one is in use',
        remedies: [{text: expect.stringContaining('helm history acme')}],
      },
    ]);
    expect(failedAt('2026-11-19T10:00:00Z')).toEqual([]);
  });

  test('has agents that connect again and again', () => {
    const found = (...seconds: number[]) => statusFrom(reconnected(...seconds)).recent;
    expect(found(1, 2, 3)).toMatchObject([
      {
        code: 'AGENT_RECONNECTS',
        message: 'reconnected 3 times, the last time at 10:00:03Z',
      },
    ]);
    expect(found(1, 2)).toEqual([]);
    expect(found(1, 2, 2)).toEqual([]);
  });

  test('does not have restarts of earlier days', () => {
    expect(recentOf(...WORKLOADS, restarted('OOMKilled', '2026-11-19T10:00:00Z')).recent).toEqual(
      [],
    );
  });

  test.each([
    ['Usage of EmptyDir volume "cache" exceeds the limit "20Gi". ', '--cache-size'],
    ['Usage of EmptyDir volume "data-dir" exceeds the limit "4Gi". ', '--data-size'],
    [
      'Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ',
      'ephemeral-storage',
    ],
    ['The node was low on resource: ephemeral-storage. ', 'add or enlarge nodes'],
  ])('names what an eviction needs: %s', (message, remedy) => {
    const {recent} = statusFrom({releaseSnapshot: lookAt([...WELL, evicted('old', message)])});
    expect(recent).toMatchObject([
      {code: 'EVICTED', remedies: [{text: expect.stringContaining(remedy)}]},
    ]);
  });

  test('counts runs that the cluster ended, by reason', () => {
    const oom = {
      phase: 'Failed',
      containerStatuses: [
        {name: 'runner', state: {terminated: {reason: 'OOMKilled', exitCode: 137}}},
      ],
    };
    const plan = {
      phase: 'Failed',
      containerStatuses: [{name: 'runner', state: {terminated: {reason: 'Error', exitCode: 1}}}],
    };
    const pods = [
      runPod('atask-1', oom),
      runPod('atask-2', oom),
      runPod('atask-3', {phase: 'Failed', reason: 'Evicted', message: 'low on memory'}),
      runPod('atask-4', plan),
    ];
    expect(recentOf(...WELL, ...pods)).toEqual({
      state: 'ready',
      recent: ['RUNS_FAILED: 3 runs failed in the last 24 hours: OOMKilled (2), Evicted'],
    });
  });

  test.each([
    [
      'the run has ended',
      {terminated: {exitCode: 0}},
      ['RUNS_HELD: 1 run ended, but istio-proxy still runs in the pod'],
    ],
    ['the run continues', {running: {}}, []],
  ])('has pods that only a sidecar keeps running: %s', (_, state, expected) => {
    expect(recentOf(...WELL, runWithProxy(state)).recent).toEqual(expected);
  });

  test('has runs that wait for a node', () => {
    const message = '0/3 nodes are available: 3 Insufficient cpu.';
    expect(recentOf(...WELL, waitingRun(message)).recent).toEqual([
      `RUNS_WAITING: 1 run pod waiting for more than 2 minutes: ${message}`,
    ]);
    const young = waitingRun(message);
    young.metadata = {...young.metadata, creationTimestamp: NOW.toISOString()};
    expect(recentOf(...WELL, young).recent).toEqual([]);
  });
});

describe('a run without a pod', () => {
  test('is shown with what the API server says', () => {
    expect(recentOf(...WELL, runJob({}), REJECTED_RUN)).toEqual({
      state: 'ready',
      recent: [
        expect.stringMatching(/^RUNS_REJECTED: 1 run without a pod: exceeded quota: compute/),
      ],
    });
  });

  test.each([
    ['started later', {active: 1}],
    ['ended', {conditions: [{type: 'Complete', status: 'True'}]}],
    ['failed', {conditions: [{type: 'Failed', status: 'True'}]}],
  ])('is not shown when it has %s', (_, status) => {
    expect(recentOf(...WELL, runJob(status), REJECTED_RUN).recent).toEqual([]);
  });
});

describe('a release whose pods are ready is not ready', () => {
  const missing = (object: string) => statusFrom(withoutObject(object));

  test.each([
    'AgentTaskTemplate acme',
    'Role acme',
    'ServiceAccount acme',
  ])('without %s', (object) => {
    expect(missing(object)).toMatchObject({
      state: 'not-ready',
      causes: [{code: 'OBJECT_MISSING', subject: {object}}],
    });
  });

  test('but without an object that no run needs, it is', () => {
    expect(missing('PodDisruptionBudget acme')).toMatchObject({state: 'ready', causes: []});
  });

  test('without the Secret of its token', () => {
    expect(statusFrom({missingSecrets: ['scalr-agent-token']})).toMatchObject({
      state: 'not-ready',
      causes: [{code: 'SECRET_NOT_FOUND', subject: {object: 'secret/scalr-agent-token'}}],
    });
  });

  test('without a node for its workers', () => {
    const worker = {
      kind: 'DaemonSet',
      metadata: {
        name: 'worker',
        generation: 1,
        labels: {'app.kubernetes.io/instance': 'acme'},
      },
      status: {observedGeneration: 1, desiredNumberScheduled: 0},
    } as KubernetesObject;
    expect(statusFrom({releaseSnapshot: lookAt([...WELL, worker])})).toMatchObject({
      state: 'not-ready',
      causes: [{code: 'NO_NODE_MATCHES'}],
    });
  });
});
