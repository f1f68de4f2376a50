import {describe, expect, test} from 'vitest';
import type {Workload} from '../../../src/cluster/kubernetes/objects.ts';
import {objectFinding} from '../../../src/ground/finding.ts';
import {
  around,
  deployment,
  READY_DEPLOYMENT,
  readyPod,
  replicaSet,
  waiting,
} from '../diagnose/objects.ts';
import {lookAt, revision, statusFrom, WELL} from './readings.ts';

const NO_IMAGE = around(waiting('ImagePullBackOff', 'not found'));
const DENIED = objectFinding('unknown', 'Helm release', 'FORBIDDEN', {
  message: 'secrets is forbidden',
  remedy: 'Ask',
});
const codes = (status: ReturnType<typeof statusFrom>): string[] =>
  status.causes.map(({code}) => code);

test('a healthy release', () => {
  expect(statusFrom()).toMatchObject({
    context: 'prod',
    state: 'ready',
    chart: {name: 'agent-local', version: '0.6.5', agentVersion: '1.4.0', standing: 'newest'},
    workloads: [{object: 'deployment/agent', state: 'ready', ready: 1, desired: 1}],
    causes: [],
    agents: [{pod: 'agent-5f-x', state: 'registered'}],
    runs: undefined,
    recent: [],
    advice: [],
    cacheUse: undefined,
    drift: undefined,
  });
});

describe('the state', () => {
  test('is failed when pods cannot become ready', () => {
    expect(statusFrom({releaseSnapshot: lookAt(NO_IMAGE, {})})).toMatchObject({
      state: 'failed',
      causes: [{verdict: 'error'}],
    });
  });

  test.each([
    [
      'failed',
      'RELEASE_FAILED',
      /Run install again.*, or uninstall the release: scalr-agent uninstall --release acme --namespace scalr/,
    ],
    ['pending-install', 'RELEASE_PENDING', /If no Helm operation is running: run install again/],
    [
      'pending-rollback',
      'RELEASE_PENDING',
      /run install again with the same settings and --take-over/,
    ],
    ['uninstalling', 'RELEASE_UNINSTALLING', /Finish the uninstall: scalr-agent uninstall/],
  ])('is not ready for a release in state %s, regardless of its pods', (status, code, remedy) => {
    const found = statusFrom({revision: revision({status, description: 'timed out'})});
    expect(found).toMatchObject({
      state: 'not-ready',
      causes: [
        {
          subject: {object: 'release/acme'},
          code,
          remedies: [{text: expect.stringMatching(remedy)}],
        },
      ],
    });
  });

  test('is not ready when the agent is scaled to 0, with the command that starts it', () => {
    const [stopped] = [deployment({}, {replicas: 0}), replicaSet()] as [Workload, Workload];
    const found = statusFrom({releaseSnapshot: lookAt([stopped])});
    expect(found).toMatchObject({
      state: 'not-ready',
      causes: [{subject: {object: 'deployment/agent'}, code: 'STOPPED'}],
    });
    expect(found.causes[0]?.remedies[0]?.text).toContain(
      'kubectl scale deployment/agent --replicas=1 ',
    );
    const asManifest = statusFrom({
      releaseSnapshot: lookAt([stopped]),
      live: {differences: [], live: [], isVerified: true, failures: [], replicas: {agent: 3}},
    });
    expect(asManifest.causes[0]?.remedies[0]?.text).toContain(
      'kubectl scale deployment/agent --replicas=3 ',
    );
  });

  test('is not ready for a release without workloads', () => {
    expect(statusFrom({releaseSnapshot: lookAt([])})).toMatchObject({
      state: 'not-ready',
      causes: [{code: 'NO_WORKLOADS'}],
    });
    expect(
      codes(
        statusFrom({releaseSnapshot: lookAt([]), revision: revision({status: 'pending-install'})}),
      ),
    ).toEqual(['RELEASE_PENDING']);
  });

  test('is ready without data that the account cannot read, and unknown after failed queries', () => {
    expect(statusFrom({revision: undefined, given: undefined, unread: [DENIED]}).state).toBe(
      'ready',
    );
    expect(
      statusFrom({
        revision: undefined,
        given: undefined,
        unread: [{...DENIED, code: 'CLUSTER_UNREACHABLE'}],
      }).state,
    ).toBe('unknown');
    expect(statusFrom({releaseSnapshot: undefined, unread: [DENIED]}).state).toBe('unknown');
    expect(
      statusFrom({
        releaseSnapshot: undefined,
        revision: revision({status: 'failed'}),
        unread: [DENIED],
      }).state,
    ).toBe('not-ready');
  });
});

describe('the chart', () => {
  const labels = {
    'app.kubernetes.io/instance': 'acme',
    'helm.sh/chart': 'agent-job-0.5.63',
    'app.kubernetes.io/version': '0.59.0',
  };
  const labeled = {...READY_DEPLOYMENT, metadata: {...READY_DEPLOYMENT.metadata, labels}};

  test('is read from labels when the Helm release cannot be read', () => {
    const {chart} = statusFrom({
      revision: undefined,
      releaseSnapshot: lookAt([labeled, replicaSet({readyReplicas: 1}), readyPod()]),
    });
    expect(chart).toMatchObject({
      name: 'agent-job',
      version: '0.5.63',
      agentVersion: '0.59.0',
      standing: 'behind',
    });
  });

  test('is read from Helm when both are available', () => {
    expect(statusFrom({releaseSnapshot: lookAt([labeled])}).chart).toMatchObject({
      name: 'agent-local',
      version: '0.6.5',
    });
  });

  test('has the known agent version when Helm reports none', () => {
    const {app_version: _, ...silent} = revision({chart: 'agent-local-0.5.63'});
    expect(statusFrom({revision: silent}).chart).toMatchObject({agentVersion: '0.59.0'});
  });

  test('can be unknown', () => {
    expect(statusFrom({revision: undefined})).toMatchObject({chart: undefined, runs: undefined});
  });
});

test('runs in flight belong to this release', () => {
  const task = (name: string, instance: string): object => ({
    kind: 'Job',
    metadata: {name},
    spec: {
      template: {
        metadata: {
          labels: {'app.kubernetes.io/instance': instance, 'app.kubernetes.io/component': 'task'},
        },
      },
    },
  });
  const objects = [...WELL, task('atask-1', 'acme'), task('atask-2', 'other')] as typeof WELL;
  const {runs, workloads} = statusFrom({
    revision: revision({chart: 'agent-job-0.6.5'}),
    releaseSnapshot: lookAt(objects),
  });
  expect(runs).toEqual([{kind: 'Job', name: 'atask-1', isCertain: true}]);
  expect(workloads).toHaveLength(1);
});

test('registration is unknown when the log of an agent is empty', () => {
  expect(statusFrom({releaseSnapshot: lookAt(WELL, {})})).toMatchObject({
    state: 'ready',
    agents: [{state: 'unknown'}],
  });
});

test('values are compared when both sides could be read', () => {
  expect(statusFrom({given: {a: 1}, desired: {a: 2}}).drift?.differences).toEqual([
    {path: 'a', installed: 1, file: 2},
  ]);
  expect(statusFrom({given: undefined, desired: {a: 2}}).drift).toBeUndefined();
});
