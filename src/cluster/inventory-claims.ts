import {isMap, type Tree} from '../charts/tree.ts';
import type {PersistentVolume, Readings} from './inventory-readings.ts';
import type {Claim} from './objects.ts';

interface BoundClaim extends Claim {
  spec?: Claim['spec'] & {volumeName?: string};
  status?: Claim['status'] & {capacity?: {storage?: string}};
}

export interface ClaimItem {
  name: string;
  /** Whose it is: deleted with the release, left by an older revision of it, or the operator's and only used. */
  origin: 'release' | 'older-revision' | 'operator';
  size?: string;
  volume?: VolumeItem;
}

export interface VolumeItem {
  name: string;
  claim: string;
  size?: string;
  /** What becomes of the data when the claim goes; undefined where volumes may not be read. */
  reclaimPolicy?: string;
  /** It was this program that changed the policy to Retain. */
  isKeptByUs: boolean;
  /** Bound to one claim for good; once that has gone, no other one gets it. */
  isTied: boolean;
  /** The state that was looked at. */
  resourceVersion?: string;
  /** The volume object is of the release too (EFS): it goes, and the file system it stands for stays. */
  isOfRelease: boolean;
}

/** On a volume that an uninstall kept; the value is the release. */
export const KEPT_LABEL = 'scalr.io/kept-for';

/** The claims of a release and those it uses. */
export function claimsOf({release, manifest, objects, volumes}: Readings): ClaimItem[] {
  const live = objects.filter(({kind}) => kind === 'PersistentVolumeClaim') as BoundClaim[];
  const own = new Set(manifest.filter(({kind}) => kind === 'PersistentVolumeClaim').map(({metadata}) => metadata.name));
  const used = new Set(manifest.flatMap((object) => claimNames(object as unknown as Tree)));
  return live.flatMap((claim): ClaimItem[] => {
    const origin = own.has(claim.metadata.name)
      ? 'release'
      : claim.metadata.annotations?.['meta.helm.sh/release-name'] === release
        ? 'older-revision'
        : used.has(claim.metadata.name)
          ? 'operator'
          : undefined;
    return origin === undefined ? [] : [itemOf(claim, origin, {manifest, volumes})];
  });
}

function itemOf(claim: BoundClaim, origin: ClaimItem['origin'], {manifest, volumes}: Pick<Readings, 'manifest' | 'volumes'>): ClaimItem {
  const {name} = claim.metadata;
  const size = claim.status?.capacity?.storage ?? claim.spec?.resources?.requests?.storage;
  const bound = claim.spec?.volumeName;
  const item = {name, origin, ...(size === undefined ? {} : {size})};
  if (bound === undefined || bound === '') return item;
  const isOfRelease = manifest.some((object) => object.kind === 'PersistentVolume' && object.metadata.name === bound);
  const found = volumes?.find(({metadata}) => metadata.name === bound);
  return {...item, volume: {...volumeItem(bound, name, found), isOfRelease}};
}

/** Volumes that an earlier uninstall of the same release kept, and that no claim has taken up since. */
export function keptVolumesOf({release, namespace, objects, volumes = []}: Readings): VolumeItem[] {
  const claims = new Set(objects.filter(({kind}) => kind === 'PersistentVolumeClaim').map(({metadata}) => metadata.name));
  return volumes.flatMap((volume) => {
    const {namespace: at, name = ''} = volume.spec?.claimRef ?? {};
    const isKept = volume.metadata.labels?.[KEPT_LABEL] === release && at === namespace && !claims.has(name);
    return isKept ? [volumeItem(volume.metadata.name, name, volume)] : [];
  });
}

function volumeItem(name: string, claim: string, volume: PersistentVolume | undefined): VolumeItem {
  const {labels, resourceVersion} = volume?.metadata ?? {};
  const {persistentVolumeReclaimPolicy: policy, capacity, claimRef} = volume?.spec ?? {};
  return {
    name,
    claim,
    ...(capacity?.storage === undefined ? {} : {size: capacity.storage}),
    ...(policy === undefined ? {} : {reclaimPolicy: policy}),
    ...(resourceVersion === undefined ? {} : {resourceVersion}),
    isKeptByUs: labels?.[KEPT_LABEL] !== undefined,
    isTied: claimRef?.uid !== undefined,
    isOfRelease: false,
  };
}

/** Claims that pods mount, wherever their templates are. */
function claimNames(tree: Tree): string[] {
  if (Array.isArray(tree)) return tree.flatMap(claimNames);
  if (!isMap(tree)) return [];
  return Object.entries(tree).flatMap(([key, below]) =>
    key === 'persistentVolumeClaim' && isMap(below) && typeof below['claimName'] === 'string' ? [below['claimName']] : claimNames(below),
  );
}
