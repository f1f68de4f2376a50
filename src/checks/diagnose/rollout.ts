import type {KubernetesObject, Pod, Workload} from '../../cluster/kubernetes/objects.ts';
import type {Snapshot} from '../../cluster/kubernetes/snapshot.ts';
import {condition, isPodReady, isTerminating} from './pod-state.ts';
import {ownerOf, rootOf} from './snapshot-queries.ts';

export interface Count {
  desired: number;
  updated: number;
  ready: number;
  /** Pods of an older revision. */
  old: number;
}

const COUNTS: Readonly<Record<string, (workload: Workload) => Count>> = {
  Deployment: ({spec, status = {}}) => ({
    desired: spec?.replicas ?? 1,
    updated: status.updatedReplicas ?? 0,
    ready: Math.min(status.readyReplicas ?? 0, status.availableReplicas ?? 0),
    old: (status.replicas ?? 0) - (status.updatedReplicas ?? 0),
  }),
  DaemonSet: ({status = {}}) => ({
    desired: status.desiredNumberScheduled ?? 0,
    updated: status.updatedNumberScheduled ?? 0,
    ready: status.numberReady ?? 0,
    old: 0,
  }),
  ReplicaSet: ({spec, status = {}}) => ({
    desired: spec?.replicas ?? 1,
    updated: status.replicas ?? 0,
    ready: status.readyReplicas ?? 0,
    old: 0,
  }),
  Job: (job) => {
    const desired = job.spec?.completions ?? 1;
    const done =
      condition(job, 'Complete')?.status === 'True' ? desired : (job.status?.succeeded ?? 0);
    return {desired, updated: done, ready: done, old: 0};
  },
};

export function replicaCount(root: KubernetesObject): Count {
  if (root.kind === 'Pod') {
    const isHealthy = isPodReady(root as Pod) || (root as Pod).status?.phase === 'Succeeded';
    return {desired: 1, updated: 1, ready: isHealthy ? 1 : 0, old: 0};
  }
  return COUNTS[root.kind ?? '']?.(root) ?? {desired: 0, updated: 0, ready: 0, old: 0};
}

/** The status belongs to the current generation of the object. */
export const isObserved = ({metadata, status}: Workload): boolean =>
  (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);

const HAS_GENERATION = ['Deployment', 'DaemonSet', 'ReplicaSet'];

/** The object belongs to an older revision: the controller has not observed the newest one, or is replacing the old objects. */
export function isSuperseded(snapshot: Snapshot, object: KubernetesObject): boolean {
  const root = rootOf(snapshot, object);
  if (HAS_GENERATION.includes(root.kind ?? '') && !isObserved(root)) return true;
  const made = object.kind === 'Pod' ? (ownerOf(snapshot, object) ?? object) : object;
  const revision = 'deployment.kubernetes.io/revision';
  const generation = 'deprecated.daemonset.template.generation';
  if (made.kind === 'ReplicaSet')
    return (
      made !== root &&
      made.metadata.annotations?.[revision] !== root.metadata.annotations?.[revision]
    );
  const isOfOther =
    object.metadata.labels?.['pod-template-generation'] !== made.metadata.annotations?.[generation];
  return made.kind === 'DaemonSet' && made !== object && isOfOther;
}

export function isRootReady(root: KubernetesObject): boolean {
  if (HAS_GENERATION.includes(root.kind ?? '') && !isObserved(root)) return false;
  const {desired, updated, ready, old} = replicaCount(root);
  return ready >= desired && updated >= desired && old <= 0;
}

/** Pods that should be ready but are not. Failed pods that were replaced are ignored. */
export const unhealthyPods = (snapshot: Snapshot): Pod[] =>
  snapshot.pods.filter((pod) => {
    const phase = pod.status?.phase;
    if (isTerminating(pod) || isPodReady(pod) || phase === 'Succeeded') return false;
    return phase !== 'Failed' || !isRootReady(rootOf(snapshot, pod));
  });

/** Pods whose logs are current. */
export function presentPods(snapshot: Snapshot): Pod[] {
  const troubled = unhealthyPods(snapshot);
  return snapshot.pods.filter(
    (pod) => !isTerminating(pod) && (isPodReady(pod) || troubled.includes(pod)),
  );
}

export function countText(root: KubernetesObject): string {
  if (root.kind !== 'Pod' && !isObserved(root)) return 'not observed yet';
  const {desired, updated, ready, old} = replicaCount(root);
  if (root.kind === 'DaemonSet' && desired === 0) return 'no matching nodes';
  if (updated < desired && updated < ready) return `${updated} of ${desired} updated`;
  return `${Math.min(ready, desired)} of ${desired} ready${old > 0 ? `, ${old} old pending termination` : ''}`;
}
