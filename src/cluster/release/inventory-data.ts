import type {ChartName} from '../../charts/releases/chart-name.ts';
import {at, getAt, type Tree, type Values} from '../../ground/tree.ts';
import type {Claim} from '../kubernetes/objects.ts';
import {hostPaths, podSpecs} from '../kubernetes/pod-specs.ts';
import {mayRun} from '../kubernetes/scheduling.ts';
import {isNodeReady} from '../platform/readings.ts';
import {type InventoryReadings, type PersistentVolume, userReadings} from './inventory-readings.ts';
import {DIRECTORY, normalPath, objectUsers, userText} from './object-users.ts';
import {claimNames} from './workload-users.ts';

export interface ClaimItem {
  name: string;
  /** The owner: the release, an older revision of it, or the user (the release only mounts it). */
  origin: 'release' | 'older-revision' | 'operator';
  size: string | undefined;
  volume?: VolumeItem;
  /** Workloads and pods of others that mount it; undefined if they cannot be listed. */
  usedBy: readonly string[] | undefined;
}

export interface VolumeItem {
  name: string;
  claim: string;
  size: string | undefined;
  /** What happens to the data when the PVC is deleted; undefined if volumes cannot be read. */
  reclaimPolicy: string | undefined;
  /** This program changed the policy to Retain. */
  isKeptByUs: boolean;
  /** Bound to one claim for good; once that has gone, no other one gets it. */
  isTied: boolean;
  resourceVersion: string | undefined;
  /** The PersistentVolume is part of the release (EFS): it is deleted, but its file system remains. */
  isOfRelease: boolean;
}

/** On a volume that an uninstall kept; the value is the release. */
export const KEPT_LABEL = 'scalr.io/kept-for';

/** The PVCs of a release and those it mounts. */
export function releaseClaims(readings: InventoryReadings): ClaimItem[] {
  const {release, manifest, objects, volumes} = readings;
  const using = userReadings(readings);
  const live = objects.filter(({kind}) => kind === 'PersistentVolumeClaim') as Claim[];
  const own = new Set(
    manifest
      .filter(({kind}) => kind === 'PersistentVolumeClaim')
      .map(({metadata}) => metadata.name),
  );
  const used = new Set(manifest.flatMap((object) => claimNames(object as unknown as Tree)));
  const originOf = ({metadata: {name, annotations}}: Claim): ClaimItem['origin'] | undefined => {
    if (own.has(name)) return 'release';
    if (annotations?.['meta.helm.sh/release-name'] === release) return 'older-revision';
    return used.has(name) ? 'operator' : undefined;
  };
  return live.flatMap((claim): ClaimItem[] => {
    const origin = originOf(claim);
    if (origin === undefined) return [];
    const users = objectUsers({kind: 'PersistentVolumeClaim', name: claim.metadata.name}, using);
    const usedBy = users?.map((user) => userText(user, readings.namespace));
    return [{...itemOf(claim, origin, {manifest, volumes}), usedBy}];
  });
}

function itemOf(
  claim: Claim,
  origin: ClaimItem['origin'],
  {manifest, volumes}: Pick<InventoryReadings, 'manifest' | 'volumes'>,
): Omit<ClaimItem, 'usedBy'> {
  const {name} = claim.metadata;
  const size = claim.status?.capacity?.storage ?? claim.spec?.resources?.requests?.storage;
  const bound = claim.spec?.volumeName;
  const item = {name, origin, size};
  if (bound === undefined || bound === '') return item;
  const isOfRelease = manifest.some(
    (object) => object.kind === 'PersistentVolume' && object.metadata.name === bound,
  );
  const found = volumes?.find(({metadata}) => metadata.name === bound);
  return {...item, volume: {...volumeItem(bound, name, found), isOfRelease}};
}

/** Volumes that an earlier uninstall of the same release retained, and that no PVC has bound since. */
export function keptVolumesOf({
  release,
  namespace,
  objects,
  volumes = [],
}: InventoryReadings): VolumeItem[] {
  const claims = objects.filter(({kind}) => kind === 'PersistentVolumeClaim') as Claim[];
  return volumes.flatMap((volume) => {
    const {namespace: at, name = ''} = volume.spec?.claimRef ?? {};
    // A PVC of that name may be bound to another volume.
    const isTaken = claims.some(
      ({metadata, spec}) =>
        metadata.name === name && [undefined, '', volume.metadata.name].includes(spec?.volumeName),
    );
    const isKept = volume.metadata.labels?.[KEPT_LABEL] === release && at === namespace && !isTaken;
    return isKept ? [volumeItem(volume.metadata.name, name, volume)] : [];
  });
}

function volumeItem(name: string, claim: string, volume: PersistentVolume | undefined): VolumeItem {
  const {labels, resourceVersion} = volume?.metadata ?? {};
  const {persistentVolumeReclaimPolicy: reclaimPolicy, capacity, claimRef} = volume?.spec ?? {};
  const isKeptByUs = labels?.[KEPT_LABEL] !== undefined;
  const isTied = claimRef?.uid !== undefined;
  return {
    name,
    claim,
    size: capacity?.storage,
    reclaimPolicy,
    resourceVersion,
    isKeptByUs,
    isTied,
    isOfRelease: false,
  };
}

/** A directory on nodes. No chart ever removes it. */
export interface NodeDataItem {
  path: string;
  /** Nodes the pods that write there may run on; undefined if nodes cannot be read. */
  nodes: readonly {name: string; isReady: boolean}[] | undefined;
  /** Others that use it; undefined if that cannot be read. */
  sharedBy: readonly string[] | undefined;
  /** A directory that only agents have; a program must not empty any other one. */
  isSafe: boolean;
}

export function nodeDataOf(readings: InventoryReadings, chart: ChartName): NodeDataItem[] {
  const path = nodeDirectoryOf(readings.values, chart);
  if (path === undefined) return [];
  const {manifest, nodes} = readings;
  const writer = manifest
    .flatMap(podSpecs)
    .find((spec) => hostPaths(spec).map(clean).includes(path));
  return [
    {
      path,
      nodes: nodes
        ?.filter(
          ({metadata: {labels = {}}, spec}) =>
            labels['kubernetes.io/os'] !== 'windows' &&
            (writer === undefined || mayRun(writer, {labels, taints: spec?.taints ?? []})),
        )
        .map((node) => ({name: node.metadata.name, isReady: isNodeReady(node)})),
      sharedBy: objectUsers({kind: DIRECTORY, name: path}, userReadings(readings))?.map((user) =>
        userText(user),
      ),
      isSafe: isPrivate(path),
    },
  ];
}

/** The directory that a chart with these values uses on nodes. */
export function nodeDirectoryOf(values: Values, chart: ChartName): string | undefined {
  const textAt = (key: string): string => String(getAt(values, at(key)) ?? '');
  if (chart === 'agent-k8s')
    return textAt('efsVolumeHandle') === '' ? clean(textAt('agent.data_home')) : undefined;
  if (chart !== 'agent-job' || getAt(values, at('persistence.cache.enabled')) !== true)
    return undefined;
  return clean(textAt('persistence.cache.hostPath.path'));
}

const clean = (path: string): string | undefined => (path === '' ? undefined : normalPath(path));

/** Of the system from top to bottom. */
const OFF_LIMITS =
  /^\/(bin|boot|dev|etc|lib\w*|proc|run|sbin|sys|usr|var\/run|var\/lib\/(kubelet|containerd?s?|docker|etcd|rancher|cni))(\/|$)/;
/** Many share these; a directory below them may be an agent's own. */
const SHARED =
  /^\/([^/]*|var\/[^/]+|home\/[^/]+|home\/kubernetes\/(bin|flexvolume)|mnt\/[^/]+|mnt\/disks\/[^/]+)$/;

const isPrivate = (path: string): boolean =>
  /^\/[\w./-]+$/.test(path) && !OFF_LIMITS.test(path) && !SHARED.test(path);
