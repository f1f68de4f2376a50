import {patchVolume} from '../cluster/kubernetes/changes.ts';
import {deleteClaim, waitUntilGone} from '../cluster/kubernetes/deletions.ts';
import type {Inventory} from '../cluster/release/inventory.ts';
import {type ClaimItem, KEPT_LABEL, type VolumeItem} from '../cluster/release/inventory-data.ts';
import type {ClusterTarget, ReleaseName} from '../ground/command-line.ts';
import type {Removal} from './removal.ts';
import type {RemovedObject, Step} from './step.ts';

type Bound = ClaimItem & {volume: VolumeItem};

const bound = ({claims}: Inventory, ...origins: readonly ClaimItem['origin'][]): Bound[] =>
  claims.filter(
    (claim): claim is Bound =>
      origins.includes(claim.origin) && claim.volume !== undefined && !claim.volume.isOfRelease,
  );

/**
 * Steps before Helm deletes the PVCs of a release. Nothing prevents that: Helm reads its stored manifest, so it ignores
 * `helm.sh/resource-policy: keep` on the live PVC, other owners and --cascade=orphan. Only the volumes can be retained.
 */
export function beforeUninstall(
  {release, kubeTarget}: ReleaseName,
  inventory: Inventory,
  isPurged: boolean,
): Step[] {
  const reclaim = ({name}: VolumeItem, policy: 'Delete' | 'Retain', keptFor: string | null) =>
    patchVolume(kubeTarget, name, {
      metadata: {labels: {[KEPT_LABEL]: keptFor}},
      spec: {persistentVolumeReclaimPolicy: policy},
    });
  if (isPurged)
    return bound(inventory, 'release', 'older-revision')
      .filter(({volume, usedBy}) => volume.isKeptByUs && usedBy?.length === 0)
      .map(({name, volume}) => ({
        id: `release-volume/${volume.name}`,
        title: `Restore reclaim policy Delete of PersistentVolume ${volume.name}, which an earlier uninstall retained for PVC ${name}`,
        call: reclaim(volume, 'Delete', null),
      }));
  return bound(inventory, 'release')
    .filter(({volume}) => volume.reclaimPolicy !== 'Retain')
    .map(({name, volume}) => ({
      id: `keep-volume/${volume.name}`,
      title: `Retain PersistentVolume ${volume.name} with the data of PVC ${name}`,
      call: reclaim(volume, 'Retain', release),
    }));
}

/** Steps after it: retained volumes are reserved for PVCs of the same names, so that the next install finds its data. */
export function keepVolumeSteps(
  {kubeTarget}: ReleaseName,
  inventory: Inventory,
  timeoutSeconds: number,
): Step[] {
  const claims = bound(inventory, 'release');
  // An interrupted uninstall may have left these bound to a deleted PVC.
  const tied = inventory.volumes.filter(({isTied}) => isTied);
  return [
    ...(claims.length === 0
      ? []
      : [
          {
            id: 'claims-gone',
            title: `Wait until ${claims.map(({name}) => `PVC ${name}`).join(' and ')} ${claims.length === 1 ? 'is' : 'are'} deleted`,
            call: waitUntilGone(
              kubeTarget,
              {resources: claims.map(({name}) => ({kind: 'persistentvolumeclaim', name}))},
              timeoutSeconds,
            ),
          },
        ]),
    ...[...claims.map(({volume}) => volume), ...tied].map(({name, claim}) => ({
      id: `reserve-volume/${name}`,
      title: `Reserve PersistentVolume ${name} for the next PVC ${claim} in ${kubeTarget.namespace}`,
      call: patchVolume(kubeTarget, name, {spec: {claimRef: {uid: null, resourceVersion: null}}}),
    })),
  ];
}

/** Data that is deleted: in PVCs of the release, in those of older revisions, and in volumes that an earlier uninstall retained. */
export function dataRemovals(kubeTarget: ClusterTarget, inventory: Inventory): Removal[] {
  const {claims, volumes} = inventory;
  const lost = deletedClaims(inventory, true);
  const removed = (claim: ClaimItem, steps: readonly Step[]): Removal => {
    const {name, volume} = claim;
    const isData = lost.includes(claim);
    const pvc = claimText(claim);
    return {
      what: isData ? `All data in ${pvc}` : pvc,
      objects: [
        {kind: CLAIM, name, namespace: kubeTarget.namespace},
        ...(isData && volume ? [removedVolume(volume.name)] : []),
      ],
      steps,
    };
  };
  return [
    ...lost.filter(({origin}) => origin === 'release').map((each) => removed(each, [])),
    ...claims
      .filter(({origin, usedBy}) => origin === 'older-revision' && usedBy?.length === 0)
      .map((each) => ({
        ...removed(each, [deleteOldClaim(kubeTarget, each)]),
        keptAs: claimText(each),
      })),
    ...volumes.map((each) => ({
      what: `PersistentVolume ${each.name} with the data of PVC ${each.claim}`,
      objects: [removedVolume(each.name)],
      steps: [deleteKeptVolume(kubeTarget, each)],
    })),
  ];
}

const claimText = ({name, size}: ClaimItem): string => `PVC ${name}${size ? ` (${size})` : ''}`;

const deleteOldClaim = (kubeTarget: ClusterTarget, {name}: ClaimItem): Step => ({
  id: `claim/${name}`,
  title: `Delete PVC ${name} of an older revision`,
  call: deleteClaim(kubeTarget, name),
  deletes: [{kind: CLAIM, name, namespace: kubeTarget.namespace}],
  isDestructive: true,
});

const deleteKeptVolume = (
  kubeTarget: ClusterTarget,
  {name, claim, resourceVersion}: VolumeItem,
): Step => ({
  id: `volume/${name}`,
  title: `Delete PersistentVolume ${name}, which an earlier uninstall retained for PVC ${claim}`,
  // If a PVC has bound it since, the API server rejects the patch because of the resourceVersion.
  call: patchVolume(kubeTarget, name, {metadata: {resourceVersion}, ...RELEASED}),
  isDestructive: true,
});

/** Bound to a PVC that cannot exist, so Kubernetes reclaims the volume and its disk; deleting the object would leave the disk. */
const RELEASED = {spec: {persistentVolumeReclaimPolicy: 'Delete', claimRef: {uid: 'gone'}}};

export const deletedClaims = ({claims}: Inventory, isPurged: boolean): ClaimItem[] =>
  isPurged
    ? claims.filter(
        ({origin, volume, usedBy}) =>
          origin !== 'operator' &&
          usedBy?.length === 0 &&
          !volume?.isOfRelease &&
          !isRetained(volume),
      )
    : [];

/** Retained by others: this program also deletes what it retained itself. */
export const isRetained = (volume: VolumeItem | undefined): boolean =>
  volume?.reclaimPolicy === 'Retain' && !volume.isKeptByUs;

const removedVolume = (name: string): RemovedObject => ({kind: 'PersistentVolume', name});

export const CLAIM = 'PersistentVolumeClaim';
