import {describe, expect, test} from 'vitest';
import type {KubernetesObject, Pod} from '../../../src/cluster/kubernetes/objects.ts';
import {READY_DEPLOYMENT, readyPod, replicaSet, START} from '../diagnose/objects.ts';
import {lookAt, NOW, revision, statusFrom, WELL} from './readings.ts';

/** The running pod of the agent, whose container ended before. */
function restarted(reason: string, finishedAt: string): Pod {
  const pod = structuredClone(readyPod()) as Pod;
  const [container] = pod.status?.containerStatuses ?? [];
  Object.assign(container ?? {}, {
    restartCount: 7,
    lastState: {terminated: {reason, exitCode: 137, finishedAt}},
  });
  return pod;
}

const runPod = (name: string, status: object): KubernetesObject =>
  ({
    kind: 'Pod',
    metadata: {
      name,
      creationTimestamp: START,
      labels: {'app.kubernetes.io/instance': 'acme', 'app.kubernetes.io/component': 'task'},
    },
    spec: {},
    status: {startTime: START, ...status},
  }) as KubernetesObject;

const evicted = (name: string, message: string): KubernetesObject =>
  ({
    ...readyPod(),
    metadata: {...readyPod().metadata, name, uid: name},
    status: {phase: 'Failed', reason: 'Evicted', message, startTime: START},
  }) as KubernetesObject;

const recentOf = (...objects: KubernetesObject[]) => {
  const {state, recent} = statusFrom({
    revision: revision({chart: 'agent-job-0.6.5'}),
    releaseSnapshot: lookAt(objects),
  });
  return {state, recent: recent.map(({code, message}) => `${code}: ${message}`)};
};

const workloads = [READY_DEPLOYMENT, replicaSet({readyReplicas: 1})];

describe('what happened to a release that is ready now', () => {
  test('is nothing when nothing happened', () => {
    expect(recentOf(...WELL)).toEqual({state: 'ready', recent: []});
  });

  test('has restarts with their number, time and reason', () => {
    expect(recentOf(...workloads, restarted('OOMKilled', START))).toEqual({
      state: 'ready',
      recent: [
        'OOM_KILLED: container agent restarted 7 times, the last time at 10:00:00Z: OOMKilled (exit code 137)',
      ],
    });
    expect(recentOf(...workloads, restarted('Error', START)).recent).toEqual([
      expect.stringMatching(/^RESTARTED: .*: Error \(exit code 137\)$/),
    ]);
  });

  test('has the last revision that failed, if it is recent', () => {
    const failedAt = (at: string) =>
      statusFrom({revision: revision({lastFailure: {revision: 1, at}})}).recent;
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
    const reconnected = (...seconds: number[]) => {
      const lines = seconds.map(
        (second) => `2026-11-21T10:00:0${second}.5Z [warning] reconnecting`,
      );
      const log = ['2026-11-21T10:00:00Z The agent is ready to receive tasks', ...lines];
      const logs = {'agent-5f-x/agent': log.join('\n')};
      return statusFrom({releaseSnapshot: lookAt(WELL, logs)}).recent;
    };
    expect(reconnected(1, 2, 3)).toMatchObject([
      {
        code: 'AGENT_RECONNECTS',
        message: 'reconnected 3 times, the last time at 10:00:03Z',
      },
    ]);
    expect(reconnected(1, 2)).toEqual([]);
    expect(reconnected(1, 2, 2)).toEqual([]);
  });

  test('does not have restarts of earlier days', () => {
    expect(recentOf(...workloads, restarted('OOMKilled', '2026-11-19T10:00:00Z')).recent).toEqual(
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
    const containerStatuses = [
      {name: 'runner', state},
      {name: 'istio-proxy', state: {running: {}}},
    ];
    const pod = {
      ...runPod('atask-1', {phase: 'Running', containerStatuses}),
      spec: {containers: [{name: 'runner'}, {name: 'istio-proxy'}]},
    };
    expect(recentOf(...WELL, pod).recent).toEqual(expected);
  });

  test('has runs that wait for a node', () => {
    const message = '0/3 nodes are available: 3 Insufficient cpu.';
    const conditions = [{type: 'PodScheduled', status: 'False', message}];
    expect(recentOf(...WELL, runPod('atask-1', {phase: 'Pending', conditions})).recent).toEqual([
      `RUNS_WAITING: 1 run pod waiting for more than 2 minutes: ${message}`,
    ]);
    const young = {...runPod('atask-1', {phase: 'Pending', conditions})};
    young.metadata = {...young.metadata, creationTimestamp: NOW.toISOString()};
    expect(recentOf(...WELL, young).recent).toEqual([]);
  });
});

describe('a run without a pod', () => {
  const job = (status: object): KubernetesObject =>
    ({
      kind: 'Job',
      metadata: {name: 'atask-1', creationTimestamp: START},
      spec: {
        template: {
          metadata: {
            labels: {'app.kubernetes.io/instance': 'acme', 'app.kubernetes.io/component': 'task'},
          },
        },
      },
      status,
    }) as KubernetesObject;
  const rejected = {
    kind: 'Event',
    metadata: {name: 'atask-1.1'},
    reason: 'FailedCreate',
    message:
      'Error creating: pods "atask-1-x2" is forbidden: exceeded quota: compute, requested: requests.cpu=2, used: requests.cpu=3, limited: requests.cpu=4',
    involvedObject: {kind: 'Job', name: 'atask-1'},
  } as KubernetesObject;

  test('is shown with what the API server says', () => {
    expect(recentOf(...WELL, job({}), rejected)).toEqual({
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
    expect(recentOf(...WELL, job(status), rejected).recent).toEqual([]);
  });
});

describe('a release whose pods are ready is not ready', () => {
  const missing = (object: string) =>
    statusFrom({
      live: {
        differences: [{object, problem: 'missing', paths: []}],
        live: [],
        isVerified: true,
        failures: [],
        replicas: {},
      },
    });

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
