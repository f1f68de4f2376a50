import {expect, test} from 'vitest';
import type {StatusReadings} from '../../../src/checks/status/status.ts';
import type {KubernetesObject} from '../../../src/cluster/kubernetes/objects.ts';
import {
  afterStart,
  claim,
  daemonSet,
  deployment,
  event,
  pod,
  READY_DEPLOYMENT,
  readyPod,
  replicaSet,
  START,
} from '../diagnose/objects.ts';
import {lookAt, NOW, revision, statusFrom, WELL} from './readings.ts';

const READY = 'The agent is ready to receive tasks';
const DAYS_AGO = '2026-11-17T10:00:00Z';
const at = (seconds: number): string => afterStart(seconds).toISOString();

type State = Partial<StatusReadings>;

const withObjects = (...objects: object[]): State => ({
  releaseSnapshot: lookAt([...WELL, ...(objects as KubernetesObject[])]),
});
const withLog = (...lines: string[]): State => ({
  releaseSnapshot: lookAt(WELL, {'agent-5f-x/agent': lines.join('\n')}),
});
const withAgent = (agent: object): State => ({
  releaseSnapshot: lookAt([READY_DEPLOYMENT, replicaSet({readyReplicas: 1}), agent as never]),
});
const asJob = (state: State): State => ({...state, revision: revision({chart: 'agent-job-0.6.5'})});
const withRun = (...objects: object[]): State => asJob(withObjects(...objects));

const OF_RUN = {'app.kubernetes.io/instance': 'acme', 'app.kubernetes.io/component': 'task'};
const runPod = (status: object, more: object = {}): object => ({
  kind: 'Pod',
  metadata: {name: 'atask-1-x', creationTimestamp: START, labels: OF_RUN, ...more},
  spec: {},
  status: {startTime: START, ...status},
});
const runJob = (status: object): object => ({
  kind: 'Job',
  metadata: {name: 'atask-1', creationTimestamp: START},
  spec: {template: {metadata: {labels: OF_RUN}}},
  status,
});
const rejected = {
  kind: 'Event',
  metadata: {name: 'atask-1.1'},
  reason: 'FailedCreate',
  message: 'Error creating: pods "atask-1-x" is forbidden: exceeded quota: compute',
  involvedObject: {kind: 'Job', name: 'atask-1'},
};
const ended = (exitCode: number, reason: string, finishedAt: string) => ({
  terminated: {exitCode, reason, finishedAt},
});
const ofOther = {labels: {'app.kubernetes.io/instance': 'other'}, ownerReferences: []};
const replicas = (many: number): State => ({
  releaseSnapshot: lookAt(
    [
      deployment(
        {replicas: many, updatedReplicas: many, readyReplicas: many, availableReplicas: many},
        {replicas: many},
      ),
      {...replicaSet({replicas: many, readyReplicas: many}), spec: {replicas: many}},
      ...Array.from({length: many}, (_, index) => readyPod(`agent-5f-${index}`)),
    ],
    Object.fromEntries(Array.from({length: many}, (_, each) => [`agent-5f-${each}/agent`, READY])),
  ),
});
const sidecar = {name: 'istio-proxy', ready: true, restartCount: 0, state: {running: {}}};
const meshed = readyPod();
meshed.status = {
  ...meshed.status,
  containerStatuses: [...(meshed.status?.containerStatuses ?? []), sidecar],
};
const initialized = readyPod();
initialized.status = {
  ...initialized.status,
  initContainerStatuses: [
    {name: 'init', ready: true, restartCount: 0, state: ended(0, 'Completed', START)} as never,
  ],
};
const debugged = readyPod();
debugged.status = {
  ...debugged.status,
  ephemeralContainerStatuses: [
    {name: 'debugger', ready: false, restartCount: 0, state: ended(137, 'Error', START)} as never,
  ],
};

/** What an operator can see on any day, and what needs nobody. */
const HEALTHY: Readonly<Record<string, State>> = {
  'one agent': {},
  'three agents': replicas(3),
  'ten agents': replicas(10),
  'a log that cannot be read': {releaseSnapshot: lookAt(WELL, {})},
  'a log without a known line': withLog('starting', 'reading the configuration'),
  'a JSON log': withLog(`{"event": "${READY}", "level": "info", "timestamp": "${at(1)}"}`),
  'a log with the time of the kubelet': withLog(`${at(1)} [info] ${READY}`),
  'a container in another time zone': withLog(`${at(1)} 2026-11-21 05:00:01 [info] ${READY}`),
  'an agent that was ready days ago': withLog(`${DAYS_AGO} ${READY}`),
  'an error before it was ready': withLog(
    `${at(1)} [error] connection refused`,
    `${at(9)} ${READY}`,
  ),
  'an error of days ago': withLog(`${DAYS_AGO} ${READY}`, `${DAYS_AGO} [error] connection refused`),
  'a connection that came back': withLog(
    `${at(1)} ${READY}`,
    `${at(200)} [error] Connection timed out, reconnecting in 1s`,
    `${at(201)} [info] Connected`,
  ),
  'a run that failed with the 401 of a VCS provider': withLog(
    `${at(1)} ${READY}`,
    `${at(200)} level=error "Task failed" 401 Unauthorized for url: https://gitlab.corp/x`,
    `${at(230)} [info] Task completed`,
  ),
  'a run that filled its own disk': withLog(
    `${at(1)} ${READY}`,
    `${at(200)} [info] atask-1: Error: no space left on device`,
  ),
  'debug lines about tokens': withLog(`${at(1)} ${READY}`, `${at(9)} [debug] the token is valid`),
  'two reconnects on a day': withLog(
    `${at(1)} ${READY}`,
    `${at(50)} [info] reconnected`,
    `${at(150)} [info] reconnected`,
  ),
  'a restart of days ago': withAgent(
    readyPod('agent-5f-x', {restartCount: 2, lastState: ended(137, 'OOMKilled', DAYS_AGO)}),
  ),
  'a mesh sidecar': withAgent(meshed),
  'a finished init container': withAgent(initialized),
  'a debug container that was killed': withAgent(debugged),
  'an old ReplicaSet': withObjects({
    ...replicaSet({replicas: 0}),
    metadata: {...replicaSet().metadata, name: 'agent-4e', uid: 'uid-ReplicaSet-agent-4e'},
    spec: {replicas: 0},
  }),
  'an eviction of days ago': withObjects(
    pod({name: 'old', phase: 'Failed', status: {reason: 'Evicted', startTime: DAYS_AGO}}),
  ),
  'a pod that ends': withObjects(
    pod({name: 'old', metadata: {deletionTimestamp: at(290), deletionGracePeriodSeconds: 120}}),
  ),
  'normal events': withObjects(
    event(readyPod(), 'Pulled', 'Successfully pulled image'),
    event(readyPod(), 'Started', 'Started container agent'),
  ),
  'a failed probe of a ready pod': withObjects(event(readyPod(), 'Unhealthy', 'probe failed')),
  'an image that was pulled on the second try': withObjects(
    event(readyPod(), 'Failed', 'Error: ErrImagePull'),
  ),
  'a bound PVC': withObjects(claim('Bound')),
  'a PVC that waits for its first pod': withObjects(claim('Pending', 'unused')),
  'a broken neighbor': withObjects(
    pod({
      name: 'other',
      metadata: ofOther,
      container: {name: 'x', restartCount: 9, lastState: ended(1, 'Error', START)},
    }),
  ),
  'a stopped neighbor': withObjects({
    ...deployment({}, {replicas: 0}),
    metadata: {...deployment().metadata, name: 'other', uid: 'other', ...ofOther},
  }),
  'workers on every node': withObjects(
    daemonSet({desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberReady: 3}),
  ),
  'a run in flight': withRun(runJob({active: 1}), runPod({phase: 'Running'})),
  'a finished run': withRun(
    runJob({succeeded: 1, conditions: [{type: 'Complete', status: 'True'}]}),
    runPod({phase: 'Succeeded'}),
  ),
  'a plan that failed': withRun(
    runPod({
      phase: 'Failed',
      containerStatuses: [{name: 'runner', state: ended(1, 'Error', START)}],
    }),
  ),
  'a run that starts': withRun(
    runPod({phase: 'Pending'}, {creationTimestamp: afterStart(290).toISOString()}),
  ),
  'a run whose Job is new': withRun(runJob({})),
  'a run that got its quota later': withRun(runJob({active: 1}), rejected),
  'a run that failed days ago': withRun(
    runPod({phase: 'Failed', reason: 'Evicted', startTime: DAYS_AGO}),
  ),
  'a rollback': {revision: revision({revision: 7, description: 'Rollback to 5'})},
  'a revision that failed last week': {
    revision: revision({lastFailure: {revision: 1, at: '2026-11-13T10:00:00Z'}}),
  },
  'a Secret that nothing requires': {missingSecrets: []},
  'fields that another program sets': {
    live: {
      differences: [
        {
          object: 'Deployment agent',
          problem: 'overridden',
          paths: ['spec.replicas'],
          manager: 'hpa',
        },
      ],
      live: [],
      isVerified: true,
      failures: [],
      replicas: {},
    },
  },
  'a clock behind that of the cluster': {now: new Date('2026-11-21T09:58:00Z')},
  'a clock ahead of that of the cluster': {now: new Date(NOW.getTime() + 3_600_000)},
};

test('there are at least forty of them', () => {
  expect(Object.keys(HEALTHY).length).toBeGreaterThanOrEqual(40);
});

test.each(Object.entries(HEALTHY))('shows no problem of %s', (_, readings) => {
  const {state, causes, recent, advice, unread} = statusFrom(readings);
  expect({state, causes, recent, advice, unread}).toEqual({
    state: 'ready',
    causes: [],
    recent: [],
    advice: [],
    unread: [],
  });
});

test('sees a problem if there is one', () => {
  const {state, recent} = statusFrom(
    withAgent(readyPod('agent-5f-x', {restartCount: 2, lastState: ended(137, 'OOMKilled', START)})),
  );
  expect({state, recent}).toMatchObject({state: 'ready', recent: [{code: 'OOM_KILLED'}]});
  expect(statusFrom(withLog(`${at(200)} [error] connection refused`)).state).not.toBe('ready');
});
