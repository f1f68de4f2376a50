import type {Inventory} from '../cluster/inventory.ts';
import {type ClaimItem, KEPT_LABEL, type VolumeItem} from '../cluster/inventory-claims.ts';
import {deleteClaim, patchVolume, waitUntilGone} from '../kubernetes/kubectl.ts';
import type {Place, ReleaseName} from '../ports/place.ts';
import type {Step} from './step.ts';

type Bound = ClaimItem & {volume: VolumeItem};

const bound = ({claims}: Inventory, ...origins: readonly ClaimItem['origin'][]): Bound[] =>
  claims.filter((claim): claim is Bound => origins.includes(claim.origin) && claim.volume !== undefined && !claim.volume.isOfRelease);

/**
 * What has to be done before Helm deletes the claims of a release, which nothing can prevent: it goes by the manifest it stored, so an
 * annotation `helm.sh/resource-policy: keep` on the live claim does not count, nor do other owners or --cascade=orphan. The volume can outlive them.
 */
export function beforeUninstall({release, place}: ReleaseName, inventory: Inventory, isPurged: boolean): Step[] {
  if (isPurged)
    return bound(inventory, 'release', 'older-revision')
      .filter(({volume}) => volume.isKeptByUs)
      .map((each) => letGo(place, each));
  return bound(inventory, 'release')
    .filter(({volume}) => volume.reclaimPolicy !== 'Retain')
    .map((each) => keep(place, release, each));
}

const keep = (place: Place, release: string, {name, volume}: Bound): Step => ({
  id: `keep-volume/${volume.name}`,
  title: `Keep the data of claim ${name}: volume ${volume.name} stays when Helm deletes the claim`,
  call: patchVolume(place, volume.name, {metadata: {labels: {[KEPT_LABEL]: release}}, spec: {persistentVolumeReclaimPolicy: 'Retain'}}),
});

const letGo = (place: Place, {name, volume}: Bound): Step => ({
  id: `release-volume/${volume.name}`,
  title: `Let volume ${volume.name} go with claim ${name}, as before an earlier uninstall kept it`,
  call: patchVolume(place, volume.name, {metadata: {labels: {[KEPT_LABEL]: null}}, spec: {persistentVolumeReclaimPolicy: 'Delete'}}),
});

/** Afterwards the volumes wait for claims of the same names, so that the next install finds its data. */
export function afterUninstall({place}: ReleaseName, inventory: Inventory, isPurged: boolean, timeoutSeconds: number): Step[] {
  if (isPurged) return purgeSteps(place, inventory);
  const claims = bound(inventory, 'release');
  // An uninstall that broke off may have left these tied to a claim that is no more.
  const tied = inventory.volumes.filter(({isTied}) => isTied);
  return [
    ...(claims.length === 0 ? [] : [claimsGone(place, claims, timeoutSeconds)]),
    ...[...claims.map(({volume}) => volume), ...tied].map((each) => reserve(place, each)),
  ];
}

const claimsGone = (place: Place, claims: readonly Bound[], seconds: number): Step => {
  const names = claims.map(({name}) => `persistentvolumeclaim/${name}`);
  return {
    id: 'claims-gone',
    title: `Wait until ${claims.map(({name}) => `claim ${name}`).join(' and ')} has gone`,
    call: waitUntilGone(place, names, seconds),
  };
};

const reserve = (place: Place, {name, claim}: VolumeItem): Step => ({
  id: `reserve-volume/${name}`,
  title: `Reserve volume ${name} for the next claim ${claim} in ${place.namespace}`,
  call: patchVolume(place, name, {spec: {claimRef: {uid: null, resourceVersion: null}}}),
});

const purgeSteps = (place: Place, {claims, volumes}: Inventory): Step[] => [
  ...claims
    .filter(({origin}) => origin === 'older-revision')
    .map(
      ({name}): Step => ({
        id: `claim/${name}`,
        title: `Delete claim ${name}, left by an older revision`,
        call: deleteClaim(place, name),
        isDestructive: true,
      }),
    ),
  ...volumes.map(
    ({name, claim, resourceVersion}): Step => ({
      id: `volume/${name}`,
      title: `Delete volume ${name}, kept by an earlier uninstall for claim ${claim}`,
      // A claim may have taken it up since it was looked at: then the API server refuses.
      call: patchVolume(place, name, {metadata: {resourceVersion}, ...RELEASED}),
      isDestructive: true,
    }),
  ),
];

/** Bound to a claim that cannot be: Kubernetes finds it released and reclaims it, with the disk behind it; deleting the object would leave the disk. */
const RELEASED = {spec: {persistentVolumeReclaimPolicy: 'Delete', claimRef: {uid: 'gone'}}};

/** The claims whose data goes. */
export const lostClaims = ({claims}: Inventory, isPurged: boolean): ClaimItem[] =>
  isPurged ? claims.filter(({origin, volume}) => origin === 'release' && !volume?.isOfRelease && !isRetained(volume)) : [];

/** By the operator; what this program retained it also lets go. */
export const isRetained = (volume: VolumeItem | undefined): boolean => volume?.reclaimPolicy === 'Retain' && !volume.isKeptByUs;
