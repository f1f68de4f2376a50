import type {DefinitionItem, Inventory} from '../cluster/inventory.ts';
import type {ClaimItem, NodeDataItem} from '../cluster/inventory-data.ts';
import type {NamespaceItem, ObjectItem} from '../cluster/inventory-namespace.ts';
import {commandLine, ownCommand} from '../command-line.ts';
import {deleteByHand, deleteClaim} from '../kubernetes/kubectl.ts';
import type {Place, ReleaseName} from '../ports/processes.ts';
import {isRetained, manualCleanup, whyNodeDataStays} from './uninstall-data.ts';

export const PURGEABLE = ['claims', 'crds', 'secrets', 'namespace', 'node-data'] as const;
export type Purgeable = (typeof PURGEABLE)[number];

/** `all` is every class. */
export const purgeOf = (classes: readonly (Purgeable | 'all')[] = []): ReadonlySet<Purgeable> =>
  new Set(classes.flatMap((each) => (each === 'all' ? PURGEABLE : each)));

/** Something that an uninstall leaves behind. */
export interface Kept {
  what: string;
  why: string;
  /** How to delete it. */
  how: string;
}

type Purge = ReadonlySet<Purgeable>;
type Removable = Pick<Inventory, 'definitions' | 'secrets' | 'nodeData'> & {namespace: readonly NamespaceItem[]};

/** What --purge really deletes. */
export function removable(inventory: Inventory, purge: Purge): Removable {
  const {definitions, secrets, namespace, nodeData} = inventory;
  return {
    definitions: purge.has('crds') ? definitions.filter(({neededBy}) => neededBy?.length === 0) : [],
    secrets: purge.has('secrets') ? secrets.filter(({usedBy}) => usedBy.length === 0) : [],
    nodeData: purge.has('node-data') ? nodeData.filter((each) => whyNodeDataStays(each) === undefined) : [],
    namespace: purge.has('namespace') && namespace && whyNamespaceStays(inventory, purge, namespace) === undefined ? [namespace] : [],
  };
}

const MOST_NAMES = 5;

const enumerated = (names: readonly string[]): string =>
  names.length > MOST_NAMES ? `${names.slice(0, MOST_NAMES).join(', ')} and ${names.length - MOST_NAMES} more` : names.join(', ');

function whyNamespaceStays({secrets, claims}: Inventory, purge: Purge, {isOurs, others}: NamespaceItem): string | undefined {
  if (!isOurs) return 'this program did not make it for this release';
  const held = [
    ...others,
    ...secrets.filter(({usedBy}) => !purge.has('secrets') || usedBy.length > 0).map(({name}) => `Secret ${name}`),
    ...claims.filter((each) => each.origin === 'older-revision' && !purge.has('claims')).map(({name}) => `claim ${name}`),
  ];
  return held.length === 0 ? undefined : `it holds ${enumerated(held)}`;
}

/** Everything that remains, with the reason. */
export function remaining(name: ReleaseName, inventory: Inventory, purge: Purge): Kept[] {
  const going = removable(inventory, purge);
  const again = (class_: Purgeable): string => ownCommand('uninstall', name, `--purge=${class_}`);
  return [
    ...inventory.claims.flatMap((claim) => keptClaim(claim, name.place, purge.has('claims'), again('claims')) ?? []),
    ...(purge.has('claims') ? [] : inventory.volumes).map(({name: volume, claim, size}) => ({
      what: `Volume ${volume}${sized(size)} with the data of claim ${claim}`,
      why: 'an earlier uninstall kept it',
      how: again('claims'),
    })),
    ...inventory.definitions
      .filter((each) => !going.definitions.includes(each))
      .map((each) => ({what: `Definition ${each.name}`, why: whyDefinitionStays(each), how: howDefinitionGoes(each, again('crds'))})),
    ...inventory.secrets
      .filter((each) => !going.secrets.includes(each))
      .map(({name: secret, usedBy}) => ({
        what: `Secret ${secret}`,
        why: whySecretStays(usedBy),
        how: usedBy.length > 0 ? `Once nothing reads it: ${again('secrets')}` : again('secrets'),
      })),
    ...(inventory.namespace && going.namespace.length === 0
      ? [keptNamespace(inventory, inventory.namespace, purge, again('namespace'))]
      : []),
    ...inventory.leftovers.filter(() => going.namespace.length === 0).map((each) => keptLeftover(each, name)),
    ...inventory.nodeData.flatMap((each) => keptNodeData(each, purge, name.place)),
  ];
}

function keptClaim({name, origin, size, volume}: ClaimItem, place: Place, isPurged: boolean, again: string): Kept | undefined {
  const what = `Claim ${name}${sized(size)}`;
  if (origin === 'operator') return {what, why: 'the release only uses it', how: commandLine(deleteClaim(place, name))};
  if (volume?.isOfRelease) {
    const why = 'only the objects of the cluster go, not the file system';
    return {what: `The files behind volume ${volume.name}`, why, how: 'Delete them in the file system (EFS)'};
  }
  const deleteVolume = commandLine(deleteByHand(place, 'PersistentVolume', volume?.name ?? ''));
  if (isPurged) {
    if (volume === undefined || !isRetained(volume)) return undefined;
    return {what: `Volume ${volume.name}${sized(size)} of claim ${name}`, why: RETAINED, how: deleteVolume};
  }
  if (origin === 'older-revision') return {what, why: 'an older revision of the release left it', how: again};
  if (volume === undefined) return undefined;
  return {
    what: `Volume ${volume.name}${sized(size)} with the data of claim ${name}`,
    why: isRetained(volume) ? RETAINED : 'Helm deletes the claim; the next claim of that name in the namespace gets the volume',
    how: isRetained(volume) ? deleteVolume : again,
  };
}

const RETAINED = 'its reclaim policy is Retain, so its data remains; deleting the volume does not delete the disk';

const sized = (size: string | undefined): string => (size === undefined ? '' : ` (${size})`);

function whySecretStays(usedBy: readonly string[]): string {
  if (usedBy.length === 0) return 'a token is not shown twice, and the next install takes it up';
  const [last, ...before] = usedBy.toReversed();
  return before.length === 0 ? `${last} reads it` : `${before.toReversed().join(', ')} and ${last} read it`;
}

function howDefinitionGoes({neededBy}: DefinitionItem, again: string): string {
  if (neededBy === undefined) return `With an account that may list releases and custom resources of all namespaces: ${again}`;
  return neededBy.length > 0 ? `Once nothing needs it: ${again}` : again;
}

function whyDefinitionStays({neededBy}: DefinitionItem): string {
  if (neededBy === undefined) return 'this account may not see who else needs it';
  return neededBy.length > 0 ? `needed by ${neededText(neededBy)}` : 'Helm never deletes it, and the next agent-job needs it';
}

function neededText(neededBy: readonly string[]): string {
  if (neededBy.length <= 2) return neededBy.join(', ');
  const releases = neededBy.filter((each) => each.startsWith('release ')).length;
  const counted = (count: number, noun: string): string[] => (count === 0 ? [] : [`${count} ${noun}${count === 1 ? '' : 's'}`]);
  return [...counted(releases, 'other release'), ...counted(neededBy.length - releases, 'custom resource')].join(' and ');
}

function keptNamespace(inventory: Inventory, namespace: NamespaceItem, purge: Purge, again: string): Kept {
  const {name, isOurs, others} = namespace;
  const what = `Namespace ${name}`;
  // Nobody deletes by accident what no command was offered for.
  if (others.length > 0) return {what, why: `others use it: ${enumerated(others)}`, how: 'Keep it'};
  const reason = whyNamespaceStays(inventory, purge, namespace);
  const byUs = reason === undefined ? again : `Once nothing else is in it: ${again}`;
  const how = isOurs ? byUs : 'Keep it, or delete it yourself once you know what it is for';
  return {what, why: reason ?? 'nothing else is in it, but it was not asked for', how};
}

const keptLeftover = ({kind, name}: ObjectItem, {release, place}: ReleaseName): Kept => ({
  what: `${kind} ${name}`,
  why: `it has the labels of release ${release}, which Helm has no record of`,
  how: commandLine(deleteByHand(place, kind, name)),
});

function keptNodeData(item: NodeDataItem, purge: Purge, place: Place): Kept[] {
  const reason = whyNodeDataStays(item);
  const cleans = purge.has('node-data') && reason === undefined;
  const nodes = cleans ? item.nodes?.filter(({isReady}) => !isReady) : item.nodes;
  if (cleans && (nodes === undefined || nodes.length === 0)) return [];
  const where = nodes === undefined ? 'the nodes' : nodes.length === 0 ? 'no node of now' : nodes.map(({name}) => name).join(', ');
  const why = cleans ? 'the node is not ready' : (reason ?? 'no chart removes what lies on nodes');
  return [{what: `Directory ${item.path} on ${where}`, why, how: manualCleanup({...item, nodes}, place)}];
}
