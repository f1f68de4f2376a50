import type {KubernetesObject, Pod, Snapshot} from '../cluster/objects.ts';
import type {Cause} from './cause.ts';
import {claimsOf, nameOf, podsOf, rootOf} from './snapshot-queries.ts';

/** A cause, with what it is about. */
export interface Told extends Cause {
  about: KubernetesObject;
  isVague: boolean;
}

function below(snapshot: Snapshot, object: KubernetesObject): readonly KubernetesObject[] {
  return object.kind === 'Pod' ? claimsOf(snapshot, object as Pod) : podsOf(snapshot, object);
}

/** A vague cause gives way to better ones below, and leaves them its hopelessness. */
export function foldVague(snapshot: Snapshot, told: readonly Told[]): Told[] {
  const heirs = new Map<Told, Told[]>();
  for (const vague of told.filter(({isVague}) => isVague)) {
    const objects = below(snapshot, vague.about);
    const better = told.filter(({about}) => objects.includes(about));
    if (better.length > 0) heirs.set(vague, better);
  }
  const inherits = (each: Told): boolean => [...heirs].some(([{isHopeless}, better]) => isHopeless && better.includes(each));
  return told.filter((each) => !heirs.has(each)).map((each) => (inherits(each) ? {...each, isHopeless: true} : each));
}

/** Pods of one workload that fare the same are told once. */
export function foldAlike(snapshot: Snapshot, told: readonly Told[]): Told[] {
  const groups = new Map<string, Told[]>();
  for (const each of told) {
    const key = JSON.stringify([nameOf(rootOf(snapshot, each.about)), each.about.kind, each.code, each.reason]);
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return [...groups.values()].map((alike) => {
    const first = alike[0] as Told;
    const more = alike.length - 1;
    const others = more === 0 ? '' : ` (and ${more} more ${more === 1 ? 'pod' : 'pods'})`;
    return {...first, reason: `${first.reason}${others}`, isHopeless: alike.some(({isHopeless}) => isHopeless)};
  });
}
