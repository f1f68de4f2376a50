import {snapshotOf} from '../../../src/checks/diagnose/snapshot-queries.ts';
import type {
  Claim,
  Event,
  KubernetesObject,
  Pod,
  Workload,
} from '../../../src/cluster/kubernetes/objects.ts';
import type {Snapshot} from '../../../src/cluster/kubernetes/snapshot.ts';

/** Objects as `kubectl get -o json` returns them, reduced to what matters. All begin at 10:00:00. */
export const START = '2026-11-21T10:00:00Z';
const LABELS = {'app.kubernetes.io/instance': 'acme'};

export const afterStart = (seconds: number): Date => new Date(Date.parse(START) + seconds * 1000);

const owner = (kind: string, name: string): object => ({
  ownerReferences: [{kind, name, uid: `uid-${kind}-${name}`}],
});
const metadata = (kind: string, name: string, more: object = {}): KubernetesObject['metadata'] => ({
  name,
  uid: `uid-${kind}-${name}`,
  generation: 1,
  creationTimestamp: START,
  ...more,
});

export const deployment = (status: object = {}, spec: object = {}): Workload => ({
  kind: 'Deployment',
  metadata: metadata('Deployment', 'agent', {labels: LABELS}),
  spec: {replicas: 1, ...spec},
  status: {observedGeneration: 1, ...status},
});

export const replicaSet = (status: object = {}): Workload => ({
  kind: 'ReplicaSet',
  metadata: metadata('ReplicaSet', 'agent-5f', owner('Deployment', 'agent')),
  spec: {replicas: 1},
  status: {observedGeneration: 1, replicas: 1, ...status},
});

export const daemonSet = (status: object): Workload => ({
  kind: 'DaemonSet',
  metadata: metadata('DaemonSet', 'worker', {labels: LABELS}),
  status: {observedGeneration: 1, ...status},
});

export const job = (status: object): Workload => ({
  kind: 'Job',
  metadata: metadata('Job', 'task', {labels: LABELS}),
  spec: {},
  status,
});

interface PodSpec {
  name?: string;
  phase?: string;
  spec?: object;
  status?: object;
  metadata?: object;
  container?: object;
  init?: readonly object[];
  conditions?: readonly object[];
}

/** A pod of the Deployment that is on a node and is not ready, unless told otherwise. */
export function pod({
  name = 'agent-5f-x',
  phase = 'Pending',
  spec,
  status,
  metadata: more,
  container,
  init,
  conditions,
}: PodSpec = {}): Pod {
  const notReady = {
    type: 'Ready',
    status: 'False',
    reason: 'ContainersNotReady',
    lastTransitionTime: START,
  };
  const own = {name: 'agent', image: 'scalr/agent:1', ready: false, restartCount: 0};
  return {
    kind: 'Pod',
    metadata: metadata('Pod', name, {...owner('ReplicaSet', 'agent-5f'), ...more}),
    spec: {nodeName: 'node-a', containers: [{name: 'agent', image: 'scalr/agent:1'}], ...spec},
    status: {
      phase,
      startTime: START,
      conditions: (conditions ?? [notReady]) as never,
      ...(container ? {containerStatuses: [{...own, ...container}]} : {}),
      ...(init ? {initContainerStatuses: init as never} : {}),
      ...status,
    },
  };
}

export const waiting = (reason: string, message?: string): Pod =>
  pod({container: {state: {waiting: {reason, message}}}});

export const crashed = (terminated: object, more: object = {}): Pod =>
  pod({
    phase: 'Running',
    container: {
      restartCount: 1,
      state: {
        waiting: {
          reason: 'CrashLoopBackOff',
          message: 'back-off 10s restarting failed container=agent pod=agent-5f-x_acme(1)',
        },
      },
      lastState: {terminated},
      ...more,
    },
  });

export const readyPod = (name = 'agent-5f-x', container: object = {}): Pod =>
  pod({
    name,
    phase: 'Running',
    container: {ready: true, state: {running: {startedAt: START}}, ...container},
    conditions: [{type: 'Ready', status: 'True', lastTransitionTime: START}],
  });

export const unscheduled = (message: string, more: PodSpec = {}): Pod =>
  pod({
    ...more,
    spec: {nodeName: undefined, ...more.spec},
    conditions: [
      {
        type: 'PodScheduled',
        status: 'False',
        reason: 'Unschedulable',
        message,
        lastTransitionTime: START,
      },
    ],
  });

export const claim = (phase = 'Pending', name = 'agent-cache'): Claim => ({
  kind: 'PersistentVolumeClaim',
  metadata: metadata('PersistentVolumeClaim', name, {labels: LABELS}),
  status: {phase},
});

let events = 0;

export function event(
  about: KubernetesObject,
  reason: string,
  message: string,
  {at = 0, count = 1, type = 'Warning'} = {},
): Event {
  events += 1;
  const {name, uid} = about.metadata;
  const time = afterStart(at).toISOString().replace('.000', '');
  return {
    kind: 'Event',
    metadata: {name: `event-${events}`},
    type,
    reason,
    message,
    count,
    firstTimestamp: START,
    lastTimestamp: time,
    eventTime: null,
    involvedObject: {kind: about.kind as string, name, uid: uid as string},
  };
}

export const snapshot = (
  objects: readonly KubernetesObject[],
  logs: Snapshot['logs'] = {},
): Snapshot =>
  snapshotOf(
    {items: objects},
    {release: 'acme', kubeTarget: {namespace: 'agents', kubeContext: 'prod'}},
    logs,
  );

/** Objects around a pod that is not ready. */
export const around = (...objects: KubernetesObject[]): KubernetesObject[] => [
  deployment({replicas: 1, updatedReplicas: 1}),
  replicaSet(),
  ...objects,
];

export const READY_DEPLOYMENT = deployment({
  replicas: 1,
  updatedReplicas: 1,
  readyReplicas: 1,
  availableReplicas: 1,
});
