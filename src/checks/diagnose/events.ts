import type {Event, KubernetesObject} from '../../cluster/kubernetes/objects.ts';
import type {Snapshot} from '../../cluster/kubernetes/snapshot.ts';

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
