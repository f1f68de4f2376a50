import {rollback} from '../cluster/helm/release-calls.ts';
import {annotate, applyObjects, patchVolume} from '../cluster/kubernetes/changes.ts';
import {
  deleteClaim,
  deleteJobs,
  waitForJobs,
  waitUntilGone,
} from '../cluster/kubernetes/deletions.ts';
import {isClusterScoped} from '../cluster/kubernetes/kinds.ts';
import type {Claim, KubernetesObject} from '../cluster/kubernetes/objects.ts';
import type {RenderedRelease} from '../cluster/release/desired-release.ts';
import type {Inventory} from '../cluster/release/inventory.ts';
import {
  type ClaimItem,
  KEPT_LABEL,
  type NodeDataItem,
  type VolumeItem,
} from '../cluster/release/inventory-data.ts';
import type {InstallFacts} from '../cluster/release/read-release.ts';
import {type Call, callText} from '../ground/call.ts';
import {type ClusterTarget, kubectlCommand, type ReleaseName} from '../ground/command-line.ts';
import {isKept, type RemovedObject, type Step} from './step.ts';

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
    const {name, size, volume} = claim;
    const isData = lost.includes(claim);
    return {
      what: `${isData ? 'All data in PVC' : 'PVC'} ${name}${size ? ` (${size})` : ''}`,
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
      .map((each) => ({...removed(each, [deleteOldClaim(kubeTarget, each)]), isShared: true})),
    ...volumes.map((each) => ({
      what: `PersistentVolume ${each.name} with the data of PVC ${each.claim}`,
      objects: [removedVolume(each.name)],
      steps: [deleteKeptVolume(kubeTarget, each)],
    })),
  ];
}

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

/** The image in Scalr's guide to node directories. */
export const CLEANER_IMAGE = 'busybox:1.37';

/** Why --purge=node-data does not empty a directory; undefined if it does. */
export function whyNodeDataIsKept({
  path,
  nodes,
  sharedBy,
  isSafe,
}: NodeDataItem): string | undefined {
  if (!isSafe) return `${path} can contain data of other programs`;
  if (nodes === undefined || sharedBy === undefined)
    return 'your user cannot list other users of the directory';
  if (sharedBy.length > 0) return `also used by ${sharedBy.join(', ')}`;
  return nodes.some(({isReady}) => isReady) ? undefined : 'no node with this directory is ready';
}

export const readyNodes = (nodes: NonNullable<NodeDataItem['nodes']>): string[] =>
  nodes.filter(({isReady}) => isReady).map(({name}) => name);

/** One Job per node, assigned by nodeName so that it also runs on tainted and cordoned nodes. */
export function cleanSteps(
  {release, kubeTarget}: ReleaseName,
  item: NodeDataItem,
  image: string,
  timeoutSeconds: number,
): Step[] {
  const nodes = readyNodes(item.nodes ?? []);
  const labels = {'scalr.io/cleaner': release};
  const selector = `scalr.io/cleaner=${release}`;
  const items = nodes.map((node, index) =>
    cleaner(`${release}-clean-${index}`, node, {path: item.path, image, labels}),
  );
  return [
    {
      id: 'clean',
      title: `Delete the contents of ${item.path} on ${nodes.join(', ')}`,
      call: applyObjects(kubeTarget, items),
      isDestructive: true,
    },
    {
      id: 'cleaned',
      title: `Wait until ${item.path} is empty`,
      call: waitForJobs(kubeTarget, selector, timeoutSeconds),
    },
    {id: 'cleaners', title: 'Delete the cleanup Jobs', call: deleteJobs(kubeTarget, selector)},
  ];
}

function cleaner(
  name: string,
  nodeName: string,
  {path, image, labels}: {path: string; image: string; labels: Record<string, string>},
): KubernetesObject {
  const container = {
    name: 'clean',
    image,
    command: ['find', '/node-data', '-mindepth', '1', '-delete'],
    volumeMounts: [{name: 'node-data', mountPath: '/node-data'}],
    // Files of runs have other owners, so it needs these capabilities and no others.
    securityContext: {
      runAsUser: 0,
      runAsNonRoot: false,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: {drop: ['ALL'], add: ['DAC_OVERRIDE', 'FOWNER']},
    },
    resources: {requests: {cpu: '10m', memory: '16Mi'}, limits: {memory: '64Mi'}},
  };
  const spec = {
    nodeName,
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    tolerations: [{operator: 'Exists'}],
    containers: [container],
    volumes: [{name: 'node-data', hostPath: {path, type: 'DirectoryOrCreate'}}],
  };
  const template = {metadata: {labels}, spec};
  const job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {name, labels},
    spec: {backoffLimit: 1, ttlSecondsAfterFinished: 600, template},
  };
  return job;
}

export function manualCleanup(
  {path, nodes = [], isSafe}: NodeDataItem,
  kubeTarget: ClusterTarget,
): string {
  const names = nodes.length === 0 ? ['NODE'] : nodes.map(({name}) => name);
  const debug = (image: string, ...args: readonly string[]): string =>
    kubectlCommand(kubeTarget, 'debug', 'node/NODE', `--image=${image}`, ...args);
  if (!isSafe) {
    const shell = debug('busybox:1.37', '--stdin', '--tty').replace('NODE', names[0] as string);
    return `Check on each node which files in /host${path} belong to the agent: ${shell}`;
  }
  const clean = debug(CLEANER_IMAGE, '--profile=sysadmin').replace('node/NODE', '"node/$node"');
  return `for node in ${names.join(' ')}; do ${clean} -- rm -rf '/host${path}'; done`;
}

/** Something that an uninstall deletes. It is done when none of the objects exists. */
export interface Removal {
  what: string;
  /** Its objects are listed with it. */
  isListed?: boolean;
  objects: readonly RemovedObject[];
  /** The steps that delete it after the release; empty if it is deleted with the release. */
  steps: readonly Step[];
  /** Others may have started to use it since the plan was created. */
  isShared?: boolean;
  /** How to delete it manually, where deleting the objects would not be enough. */
  how?: string;
}

/** Text for the user; for a part of the objects if not all are deleted. */
export const removalText = (
  {what, isListed, objects}: Removal,
  part: readonly RemovedObject[] = objects,
): string =>
  isListed && part.length > 0
    ? `${what}: ${part.map(({kind, name}) => `${kind} ${name}`).join(', ')}`
    : what;

/** A rendered object, where Helm puts it. */
export const renderedObject = (
  {kind = '', apiVersion = 'v1', metadata}: KubernetesObject,
  namespace: string,
): RemovedObject => ({
  kind,
  name: metadata.name,
  ...(isClusterScoped(kind) ? {} : {namespace: metadata.namespace ?? namespace}),
  groupVersion: apiVersion,
});

const removedVolume = (name: string): RemovedObject => ({kind: 'PersistentVolume', name});

const CLAIM = 'PersistentVolumeClaim';

/** PVCs of the release that Helm would delete. The file system behind a PersistentVolume of the release remains (EFS). */
export function claimsToKeep(
  {manifest}: Pick<RenderedRelease, 'manifest'>,
  {installed}: Pick<InstallFacts, 'installed'>,
): string[] {
  const named = (objects: readonly KubernetesObject[], kind: string): KubernetesObject[] =>
    objects.filter((each) => each.kind === kind);
  const rendered = new Set(named(manifest, CLAIM).map(({metadata}) => metadata.name));
  const volumes = new Set(named(installed, 'PersistentVolume').map(({metadata}) => metadata.name));
  return (named(installed, CLAIM) as Claim[])
    .filter(
      (each) =>
        !rendered.has(each.metadata.name) &&
        !volumes.has(each.spec?.volumeName ?? '') &&
        !isKept(each),
    )
    .map(({metadata}) => metadata.name);
}

export const keepClaimSteps = (claims: readonly string[], {kubeTarget}: ReleaseName): Step[] =>
  claims.map((claim) => ({
    id: `keep/${claim}`,
    title: `Annotate PVC ${claim}, so that Helm keeps it with its data`,
    call: annotate(kubeTarget, {kind: CLAIM, name: claim}, {'helm.sh/resource-policy': 'keep'}),
    tolerates: /not found/i,
  }));

/** For the user to run after a failed upgrade, whose record lacks objects that it did not delete yet. The rollback records them. */
export const rollbackHints = (calls: readonly Call[]): string[] => [
  ...calls.map((call) => `Roll back to the revision that ran before: ${callText(call)}`),
  ...calls
    .slice(-1)
    .map((call) => `If helm does not find an object, run this a second time: ${callText(call)}`),
];

/** The rollback of a change that keeps PVCs: the first one records the PVCs and fails, the second one finds them in that record. */
export function rollbackSteps(
  name: ReleaseName,
  revision: number,
  keptClaims: readonly string[],
): Step[] {
  const back: Step = {
    id: 'rollback',
    title: `Roll back to revision ${revision}`,
    call: rollback(name, revision),
  };
  const adopt: Step = {
    ...back,
    id: 'adopt',
    title: 'Record the kept PVCs in the release',
    tolerates: /PersistentVolumeClaim with the name .* found/,
  };
  return keptClaims.length === 0 ? [back] : [adopt, back];
}
