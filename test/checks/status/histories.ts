import type {StatusReadings} from '../../../src/checks/status/status.ts';
import type {KubernetesObject, Pod} from '../../../src/cluster/kubernetes/objects.ts';
import {READY_DEPLOYMENT, readyPod, replicaSet, START} from '../diagnose/objects.ts';
import {lookAt, revision, WELL} from './readings.ts';

/** The running pod of the agent, whose container ended before. */
export function restarted(reason: string, finishedAt: string): Pod {
  const pod = structuredClone(readyPod()) as Pod;
  const [container] = pod.status?.containerStatuses ?? [];
  Object.assign(container ?? {}, {
    restartCount: 7,
    lastState: {terminated: {reason, exitCode: 137, finishedAt}},
  });
  return pod;
}

const OF_RUN = {
  'app.kubernetes.io/instance': 'acme',
  'app.kubernetes.io/component': 'task',
};

export const runPod = (name: string, status: object): KubernetesObject =>
  ({
    kind: 'Pod',
    metadata: {name, creationTimestamp: START, labels: OF_RUN},
    spec: {},
    status: {startTime: START, ...status},
  }) as KubernetesObject;

/** A run pod in which istio-proxy runs beside the container of the run. */
export const runWithProxy = (state: object): KubernetesObject => {
  const containerStatuses = [
    {name: 'runner', state},
    {name: 'istio-proxy', state: {running: {}}},
  ];
  return {
    ...runPod('atask-1', {phase: 'Running', containerStatuses}),
    spec: {containers: [{name: 'runner'}, {name: 'istio-proxy'}]},
  } as KubernetesObject;
};

export const runJob = (status: object): KubernetesObject =>
  ({
    kind: 'Job',
    metadata: {name: 'atask-1', creationTimestamp: START},
    spec: {template: {metadata: {labels: OF_RUN}}},
    status,
  }) as KubernetesObject;

export const REJECTED_RUN = {
  kind: 'Event',
  metadata: {name: 'atask-1.1'},
  reason: 'FailedCreate',
  message:
    'Error creating: pods "atask-1-x2" is forbidden: exceeded quota: compute, requested: requests.cpu=2, used: requests.cpu=3, limited: requests.cpu=4',
  involvedObject: {kind: 'Job', name: 'atask-1'},
} as KubernetesObject;

export const waitingRun = (message: string): KubernetesObject =>
  runPod('atask-1', {
    phase: 'Pending',
    conditions: [{type: 'PodScheduled', status: 'False', message}],
  });

export const reconnected = (...seconds: number[]): Partial<StatusReadings> => {
  const lines = seconds.map((second) => `2026-11-21T10:00:0${second}.5Z [warning] reconnecting`);
  const log = ['2026-11-21T10:00:00Z The agent is ready to receive tasks', ...lines];
  return {releaseSnapshot: lookAt(WELL, {'agent-5f-x/agent': log.join('\n')})};
};

export const failedRevision = (at: string): Partial<StatusReadings> => ({
  revision: revision({lastFailure: {revision: 1, at}}),
});

export const withoutObject = (object: string): Partial<StatusReadings> => ({
  live: {
    differences: [{object, problem: 'missing', paths: []}],
    live: [],
    isVerified: true,
    failures: [],
    replicas: {},
  },
});

export const WORKLOADS: readonly KubernetesObject[] = [
  READY_DEPLOYMENT,
  replicaSet({readyReplicas: 1}),
];

export const ofJob = (...objects: KubernetesObject[]): Partial<StatusReadings> => ({
  revision: revision({chart: 'agent-job-0.6.5'}),
  releaseSnapshot: lookAt(objects),
});

/** One state for each code that tells about the last day, or about what is missing. */
export const WITH_HISTORY: readonly Partial<StatusReadings>[] = [
  ofJob(...WORKLOADS, restarted('Error', START)),
  ofJob(...WELL, runPod('atask-1', {phase: 'Failed', reason: 'Evicted', message: 'low on memory'})),
  ofJob(...WELL, runWithProxy({terminated: {exitCode: 0}})),
  ofJob(...WELL, waitingRun('0/3 nodes are available: 3 Insufficient cpu.')),
  ofJob(...WELL, runJob({}), REJECTED_RUN),
  failedRevision(START),
  reconnected(1, 2, 3),
  withoutObject('Role acme'),
];
