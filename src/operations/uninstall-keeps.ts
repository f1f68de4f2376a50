import {deleteByHand, deleteClaim} from '../cluster/kubernetes/deletions.ts';
import {refText} from '../cluster/kubernetes/object-refs.ts';
import type {AccountToken} from '../cluster/release/account-token.ts';
import type {DefinitionItem, Inventory} from '../cluster/release/inventory.ts';
import type {ClaimItem, NodeDataItem} from '../cluster/release/inventory-data.ts';
import type {LeftObject} from '../cluster/release/left-objects.ts';
import type {NamespaceItem} from '../cluster/release/namespace.ts';
import {type ObjectUser, userText} from '../cluster/release/object-users.ts';
import {callText} from '../ground/call-arguments.ts';
import {type ClusterTarget, ownCommand, type ReleaseName} from '../ground/command-line.ts';
import {count, few} from '../ground/text.ts';
import {manualCleanup, whyNodeDataIsKept} from './node-data.ts';
import {isRetained} from './release-data.ts';

export const PURGEABLE = [
  'claims',
  'crds',
  'secrets',
  'namespace',
  'node-data',
  'leftovers',
] as const;
export type Purgeable = (typeof PURGEABLE)[number];

/** `all` is every class. */
export const purgeOf = (classes: readonly (Purgeable | 'all')[] = []): ReadonlySet<Purgeable> =>
  new Set(classes.flatMap((each) => (each === 'all' ? PURGEABLE : each)));

/** Something that an uninstall leaves behind. */
export interface KeptObject {
  what: string;
  why: string;
  /** How to delete it. */
  how: string;
}

/** Something that an uninstall should have deleted. */
export interface LeftBehind extends KeptObject {
  code: 'DELETION_PENDING' | 'NOT_CHECKED' | 'NOT_REMOVED';
}

type Purge = ReadonlySet<Purgeable>;

/** What --purge deletes. */
export function removable(inventory: Inventory, purge: Purge) {
  const {definitions, secrets, namespace, nodeData} = inventory;
  return {
    definitions: purge.has('crds')
      ? definitions.filter(({neededBy}) => neededBy?.length === 0)
      : [],
    secrets: purge.has('secrets') ? secrets.filter(({usedBy}) => usedBy?.length === 0) : [],
    nodeData: purge.has('node-data')
      ? nodeData.filter((each) => whyNodeDataIsKept(each) === undefined)
      : [],
    namespace:
      purge.has('namespace') &&
      namespace &&
      whyNamespaceStays(inventory, purge, namespace) === undefined
        ? [namespace]
        : [],
  };
}

function whyNamespaceStays(
  {secrets, claims}: Inventory,
  purge: Purge,
  {isOurs, others}: NamespaceItem,
): string | undefined {
  if (!isOurs) return 'it was not created by scalr-agent for this release';
  const held = [
    ...others,
    ...secrets
      .filter(({usedBy}) => !purge.has('secrets') || usedBy?.length !== 0)
      .map(({name}) => `Secret ${name}`),
    ...claims
      .filter(
        ({origin, usedBy}) =>
          origin === 'older-revision' && (!purge.has('claims') || usedBy?.length !== 0),
      )
      .map(({name}) => `PVC ${name}`),
  ];
  return held.length === 0 ? undefined : `it contains ${few(held)}`;
}

interface RemainingOptions {
  purge: Purge;
  /** The token in the Scalr account becomes invalid. */
  removesToken?: boolean;
  /** Its agent pool is deleted. */
  deletesPool?: boolean;
}

export function remaining(
  name: ReleaseName,
  inventory: Inventory,
  {purge, removesToken = false, deletesPool = false}: RemainingOptions,
): KeptObject[] {
  const going = removable(inventory, purge);
  const again = (class_: Purgeable): string => ownCommand('uninstall', name, `--purge=${class_}`);
  return [
    ...inventory.claims.flatMap(
      (claim) => keptClaim(claim, name.kubeTarget, purge.has('claims'), again('claims')) ?? [],
    ),
    ...(purge.has('claims') ? [] : inventory.volumes).map(({name: volume, claim, size}) => ({
      what: `PersistentVolume ${volume}${sized(size)} with the data of PVC ${claim}`,
      why: 'an earlier uninstall retained it',
      how: again('claims'),
    })),
    ...inventory.definitions
      .filter((each) => !going.definitions.includes(each))
      .map((each) => keptDefinition(each, again('crds'))),
    ...inventory.secrets
      .filter((each) => !going.secrets.includes(each))
      .map(({name: secret, usedBy, accountToken}) => {
        const what = `Secret ${secret}`;
        if (usedBy?.length !== 0)
          return {what, why: usedText(usedBy), how: `When nothing uses it: ${again('secrets')}`};
        const isInvalid = removesToken && accountToken !== undefined;
        const why = isInvalid
          ? 'its token becomes invalid'
          : 'Scalr shows a token only once, and the next install uses it';
        return {what, why, how: again('secrets')};
      }),
    ...(inventory.namespace && going.namespace.length === 0
      ? [keptNamespace(inventory, inventory.namespace, purge, again('namespace'))]
      : []),
    ...inventory.secrets.flatMap(({accountToken, usedBy}) =>
      accountToken && usedBy?.length === 0
        ? keptInAccount(accountToken, name, {removesToken, deletesPool})
        : [],
    ),
    ...inventory.leftovers
      .filter(({isDeleted}) => !isDeleted)
      .map((each) => keptLeftover(each, name, again('leftovers'))),
    ...inventory.held.map(({pod, holders}) => ({
      what: `Pod ${pod.metadata.name}`,
      why: `its run has ended, but ${holders.join(', ')} still runs`,
      how: callText(deleteByHand(name.kubeTarget, {kind: 'Pod', name: pod.metadata.name})),
    })),
    ...(inventory.isWideKnown ? [] : [unknownWide(again('leftovers'))]),
    ...inventory.nodeData.flatMap((each) => keptNodeData(each, purge, name.kubeTarget)),
  ];
}

function keptClaim(
  {name, origin, size, volume, usedBy}: ClaimItem,
  kubeTarget: ClusterTarget,
  isPurged: boolean,
  again: string,
): KeptObject | undefined {
  const what = `PVC ${name}${sized(size)}`;
  if (usedBy !== undefined && usedBy.length > 0)
    return {what, why: usedText(usedBy), how: 'Keep it while it is used'};
  if (origin === 'operator')
    return {
      what,
      why: 'it is not part of the release, which only mounts it',
      how: callText(deleteClaim(kubeTarget, name)),
    };
  if (volume?.isOfRelease) {
    const why = 'only the objects in the cluster are deleted, not the file system';
    return {
      what: `Files on PersistentVolume ${volume.name}`,
      why,
      how: 'Delete them in the file system (EFS)',
    };
  }
  const deleteVolume = callText(
    deleteByHand(kubeTarget, {kind: 'PersistentVolume', name: volume?.name ?? ''}),
  );
  if (isPurged) {
    if (volume === undefined || !isRetained(volume)) return undefined;
    return {
      what: `PersistentVolume ${volume.name}${sized(size)} of PVC ${name}`,
      why: RETAINED,
      how: deleteVolume,
    };
  }
  if (origin === 'older-revision')
    return {what, why: 'it remains from an older revision of the release', how: again};
  if (volume === undefined) return undefined;
  return {
    what: `PersistentVolume ${volume.name}${sized(size)} with the data of PVC ${name}`,
    why: isRetained(volume)
      ? RETAINED
      : 'Helm deletes the PVC; the next PVC of this name in the namespace is bound to the volume',
    how: isRetained(volume) ? deleteVolume : again,
  };
}

function keptLeftover(
  {kind, name: object, keptFor, usedBy}: LeftObject,
  {release, kubeTarget}: ReleaseName,
  again: string,
): KeptObject {
  const what = refText({kind, name: object});
  if (keptFor === undefined)
    return {what, why: `it belongs to release ${release}, which has no Helm record`, how: again};
  if (usedBy !== undefined && usedBy.length > 0)
    return {what, why: keptFor, how: 'Keep it while it is used'};
  const command = callText(deleteByHand(kubeTarget, {kind, name: object}));
  return {
    what,
    why: keptFor,
    how: usedBy === undefined ? `When nothing uses it: ${command}` : command,
  };
}

const unknownWide = (again: string): KeptObject => ({
  what: 'Cluster-scoped objects of the release',
  why: 'not checked: your user cannot list ClusterRoles, ClusterRoleBindings and StorageClasses',
  how: `With a user that can list them: ${again}`,
});

export const RETAINED =
  'its reclaim policy is Retain, so its data remains; deleting the PersistentVolume does not delete the disk';

const sized = (size: string | undefined): string => (size === undefined ? '' : ` (${size})`);

function usedText(usedBy: readonly string[] | undefined): string {
  if (usedBy === undefined) return 'not checked: your user cannot list what may use it';
  const [first = '', ...others] = usedBy;
  if (others.length === 0) return `used by ${first}`;
  return `used by ${[first, ...others.slice(0, -1)].join(', ')} and ${others.at(-1)}`;
}

function keptDefinition({name, neededBy}: DefinitionItem, again: string): KeptObject {
  const what = `CRD ${name}`;
  if (neededBy === undefined) {
    const how = `With a user that can list releases and custom resources of all namespaces: ${again}`;
    return {what, why: 'your user cannot list other users of the CRD', how};
  }
  return neededBy.length > 0
    ? {what, why: `used by ${neededText(neededBy)}`, how: `When nothing uses it: ${again}`}
    : {
        what,
        why: 'Helm never deletes CRDs, and the next agent-job release requires it',
        how: again,
      };
}

function neededText(neededBy: readonly ObjectUser[]): string {
  if (neededBy.length <= 2) return neededBy.map((user) => userText(user)).join(', ');
  const counted = (by: ObjectUser['by'], noun: string): string[] => {
    const size = neededBy.filter((user) => user.by === by).length;
    return size === 0 ? [] : [count(size, noun)];
  };
  return [
    ...counted('release', 'other release'),
    ...counted('revision', 'older revision'),
    ...counted('object', 'custom resource'),
  ].join(' and ');
}

function keptNamespace(
  inventory: Inventory,
  namespace: NamespaceItem,
  purge: Purge,
  again: string,
): KeptObject {
  const {name, isOurs, others} = namespace;
  const what = `Namespace ${name}`;
  // No command is offered, to prevent accidental deletion.
  if (others.length > 0)
    return {what, why: `it contains other objects: ${few(others)}`, how: 'Keep it'};
  const reason = whyNamespaceStays(inventory, purge, namespace);
  const byUs = reason === undefined ? again : `When it is empty: ${again}`;
  const how = isOurs ? byUs : 'Keep it, or delete it yourself if it is not used';
  return {what, why: reason ?? 'it is empty, but --purge=namespace is not set', how};
}

function keptInAccount(
  {host, poolId, tokenId}: AccountToken,
  name: ReleaseName,
  {removesToken, deletesPool}: Omit<RemainingOptions, 'purge'>,
): KeptObject[] {
  const token = {
    what: `Token ${tokenId} of agent pool ${poolId} on ${host}`,
    why: 'created by an install; uninstall does not revoke it by default',
    how: ownCommand('uninstall', name, '--revoke-token'),
  };
  const pool = {
    what: `Agent pool ${poolId} on ${host}`,
    why: 'uninstall does not delete it by default; workspaces can be linked to it',
    how: ownCommand('uninstall', name, '--delete-pool'),
  };
  return [...(removesToken ? [] : [token]), ...(deletesPool ? [] : [pool])];
}

function keptNodeData(item: NodeDataItem, purge: Purge, kubeTarget: ClusterTarget): KeptObject[] {
  const {sharedBy} = item;
  const reason = whyNodeDataIsKept(item);
  const cleans = purge.has('node-data') && reason === undefined;
  const nodes = cleans ? item.nodes?.filter(({isReady}) => !isReady) : item.nodes;
  if (cleans && (nodes === undefined || nodes.length === 0)) return [];
  const where = nodesText(nodes);
  const why = cleans ? 'the node is not ready' : (reason ?? 'charts never delete files on nodes');
  return [
    {
      what: `Directory ${item.path} on ${where}`,
      why,
      how: howToClean(sharedBy, manualCleanup({...item, nodes}, kubeTarget)),
    },
  ];
}

function nodesText(nodes: NodeDataItem['nodes']): string {
  if (nodes === undefined) return 'the nodes';
  return nodes.length === 0 ? 'nodes (none found)' : nodes.map(({name}) => name).join(', ');
}

/** No command that deletes what somebody uses. */
function howToClean(sharedBy: NodeDataItem['sharedBy'], command: string): string {
  if (sharedBy === undefined) return `When nothing uses it: ${command}`;
  return sharedBy.length > 0 ? 'Keep it while it is used' : command;
}
