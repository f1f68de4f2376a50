import type {KubernetesObject, Pod, Snapshot} from '../kubernetes/objects.ts';
import {isRootReady} from './readiness.ts';
import {eventsOf, isBeingCreated, isPodReady, podsOf} from './snapshot-queries.ts';

/** What a workload that is not ready waits for, as long as nothing is wrong. */
export function waitingFor(snapshot: Snapshot, root: KubernetesObject): string | undefined {
  if (isRootReady(root)) return undefined;
  const pods = root.kind === 'Pod' ? [root as Pod] : podsOf(snapshot, root);
  const pod = pods.find((each) => !isPodReady(each));
  if (pod === undefined) return pods.length === 0 ? 'waiting for its pods' : undefined;
  if (pod.spec?.nodeName === undefined) return 'waiting for a node';
  if (!isBeingCreated(pod)) return 'starting';
  return eventsOf(snapshot, pod).at(-1)?.reason === 'Pulling' ? 'pulling the image' : 'creating the container';
}
