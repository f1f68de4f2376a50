import type {
  Claim,
  Condition,
  Container,
  ContainerStatus,
  Event,
  KubernetesObject,
  Pod,
  Snapshot,
  Workload,
} from '../kubernetes/objects.ts';

/** A container of a pod: spec and status. */
export interface ContainerView extends ContainerStatus {
  isInit: boolean;
  spec: Container | undefined;
}

const NAMES: Readonly<Record<string, string>> = {PersistentVolumeClaim: 'claim'};

export const objectLabel = ({kind = 'object', metadata}: KubernetesObject): string =>
  `${NAMES[kind] ?? kind.toLowerCase()}/${metadata.name}`;

export const timeOf = ({series, lastTimestamp, eventTime, metadata}: Event): string =>
  series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '';

export const firstTimeOf = ({firstTimestamp, eventTime, metadata}: Event): string | undefined =>
  firstTimestamp ?? eventTime ?? metadata.creationTimestamp;

export const eventCount = ({count, series}: Event): number => series?.count ?? count ?? 1;

/** Events of exactly this object, not of an older one with the same name; newest last. */
export function eventsOf(snapshot: Snapshot, {kind, metadata}: KubernetesObject, reasons?: readonly string[]): Event[] {
  return snapshot.events.filter(
    ({reason = '', involvedObject: about}) =>
      about?.name === metadata.name &&
      about.kind === kind &&
      (about.uid === undefined || metadata.uid === undefined || about.uid === metadata.uid) &&
      (reasons === undefined || reasons.includes(reason)),
  );
}

export const newestEvent = (snapshot: Snapshot, object: KubernetesObject, reasons: readonly string[]): Event | undefined =>
  eventsOf(snapshot, object, reasons).at(-1);

export function ownerOf(snapshot: Snapshot, {metadata}: KubernetesObject): Workload | undefined {
  const owner = metadata.ownerReferences?.[0];
  return (
    owner &&
    snapshot.workloads.find(({kind, metadata: {name, uid}}) =>
      owner.uid && uid ? uid === owner.uid : kind === owner.kind && name === owner.name,
    )
  );
}

/** The Deployment of a pod, not its ReplicaSet; an object without an owner is its own root. */
export function rootOf(snapshot: Snapshot, object: KubernetesObject): KubernetesObject {
  const owner = ownerOf(snapshot, object);
  return owner === undefined ? object : rootOf(snapshot, owner);
}

export const isEnding = ({metadata}: KubernetesObject): boolean => metadata.deletionTimestamp !== undefined;

export const podsOf = (snapshot: Snapshot, workload: KubernetesObject): Pod[] =>
  snapshot.pods.filter((pod) => !isEnding(pod) && rootOf(snapshot, pod) === workload);

export const podClaims = (snapshot: Snapshot, {spec}: Pod): Claim[] =>
  snapshot.claims.filter(({metadata}) => spec?.volumes?.some((each) => each.persistentVolumeClaim?.claimName === metadata.name));

export const condition = ({status}: Pod | Workload, type: string): Condition | undefined =>
  status?.conditions?.find((each) => each.type === type);

export const isPodReady = (pod: Pod): boolean => pod.status?.phase === 'Running' && condition(pod, 'Ready')?.status === 'True';

/** Time since which the pod is not ready. */
export const troubleSince = (pod: Pod): string | undefined =>
  condition(pod, 'Ready')?.lastTransitionTime ?? pod.status?.startTime ?? pod.metadata.creationTimestamp;

export function containersOf({spec, status}: Pod): ContainerView[] {
  const view = (isInit: boolean, specs: readonly Container[] = [], statuses: readonly ContainerStatus[] = []): ContainerView[] =>
    statuses.map((each) => ({...each, isInit, spec: specs.find(({name}) => name === each.name)}));
  return [...view(true, spec?.initContainers, status?.initContainerStatuses), ...view(false, spec?.containers, status?.containerStatuses)];
}

/** Neither ready nor finished. */
export const isContainerTroubled = ({ready, state}: ContainerView): boolean => !ready && state?.terminated?.exitCode !== 0;

/** The pod waits for its volumes, its network or its images. */
export const isBeingCreated = (pod: Pod): boolean =>
  pod.status?.phase === 'Pending' &&
  pod.spec?.nodeName !== undefined &&
  containersOf(pod).every(({state}) => !state?.running && !state?.terminated);
