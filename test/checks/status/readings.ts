import {
  type ReleaseStatus,
  type StatusReadings,
  statusOf,
} from '../../../src/checks/status/status.ts';
import type {Revision} from '../../../src/cluster/helm/release-record.ts';
import type {KubernetesObject} from '../../../src/cluster/kubernetes/objects.ts';
import type {Snapshot} from '../../../src/cluster/kubernetes/snapshot.ts';
import {
  afterStart,
  READY_DEPLOYMENT,
  readyPod,
  replicaSet,
  START,
  snapshot,
} from '../diagnose/objects.ts';

export const NAME = {release: 'acme', kubeTarget: {namespace: 'scalr'}};
export const NOW = afterStart(300);
export const WELL: KubernetesObject[] = [
  READY_DEPLOYMENT,
  replicaSet({readyReplicas: 1}),
  readyPod(),
];
const SAID = {'agent-5f-x/agent': `${START} Scalr agent is ready to receive tasks.`};

export const revision = (more: Partial<Revision> = {}): Revision => ({
  revision: 2,
  status: 'deployed',
  chart: 'agent-local-0.6.5',
  updated: START,
  app_version: '1.4.0',
  ...more,
});

export const lookAt = (
  objects: KubernetesObject[],
  logs: Snapshot['logs'] = SAID,
): StatusReadings['releaseSnapshot'] => ({
  snapshot: snapshot(objects, logs),
  objects,
  gaps: [],
});

/** Of a release that is well, unless told otherwise. */
export const statusFrom = (more: Partial<StatusReadings> = {}): ReleaseStatus =>
  statusOf({
    name: NAME,
    context: 'prod',
    now: NOW,
    revision: revision(),
    given: {},
    releaseSnapshot: lookAt(WELL),
    live: {differences: [], live: [], isVerified: true, failures: [], replicas: {}},
    unread: [],
    desired: undefined,
    ...more,
  });
