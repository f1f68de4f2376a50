import type {ScalrRelease} from '../cluster/facts/releases.ts';
import {isOfRun, type RunsOf} from '../cluster/inventory-runs.ts';
import type {Event, KubernetesObject, Pod} from '../cluster/objects.ts';

export type BundledRelease = Pick<ScalrRelease, 'name' | 'chart' | 'version'> & {runsOf: RunsOf | undefined};

/** What of a namespace belongs into the bundle. */
export interface Scope {
  objects: readonly KubernetesObject[];
  pods: readonly Pod[];
}

/** Names the charts give their pods (chart facts, 6.1), for agents that helm knows nothing of. */
const AGENT_NAMES: ReadonlySet<string | undefined> = new Set(['agent-k8s', 'agent-local', 'agent-job', 'scalr-agent']);
/** Of the whole namespace: they act on pods of every owner. */
const OF_ALL: ReadonlySet<string | undefined> = new Set([
  'NetworkPolicy',
  'ResourceQuota',
  'LimitRange',
  'AgentTaskTemplate',
  'AgentTask',
  'AgentWorker',
]);

/** Not only something that acts on pods of every owner, or a word about it. */
export const isOfReleases = ({kind}: KubernetesObject): boolean => !OF_ALL.has(kind) && kind !== 'Event';

/** Objects of the releases, of their runs, and what acts on them; with a run only its pods and those of the agent. Pure. */
export function scopeOf(objects: readonly KubernetesObject[], releases: readonly BundledRelease[], run?: string): Scope {
  const ours = new Set(objects.filter((object) => object.kind !== 'Event' && isRoot(object, releases)));
  // Owners stand before what they own, so that one pass finds a pod by way of its ReplicaSet.
  for (const object of objects) if (object.metadata.ownerReferences?.some((owner) => has(ours, owner))) ours.add(object);
  const pods = (objects.filter((object) => object.kind === 'Pod' && ours.has(object)) as Pod[]).filter(
    (pod) => run === undefined || !isRunPod(pod, releases) || isOf(pod, run),
  );
  const mounted = new Set(pods.flatMap(({spec}) => spec?.volumes ?? []).map(({persistentVolumeClaim: claim}) => claim?.claimName));
  const claims = objects.filter(({kind, metadata}) => kind === 'PersistentVolumeClaim' && mounted.has(metadata.name));
  const kept = new Set([...[...ours].filter(({kind}) => kind !== 'Pod'), ...pods, ...claims]);
  const names = new Set([...kept].map(({kind, metadata}) => `${kind}/${metadata.name}`));
  const isAbout = ({involvedObject: about}: Event): boolean => names.has(`${about?.kind}/${about?.name}`) || isOfGoneRun(about, releases);
  return {objects: objects.filter((object) => kept.has(object) || (object.kind === 'Event' && isAbout(object as Event))), pods};
}

function isRoot(object: KubernetesObject, releases: readonly BundledRelease[]): boolean {
  const {kind, metadata} = object;
  if (OF_ALL.has(kind)) return true;
  const {labels, annotations} = metadata;
  const release = annotations?.['meta.helm.sh/release-name'] ?? labels?.['app.kubernetes.io/instance'];
  if (releases.length === 0) return AGENT_NAMES.has(labels?.['app.kubernetes.io/name']);
  return releases.some(({name, runsOf}) => name === release || (runsOf !== undefined && isOfRun(object, runsOf)));
}

const isRunPod = (pod: Pod, releases: readonly BundledRelease[]): boolean =>
  releases.some(({runsOf}) => runsOf !== undefined && isOfRun(pod, runsOf)) ||
  pod.metadata.labels?.['app.kubernetes.io/component'] === 'task';

/** The id of a run is in the names of its Job and pods, or in their labels. */
const isOf = ({metadata}: KubernetesObject, run: string): boolean =>
  metadata.name.includes(run) || Object.values(metadata.labels ?? {}).some((value) => value.includes(run));

/** Pods of runs vanish a minute after the run; their events stay for an hour. */
const isOfGoneRun = (about: Event['involvedObject'], releases: readonly BundledRelease[]): boolean =>
  releases.some(({chart}) => chart === 'agent-job') &&
  (about?.kind === 'Pod' || about?.kind === 'Job') &&
  /(^|-)(run|atask)-/.test(about.name ?? '');

const has = (ours: ReadonlySet<KubernetesObject>, owner: {kind: string; name: string; uid?: string}): boolean =>
  [...ours].some(({kind, metadata}) =>
    owner.uid && metadata.uid ? owner.uid === metadata.uid : owner.kind === kind && owner.name === metadata.name,
  );
