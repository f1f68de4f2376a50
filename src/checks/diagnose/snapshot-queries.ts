import type {
  Claim,
  Condition,
  Container,
  ContainerStatus,
  Event,
  KubernetesObject,
  OwnerReference,
  Pod,
  Workload,
} from '../../cluster/kubernetes/objects.ts';
import type {Snapshot} from '../../cluster/kubernetes/snapshot.ts';
import type {ReleaseName} from '../../ground/command-line.ts';

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

/** Objects without an owner in the release, except pods that are terminating. */
export function rootsOf(snapshot: Snapshot): KubernetesObject[] {
  const pods = snapshot.pods.filter((pod) => !isTerminating(pod));
  return [...snapshot.workloads, ...pods].filter(
    (object) => ownerOf(snapshot, object) === undefined,
  );
}

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

const WORKLOADS = ['Deployment', 'DaemonSet', 'ReplicaSet', 'Job'];

interface List {
  items: readonly KubernetesObject[];
}

/** Objects of one release in the output of `kubectl get deployments,daemonsets,replicasets,jobs,pods,… -o json`. */
export const snapshotOf = (
  {items}: List,
  {release, kubeTarget}: ReleaseName,
  logs: Snapshot['logs'],
): Snapshot => snapshotWith(items, (object) => belongs(object, release), {logs, kubeTarget});

/** The same for a single pod without an owner. */
export const snapshotOfPod = (
  {items}: List,
  name: string,
  kubeTarget: Snapshot['kubeTarget'],
): Snapshot =>
  snapshotWith(items, ({kind, metadata}) => kind === 'Pod' && metadata.name === name, {
    logs: {},
    kubeTarget,
  });

function snapshotWith(
  items: readonly KubernetesObject[],
  isMeant: (object: KubernetesObject) => boolean,
  known: Pick<Snapshot, 'logs' | 'kubeTarget'>,
): Snapshot {
  const ofKind = (...kinds: readonly string[]): KubernetesObject[] =>
    items.filter(({kind = ''}) => kinds.includes(kind));
  const ours = new Set<KubernetesObject>();
  // Owners come before their dependents.
  for (const object of [...WORKLOADS, 'Pod'].flatMap((kind) => ofKind(kind))) {
    const owners = object.metadata.ownerReferences ?? [];
    const isOurs =
      owners.length === 0
        ? isMeant(object)
        : owners.some((owner) => [...ours].some((each) => isOwner(each, owner)));
    if (isOurs) ours.add(object);
  }
  const pods = ofKind('Pod').filter((pod) => ours.has(pod)) as Pod[];
  const mounted = new Set(pods.flatMap(claimsOf));
  const claims = ofKind('PersistentVolumeClaim').filter(
    (claim) => isMeant(claim) || mounted.has(claim.metadata.name),
  ) as Claim[];
  const names = new Set([...ours, ...claims].map(({kind, metadata}) => `${kind}/${metadata.name}`));
  const events = (ofKind('Event') as Event[]).filter(({involvedObject: about}) =>
    names.has(`${about?.kind}/${about?.name}`),
  );
  return {
    workloads: ofKind(...WORKLOADS).filter((workload) => ours.has(workload)) as Workload[],
    pods,
    claims,
    events: events.toSorted(byTime),
    ...known,
  };
}

export const isOwner = ({kind, metadata}: KubernetesObject, owner: OwnerReference): boolean =>
  owner.uid && metadata.uid
    ? owner.uid === metadata.uid
    : owner.kind === kind && owner.name === metadata.name;

/** Helm annotates all its objects with the release name; labels are a fallback without helm. Runs are not part of the release. */
function belongs({metadata: {labels, annotations}}: KubernetesObject, instance: string): boolean {
  if (labels?.['app.kubernetes.io/component'] === 'task') return false;
  return (
    (annotations?.['meta.helm.sh/release-name'] ?? labels?.['app.kubernetes.io/instance']) ===
    instance
  );
}

/** Times have only seconds. At equal times, a success counts as later, because a persistent failure is reported again. */
function byTime(a: Event, b: Event): number {
  const difference =
    Math.floor(Date.parse(timeOf(a)) / 1000) - Math.floor(Date.parse(timeOf(b)) / 1000);
  return (
    difference ||
    Number(a.type === 'Normal') - Number(b.type === 'Normal') ||
    timeOf(a).localeCompare(timeOf(b))
  );
}

export interface ContainerView extends ContainerStatus {
  isInit: boolean;
  spec: Container | undefined;
}

export const objectLabel = ({kind = 'object', metadata}: KubernetesObject): string =>
  `${kind === 'PersistentVolumeClaim' ? 'pvc' : kind.toLowerCase()}/${metadata.name}`;

export const timeOf = ({series, lastTimestamp, eventTime, metadata}: Event): string =>
  series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '';

export const firstTimeOf = ({firstTimestamp, eventTime, metadata}: Event): string | undefined =>
  firstTimestamp ?? eventTime ?? metadata.creationTimestamp;

export const eventCount = ({count, series}: Event): number => series?.count ?? count ?? 1;

/** Events of exactly this object, not of an older one with the same name; newest last. */
export function eventsOf(
  snapshot: Snapshot,
  {kind, metadata}: KubernetesObject,
  reasons?: readonly string[],
): Event[] {
  return snapshot.events.filter(
    ({reason = '', involvedObject: about}) =>
      about?.name === metadata.name &&
      about.kind === kind &&
      (about.uid === undefined || metadata.uid === undefined || about.uid === metadata.uid) &&
      (reasons === undefined || reasons.includes(reason)),
  );
}

export function ownerOf(snapshot: Snapshot, {metadata}: KubernetesObject): Workload | undefined {
  const owner = metadata.ownerReferences?.[0];
  return owner && snapshot.workloads.find((each) => isOwner(each, owner));
}

/** The Deployment of a pod, not its ReplicaSet; an object without an owner is its own root. */
export function rootOf(snapshot: Snapshot, object: KubernetesObject): KubernetesObject {
  const owner = ownerOf(snapshot, object);
  return owner === undefined ? object : rootOf(snapshot, owner);
}

export const isTerminating = ({metadata}: KubernetesObject): boolean =>
  metadata.deletionTimestamp !== undefined;

export const podsOf = (snapshot: Snapshot, workload: KubernetesObject): Pod[] =>
  snapshot.pods.filter((pod) => !isTerminating(pod) && rootOf(snapshot, pod) === workload);

/** Names of the PVCs that a pod mounts. */
export const claimsOf = ({spec}: Pod): string[] =>
  (spec?.volumes ?? []).flatMap(({persistentVolumeClaim: claim}) => claim?.claimName ?? []);

export const condition = ({status}: Pod | Workload, type: string): Condition | undefined =>
  status?.conditions?.find((each) => each.type === type);

export const isPodReady = (pod: Pod): boolean =>
  pod.status?.phase === 'Running' && condition(pod, 'Ready')?.status === 'True';

/** Time since which the pod is not ready. */
export const unhealthySince = (pod: Pod): string | undefined =>
  condition(pod, 'Ready')?.lastTransitionTime ??
  pod.status?.startTime ??
  pod.metadata.creationTimestamp;

export function containersOf({spec, status}: Pod): ContainerView[] {
  const view = (
    isInit: boolean,
    specs: readonly Container[] = [],
    statuses: readonly ContainerStatus[] = [],
  ): ContainerView[] =>
    statuses.map((each) => ({...each, isInit, spec: specs.find(({name}) => name === each.name)}));
  return [
    ...view(true, spec?.initContainers, status?.initContainerStatuses),
    ...view(false, spec?.containers, status?.containerStatuses),
  ];
}

/** Neither ready nor finished. */
export const isContainerUnhealthy = ({ready, state}: ContainerView): boolean =>
  !ready && state?.terminated?.exitCode !== 0;

/** The pod waits for its volumes, its network or its images. */
export const isBeingCreated = (pod: Pod): boolean =>
  pod.status?.phase === 'Pending' &&
  pod.spec?.nodeName !== undefined &&
  containersOf(pod).every(({state}) => !state?.running && !state?.terminated);
