import type {
  Claim,
  Event,
  KubernetesObject,
  OwnerReference,
  Pod,
  Workload,
} from '../../cluster/kubernetes/objects.ts';
import type {Snapshot} from '../../cluster/kubernetes/snapshot.ts';
import type {ReleaseName} from '../../ground/command-line.ts';
import {timeOf} from './events.ts';
import {claimsOf, isTerminating} from './pod-state.ts';

/** Objects without an owner in the release, except pods that are terminating. */
export function rootsOf(snapshot: Snapshot): KubernetesObject[] {
  const pods = snapshot.pods.filter((pod) => !isTerminating(pod));
  return [...snapshot.workloads, ...pods].filter(
    (object) => ownerOf(snapshot, object) === undefined,
  );
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

export const objectLabel = ({kind = 'object', metadata}: KubernetesObject): string =>
  `${kind === 'PersistentVolumeClaim' ? 'pvc' : kind.toLowerCase()}/${metadata.name}`;

export function ownerOf(snapshot: Snapshot, {metadata}: KubernetesObject): Workload | undefined {
  const owner = metadata.ownerReferences?.[0];
  return owner && snapshot.workloads.find((each) => isOwner(each, owner));
}

/** The Deployment of a pod, not its ReplicaSet; an object without an owner is its own root. */
export function rootOf(snapshot: Snapshot, object: KubernetesObject): KubernetesObject {
  const owner = ownerOf(snapshot, object);
  return owner === undefined ? object : rootOf(snapshot, owner);
}

export const podsOf = (snapshot: Snapshot, workload: KubernetesObject): Pod[] =>
  snapshot.pods.filter((pod) => !isTerminating(pod) && rootOf(snapshot, pod) === workload);
