import type {KubernetesObject, Pod, Snapshot, Workload} from '../kubernetes/objects.ts';
import {condition, isEnding, isPodReady, ownerOf, rootOf} from './snapshot-queries.ts';

/** Replica counts of a workload. */
export interface Count {
  wanted: number;
  updated: number;
  ready: number;
  /** Pods of an older revision. */
  old: number;
}

const COUNTS: Readonly<Record<string, (workload: Workload) => Count>> = {
  Deployment: ({spec, status = {}}) => ({
    wanted: spec?.replicas ?? 1,
    updated: status.updatedReplicas ?? 0,
    ready: Math.min(status.readyReplicas ?? 0, status.availableReplicas ?? 0),
    old: (status.replicas ?? 0) - (status.updatedReplicas ?? 0),
  }),
  DaemonSet: ({status = {}}) => ({
    wanted: status.desiredNumberScheduled ?? 0,
    updated: status.updatedNumberScheduled ?? 0,
    ready: status.numberReady ?? 0,
    old: 0,
  }),
  ReplicaSet: ({spec, status = {}}) => ({
    wanted: spec?.replicas ?? 1,
    updated: status.replicas ?? 0,
    ready: status.readyReplicas ?? 0,
    old: 0,
  }),
  Job: (job) => {
    const wanted = job.spec?.completions ?? 1;
    const done = condition(job, 'Complete')?.status === 'True' ? wanted : (job.status?.succeeded ?? 0);
    return {wanted, updated: done, ready: done, old: 0};
  },
};

/** Objects without an owner in the release, except pods that are terminating. */
export function rootsOf(snapshot: Snapshot): KubernetesObject[] {
  const pods = snapshot.pods.filter((pod) => !isEnding(pod));
  return [...snapshot.workloads, ...pods].filter((object) => ownerOf(snapshot, object) === undefined);
}

export function replicaCount(root: KubernetesObject): Count {
  if (root.kind === 'Pod') {
    const isHealthy = isPodReady(root as Pod) || (root as Pod).status?.phase === 'Succeeded';
    return {wanted: 1, updated: 1, ready: isHealthy ? 1 : 0, old: 0};
  }
  return COUNTS[root.kind ?? '']?.(root) ?? {wanted: 0, updated: 0, ready: 0, old: 0};
}

/** The status belongs to the current generation of the object. */
export const isObserved = ({metadata, status}: Workload): boolean => (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);

const HAS_GENERATION = ['Deployment', 'DaemonSet', 'ReplicaSet'];

/** The object belongs to an older revision: the controller has not observed the newest one, or is replacing the old objects. */
export function isSuperseded(snapshot: Snapshot, object: KubernetesObject): boolean {
  const root = rootOf(snapshot, object);
  if (HAS_GENERATION.includes(root.kind ?? '') && !isObserved(root)) return true;
  const made = object.kind === 'Pod' ? (ownerOf(snapshot, object) ?? object) : object;
  if (made.kind === 'ReplicaSet') return made !== root && revisionOf(made) !== revisionOf(root);
  return made.kind === 'DaemonSet' && made !== object && object.metadata.labels?.['pod-template-generation'] !== templateGenerationOf(made);
}

const revisionOf = ({metadata}: KubernetesObject): string | undefined => metadata.annotations?.['deployment.kubernetes.io/revision'];

const templateGenerationOf = ({metadata}: KubernetesObject): string | undefined =>
  metadata.annotations?.['deprecated.daemonset.template.generation'];

export function isRootReady(root: KubernetesObject): boolean {
  if (HAS_GENERATION.includes(root.kind ?? '') && !isObserved(root)) return false;
  const {wanted, updated, ready, old} = replicaCount(root);
  return ready >= wanted && updated >= wanted && old <= 0;
}

/** Pods that should be ready but are not. Failed pods that were replaced are ignored. */
export const troubledPods = (snapshot: Snapshot): Pod[] =>
  snapshot.pods.filter((pod) => {
    const phase = pod.status?.phase;
    if (isEnding(pod) || isPodReady(pod) || phase === 'Succeeded') return false;
    return phase !== 'Failed' || !isRootReady(rootOf(snapshot, pod));
  });

/** Pods whose logs are current. */
export function presentPods(snapshot: Snapshot): Pod[] {
  const troubled = troubledPods(snapshot);
  return snapshot.pods.filter((pod) => !isEnding(pod) && (isPodReady(pod) || troubled.includes(pod)));
}

export function countText(root: KubernetesObject): string {
  if (root.kind !== 'Pod' && !isObserved(root)) return 'not observed yet';
  const {wanted, updated, ready, old} = replicaCount(root);
  if (root.kind === 'DaemonSet' && wanted === 0) return 'no matching nodes';
  if (updated < wanted && updated < ready) return `${updated} of ${wanted} updated`;
  return `${Math.min(ready, wanted)} of ${wanted} ready${old > 0 ? `, ${old} old pending termination` : ''}`;
}
