import type {ClusterTarget} from '../ground/command-line.ts';
import {at, getAt, isMap, type Tree} from '../ground/tree.ts';
import {apiFailure} from '../kubernetes/api-error.ts';
import {pluralOf} from '../kubernetes/kinds.ts';
import {isOwn, type KubernetesObject, secretNames} from '../kubernetes/objects.ts';
import {listObjects, REQUIRED_MS, type Reader} from '../kubernetes/resources.ts';

/** The release, and everything in its namespace that could use its objects. */
export interface Neighborhood {
  release: string;
  namespace: string;
  manifest: readonly KubernetesObject[];
  objects: readonly KubernetesObject[];
  /** Instances of the CRDs of agent-job, of all namespaces; undefined if they cannot be listed. */
  customResources: readonly KubernetesObject[] | undefined;
  /** Helm has no record of the release: what it rendered is not deleted with it, so it counts as a user. */
  isUnrecorded?: boolean;
}

/** The kinds whose pods can mount a PVC or read a Secret, as the API server lists them. */
export const USER_KINDS: readonly string[] = [
  'deployments.apps',
  'statefulsets.apps',
  'daemonsets.apps',
  'replicasets.apps',
  'jobs.batch',
  'cronjobs.batch',
  'pods',
];

/** Workloads, pods and custom resources of others in the namespace. What another of these objects owns is omitted. */
export function usersIn({objects, customResources, ...own}: Neighborhood): KubernetesObject[] {
  const here = (customResources ?? []).filter(({metadata}) => metadata.namespace === own.namespace);
  const all = [...objects.filter(isWorkload), ...here];
  const isDeletedWithIt = (each: KubernetesObject): boolean =>
    isOfRelease(each, own) && !(own.isUnrecorded === true && isRenderedFor(each, own));
  return all.filter((each) => !isInManifest(each, own.manifest) && !isOwnedByOneOf(all, each) && !isDeletedWithIt(each) && !isOwn(each));
}

export const mountsClaim =
  (claim: string) =>
  (object: KubernetesObject): boolean =>
    claimNames(object as unknown as Tree).includes(claim);

export const readsSecret =
  (secret: string) =>
  (object: KubernetesObject): boolean =>
    secretNames(object as unknown as Tree).includes(secret);

/** PVCs that pods mount, in all kinds of pod templates. */
export function claimNames(tree: Tree): string[] {
  if (Array.isArray(tree)) return tree.flatMap(claimNames);
  if (!isMap(tree)) return [];
  return Object.entries(tree).flatMap(([key, below]) =>
    key === 'persistentVolumeClaim' && isMap(below) && typeof below['claimName'] === 'string' ? [below['claimName']] : claimNames(below),
  );
}

type Own = Pick<Neighborhood, 'release' | 'namespace'>;

/** Helm created it for the release. */
export function isRenderedFor({metadata: {annotations = {}}}: KubernetesObject, {release, namespace}: Own): boolean {
  const isHere = (annotations['meta.helm.sh/release-namespace'] ?? namespace) === namespace;
  return annotations['meta.helm.sh/release-name'] === release && isHere;
}

/** It belongs to the release, to a run, or to a workload that was just deleted. */
export function isOfRelease(object: KubernetesObject, own: Own): boolean {
  if (isRenderedFor(object, own)) return true;
  const {kind, metadata, ...rest} = object;
  const {release} = own;
  // Other tools label their objects by instance too.
  const isOurs = ({labels = {}}: Pick<KubernetesObject['metadata'], 'labels'>, mayBeOwned: boolean): boolean =>
    labels['app.kubernetes.io/instance'] === release && (mayBeOwned || labels['app.kubernetes.io/component'] === 'task');
  if (kind === 'ReplicaSet') return isOwned({metadata}) && isOurs(metadata, true);
  if (kind === 'Pod') return isOurs(metadata, isOwned({metadata}));
  const template = getAt(rest as Tree, at('spec.template.metadata')) as KubernetesObject['metadata'] | undefined;
  return kind === 'Job' && [metadata, template ?? {}].some((each) => isOurs(each, false));
}

const isWorkload = ({kind = ''}: KubernetesObject): boolean =>
  ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'Job', 'CronJob', 'Pod'].includes(kind);

export const isInManifest = ({kind, metadata}: KubernetesObject, manifest: readonly KubernetesObject[]): boolean =>
  manifest.some((each) => each.kind === kind && each.metadata.name === metadata.name);

export const isOwned = ({metadata}: KubernetesObject): boolean => (metadata.ownerReferences?.length ?? 0) > 0;

export const isOwnedByOneOf = (owners: readonly KubernetesObject[], {metadata}: KubernetesObject): boolean =>
  metadata.ownerReferences?.some(({kind, name}) => owners.some((each) => each.kind === kind && each.metadata.name === name)) ?? false;

/** Workloads and pods of others in the namespace, and the kinds that this user may not list. @throws ExpectedError */
export async function readUsers(
  own: Pick<Neighborhood, 'release' | 'namespace' | 'manifest'>,
  kubeTarget: ClusterTarget,
  kubernetes: Reader,
  signal: AbortSignal,
): Promise<{users: readonly KubernetesObject[]; unlisted: readonly string[]}> {
  const options = {signal, idleMs: REQUIRED_MS, namespace: own.namespace};
  const lists = await Promise.all(
    USER_KINDS.map(async (kind) => ({kind, ...(await listObjects<KubernetesObject>(kubernetes, kind, options))})),
  );
  for (const {error} of lists) if (error && error.kind !== 'forbidden') throw apiFailure(error, kubeTarget);
  return {
    users: usersIn({...own, objects: lists.flatMap(({items}) => items), customResources: []}),
    unlisted: lists.filter(({error}) => error).map(({kind}) => pluralOf(kind)),
  };
}
