import {scalrChart} from '../../charts/releases/chart-name.ts';
import {objectsIn, type StoredRevision} from '../helm/release-record.ts';
import {gitOpsOwner} from '../kubernetes/gitops-marks.ts';
import {isClusterScoped} from '../kubernetes/kinds.ts';
import type {ObjectRef} from '../kubernetes/object-refs.ts';
import type {KubernetesObject} from '../kubernetes/objects.ts';
import {objectUsers, type UserReadings, userText} from './object-users.ts';
import {isInManifest, isOfRelease, isOwned} from './release-objects.ts';

/** An object of the release that helm does not delete: its newest revision does not contain it, or Helm has no record of it. */
export interface LeftObject extends ObjectRef {
  object: KubernetesObject;
  /** An uninstall deletes it. */
  isDeleted: boolean;
  /** Why it is not deleted, even if that is wanted; undefined if it can be. */
  keptFor: string | undefined;
  usedBy: readonly string[] | undefined;
}

interface LeftReadings extends Omit<UserReadings, 'isDeleted' | 'isUninstalled' | 'releases'> {
  /** Undefined if Helm has no record of the release. */
  state: object | undefined;
  wide: readonly KubernetesObject[] | undefined;
  removesLeftovers?: boolean;
}

/** PVCs and PersistentVolumes hold data and are listed separately. */
const DATA: ReadonlySet<string> = new Set(['PersistentVolumeClaim', 'PersistentVolume']);

/** Pure. */
export function leftObjectsOf(readings: LeftReadings, using: UserReadings): LeftObject[] {
  const {state, namespace, manifest, objects, customResources = [], wide = []} = readings;
  const here = [...objects, ...customResources].filter(
    ({metadata}) => (metadata.namespace ?? namespace) === namespace,
  );
  return [...here, ...wide]
    .filter(
      (each) =>
        isOfRelease(each, readings) &&
        !(state !== undefined && isDeletedOtherwise(each, manifest)) &&
        !isOwned(each) &&
        !DATA.has(each.kind ?? '') &&
        isOfScalrChart(each),
    )
    .map((object) => leftObject(object, readings, using));
}

/** Runs end by themselves; helm deletes what it has rendered last. */
const isDeletedOtherwise = (
  object: KubernetesObject,
  manifest: readonly KubernetesObject[],
): boolean =>
  ['Pod', 'Job', 'ReplicaSet'].includes(object.kind ?? '') || isInManifest(object, manifest);

/** Some objects of the charts have no such label, but none has that of another chart. */
function isOfScalrChart({metadata}: KubernetesObject): boolean {
  const chart = metadata.labels?.['helm.sh/chart'];
  return chart === undefined || scalrChart(chart) !== undefined;
}

function leftObject(
  object: KubernetesObject,
  {state, namespace, removesLeftovers = false}: LeftReadings,
  using: UserReadings,
): LeftObject {
  const {kind = '', metadata} = object;
  const ref = {kind, name: metadata.name};
  const usedBy = objectUsers(ref, {...using, isDeleted: true})?.map((user) =>
    userText(user, namespace),
  );
  const keptFor = whyKept(object, usedBy);
  const isDeleted = keptFor === undefined && (state !== undefined || removesLeftovers);
  return {...ref, object, usedBy, keptFor, isDeleted};
}

function whyKept(
  object: KubernetesObject,
  usedBy: readonly string[] | undefined,
): string | undefined {
  if (object.metadata.annotations?.['helm.sh/resource-policy'] === 'keep')
    return 'its annotation helm.sh/resource-policy is keep';
  const controller = gitOpsOwner(object);
  if (controller !== undefined) return `it is managed by the ${controller}`;
  if (usedBy === undefined) return 'not checked: your user cannot list what may use it';
  return usedBy.length > 0 ? `used by ${usedBy.join(' and ')}` : undefined;
}

/** Without the permission to list cluster-scoped objects, only records that have none tell that none remains. */
export function isWideKnown({state, wide, revisions, release, namespace}: LeftReadings): boolean {
  if (wide !== undefined) return true;
  if (state === undefined || revisions === undefined) return false;
  const isOfOwn = (each: StoredRevision): boolean =>
    each.release === release && each.namespace === namespace;
  return !revisions
    .filter(isOfOwn)
    .flatMap(({manifest}) => objectsIn(manifest))
    .some(({kind = ''}) => isClusterScoped(kind));
}
