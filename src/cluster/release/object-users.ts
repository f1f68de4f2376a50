import {posix} from 'node:path';
import {scalrChart} from '../../charts/releases/chart-name.ts';
import type {ClusterTarget} from '../../ground/command-line.ts';
import {isPathIn} from '../../ground/text.ts';
import {isMap, type Tree} from '../../ground/tree.ts';
import {type ListedRelease, objectsIn, type StoredRevision} from '../helm/release-record.ts';
import {apiFailure} from '../kubernetes/api-error.ts';
import {pluralOf, pluralOfKind} from '../kubernetes/kinds.ts';
import type {ObjectRef} from '../kubernetes/object-refs.ts';
import type {KubernetesObject} from '../kubernetes/objects.ts';
import {isOwn} from '../kubernetes/own-objects.ts';
import {hostPaths, pairsBelow, podSpecs, secretNames} from '../kubernetes/pod-specs.ts';
import {listObjects, REQUIRED_MS, type Reader} from '../kubernetes/resources.ts';
import {definitionOf} from '../platform/cluster-facts.ts';
import {
  isInManifest,
  isOfRelease,
  isOwnedByOneOf,
  isRenderedFor,
  type OwnRelease,
} from './release-objects.ts';

/** A directory on nodes, as the object that somebody uses. */
export const DIRECTORY = 'Directory';

/** What uses an object: a live object, or a revision of a release that a rollback brings back. */
export type ObjectUser =
  | {by: 'object'; kind: string; name: string; namespace: string | undefined}
  | {by: 'release'; release: string; namespace: string; chart: string}
  | {by: 'revision'; release: string; namespace: string; chart: string; revision: number};

/** Where users are looked for. Undefined: this Kubernetes user cannot read them. */
export interface UserReadings extends OwnRelease {
  /** Everything that Helm created for the release is deleted too, so it does not count as a user. */
  isDeleted: boolean;
  /** Helm has already uninstalled the release and kept its history, which the uninstall gives up. */
  isUninstalled: boolean;
  /** Rendered objects of the newest revision of the release. */
  manifest: readonly KubernetesObject[];
  /** Objects of the namespace. */
  objects: readonly KubernetesObject[];
  /** Kinds of the namespace that cannot be listed, such as cronjobs. */
  unread: readonly string[];
  /** Instances of the CRDs of agent-job, of all namespaces. */
  customResources: readonly KubernetesObject[] | undefined;
  /** Workloads of all namespaces. */
  workloads: readonly KubernetesObject[] | undefined;
  /** RoleBindings and ClusterRoleBindings of all namespaces. */
  bindings: readonly KubernetesObject[] | undefined;
  /** PersistentVolumes. */
  volumes: readonly KubernetesObject[] | undefined;
  /** Releases of all namespaces, each in its newest revision. */
  releases: readonly Pick<ListedRelease, 'name' | 'namespace' | 'chart'>[] | undefined;
  /** Revisions of Scalr agent releases that a rollback can bring back. */
  revisions: readonly StoredRevision[] | undefined;
}

/** Readings that answer nothing, of an install that deletes nothing. */
export const NOTHING_READ: Omit<UserReadings, keyof OwnRelease> = {
  isDeleted: false,
  isUninstalled: false,
  manifest: [],
  objects: [],
  unread: [],
  customResources: undefined,
  workloads: undefined,
  bindings: undefined,
  volumes: undefined,
  releases: undefined,
  revisions: undefined,
};

/**
 * Who uses an object, a CRD or a directory on nodes; undefined if that cannot be read. Nothing is deleted, or offered for
 * deletion, while somebody uses it. What is deleted together with the release is not a user.
 */
export function objectUsers(
  object: ObjectRef,
  readings: UserReadings,
): readonly ObjectUser[] | undefined {
  if (UNREFERENCED.has(object.kind)) return [];
  return FINDERS[object.kind]?.(object.name, readings);
}

type Finder = (name: string, readings: UserReadings) => readonly ObjectUser[] | undefined;

/** Objects that no other object names. */
const UNREFERENCED: ReadonlySet<string> = new Set([
  'AgentTask',
  'AgentTaskTemplate',
  'AgentWorker',
  'ClusterRoleBinding',
  'CronJob',
  'DaemonSet',
  'Deployment',
  'Ingress',
  'Job',
  'NetworkPolicy',
  'Pod',
  'PodDisruptionBudget',
  'ReplicaSet',
  'RoleBinding',
  'Service',
  'StatefulSet',
]);

const inNamespace =
  (isUser: (object: KubernetesObject, name: string, readings: UserReadings) => boolean): Finder =>
  (name, readings) => {
    const isUsedBy = (each: KubernetesObject): boolean => isUser(each, name, readings);
    const live = usersIn(readings).filter(isUsedBy);
    const {revisions, unread, namespace} = readings;
    const here = revisions?.filter((each) => each.namespace === namespace);
    const stored = storedUsers(here, name, readings, isUsedBy);
    const found = [
      ...live.map(objectUser),
      ...(stored ?? []).filter(
        ({release}) => !live.some((each) => isRenderedFor(each, {release, namespace})),
      ),
    ];
    const isRead =
      stored !== undefined && !USER_KINDS.map(pluralOf).some((kind) => unread.includes(kind));
    return found.length > 0 || isRead ? found : undefined;
  };

const FINDERS: Readonly<Record<string, Finder>> = {
  CustomResourceDefinition: usersOfDefinition,
  [DIRECTORY]: usersOfDirectory,
  Secret: inNamespace((each, name) => readsSecret(name)(each) || namesSecret(each, name)),
  PersistentVolumeClaim: inNamespace(
    (each, name, readings) => mayMountAny(each, readings) || mountsClaim(name)(each),
  ),
  ConfigMap: inNamespace((each, name) => configMapNames(each as unknown as Tree).includes(name)),
  ServiceAccount: inNamespace((each, name) =>
    podSpecs(each).some((spec) => spec['serviceAccountName'] === name),
  ),
  Role: (name, {objects, unread, ...own}) =>
    unread.includes('rolebindings') ? undefined : boundTo('Role', name, objects, own),
  ClusterRole: (name, {bindings, ...own}) =>
    bindings && boundTo('ClusterRole', name, bindings, own),
  StorageClass: (name, {volumes, objects, ...own}) =>
    volumes &&
    [...volumes, ...objects]
      .filter((each) => (each as Classed).spec?.storageClassName === name)
      .filter((each) => !(own.isDeleted && isRenderedFor(each, own)))
      .map(objectUser),
};

/** Without the custom resources of agent-job, its runs may mount any PVC of the namespace. */
const mayMountAny = (
  {metadata: {labels}}: KubernetesObject,
  {customResources}: UserReadings,
): boolean =>
  customResources === undefined && labels?.['helm.sh/chart']?.startsWith('agent-job-') === true;

type Classed = KubernetesObject & {spec?: {storageClassName?: string}};

/** Custom resources of any owner, and releases whose chart version works with the CRD. */
function usersOfDefinition(
  name: string,
  {customResources, releases, revisions, isDeleted, ...own}: UserReadings,
): readonly ObjectUser[] | undefined {
  if (customResources === undefined || releases === undefined || revisions === undefined)
    return undefined;
  const isOwnRelease = (release: string, namespace: string): boolean =>
    isDeleted && release === own.release && namespace === own.namespace;
  const current = releases
    .filter((each) => usesDefinition(each, name) && !isOwnRelease(each.name, each.namespace))
    .map(
      (each): ObjectUser => ({
        by: 'release',
        release: each.name,
        namespace: each.namespace,
        chart: each.chart,
      }),
    );
  const former = revisions.filter(
    (each) =>
      usesDefinition(each, name) &&
      !isOwnRelease(each.release, each.namespace) &&
      !current.some((user) => isSameRelease(user, each)),
  );
  const resources = customResources.filter(
    (each) =>
      pluralOfKind(each.kind ?? '') === pluralOf(name) && !(isDeleted && isRenderedHere(each, own)),
  );
  return [...current, ...latestOf(former).map(revisionUser), ...resources.map(objectUser)];
}

const usesDefinition = ({chart}: {chart: string}, name: string): boolean => {
  const target = scalrChart(chart);
  return target?.chart === 'agent-job' && definitionOf(target.version) === name;
};

const isRenderedHere = (object: KubernetesObject, own: OwnRelease): boolean =>
  object.metadata.namespace === own.namespace && isRenderedFor(object, own);

/** Agents that keep data in the directory, in it or above it, and workloads of others that mount it or a part of it. */
function usersOfDirectory(path: string, readings: UserReadings): readonly ObjectUser[] | undefined {
  const {workloads, customResources, releases, revisions, manifest, isDeleted, ...own} = readings;
  // Without the releases of all namespaces, the revisions are not complete either.
  if (!workloads || !customResources || !releases || !revisions) return undefined;
  const isOfOwn = (each: KubernetesObject): boolean =>
    isDeleted &&
    each.metadata.namespace === own.namespace &&
    (isInManifest(each, manifest) || isRenderedFor(each, own));
  const live = [...workloads, ...customResources].filter(
    (each) => !isOfOwn(each) && usesDirectory(each, path),
  );
  const stored = storedUsers(revisions, path, readings, (each) => usesDirectory(each, path)) ?? [];
  return [
    ...live.map(objectUser),
    ...stored.filter(
      ({release, namespace}) =>
        !live.some((each) => isRenderedHere(each, {release, namespace: namespace ?? ''})),
    ),
  ];
}

function usesDirectory(object: KubernetesObject, path: string): boolean {
  const isAgent = isScalrAgent(object);
  // The operator's own DaemonSet that prepares the directory (hostPath guide of agent-job) is no user.
  if (!isAgent && object.kind === 'DaemonSet') return false;
  return podSpecs(object)
    .flatMap(hostPaths)
    .map(normalPath)
    .some((other) => isPathIn(other, path) || (isAgent && isPathIn(path, other) && other !== '/'));
}

const isScalrAgent = (object: KubernetesObject): boolean =>
  !WORKLOADS.includes(object.kind ?? '') || /"name":"SCALR_/.test(JSON.stringify(object));

/** Without a slash at the end. */
export const normalPath = (path: string): string => posix.normalize(path).replace(/(.)\/$/, '$1');

const boundTo = (
  kind: string,
  name: string,
  bindings: readonly KubernetesObject[],
  {isDeleted, ...own}: OwnRelease & {isDeleted: boolean},
): ObjectUser[] =>
  (bindings as readonly (KubernetesObject & {roleRef?: ObjectRef})[])
    .filter(({roleRef}) => roleRef?.kind === kind && roleRef.name === name)
    .filter((each) => !(isDeleted && isRenderedFor(each, own)))
    .map(objectUser);

/** Revisions of other releases that would use it again after a rollback; the latest one of each. */
function storedUsers(
  revisions: readonly StoredRevision[] | undefined,
  name: string,
  {release, namespace, isDeleted, isUninstalled}: UserReadings,
  isUser: (object: KubernetesObject) => boolean,
): (ObjectUser & {by: 'revision'})[] | undefined {
  const isGone = isDeleted || isUninstalled;
  const others = revisions?.filter(
    (each) =>
      !(isGone && each.release === release && each.namespace === namespace) &&
      // Manifests are large, and few of them name it.
      each.manifest.includes(name) &&
      objectsIn(each.manifest).some(isUser),
  );
  return others && latestOf(others).map(revisionUser);
}

const latestOf = (revisions: readonly StoredRevision[]): StoredRevision[] => [
  ...new Map(
    revisions
      .toSorted((one, other) => one.revision - other.revision)
      .map((each) => [`${each.namespace}/${each.release}`, each]),
  ).values(),
];

const isSameRelease = (user: ObjectUser, {release, namespace}: StoredRevision): boolean =>
  user.by !== 'object' && user.release === release && user.namespace === namespace;

const objectUser = ({kind = '', metadata}: KubernetesObject): ObjectUser => ({
  by: 'object',
  kind,
  name: metadata.name,
  namespace: metadata.namespace,
});

const revisionUser = ({
  release,
  namespace,
  chart,
  revision,
}: StoredRevision): ObjectUser & {by: 'revision'} => ({
  by: 'revision',
  release,
  namespace,
  chart,
  revision,
});

/** For a person: Deployment b/agent, release b/agent (agent-job-0.6.5). Without the namespace if it is the one given. */
export function userText(user: ObjectUser, here?: string): string {
  if (user.by === 'object') {
    const {kind, name, namespace = here} = user;
    return namespace === here ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
  }
  const release = `release ${user.namespace}/${user.release} (${user.chart})`;
  return user.by === 'release' ? release : `a rollback to revision ${user.revision} of ${release}`;
}

const WORKLOADS = ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'Job', 'CronJob', 'Pod'];

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
export function usersIn({
  objects,
  customResources,
  manifest,
  isDeleted,
  ...own
}: Pick<
  UserReadings,
  'release' | 'namespace' | 'manifest' | 'objects' | 'customResources' | 'isDeleted'
>): KubernetesObject[] {
  const here = (customResources ?? []).filter(({metadata}) => metadata.namespace === own.namespace);
  const all = [...objects.filter(({kind = ''}) => WORKLOADS.includes(kind)), ...here];
  const isDeletedWithIt = (each: KubernetesObject): boolean =>
    isOfRelease(each, own) && (isDeleted || !isRenderedFor(each, own));
  return all.filter(
    (each) =>
      !isInManifest(each, manifest) &&
      !isOwnedByOneOf(all, each) &&
      !isDeletedWithIt(each) &&
      !isOwn(each),
  );
}

export const mountsClaim =
  (claim: string) =>
  (object: KubernetesObject): boolean =>
    claimNames(object as unknown as Tree).includes(claim);

export const readsSecret =
  (secret: string) =>
  (object: KubernetesObject): boolean =>
    secretNames(object as unknown as Tree).includes(secret);

/** To pull images. */
const namesSecret = (object: KubernetesObject, secret: string): boolean =>
  pairsBelow(object as unknown as Tree).some(
    ([key, below]) =>
      key === 'imagePullSecrets' &&
      Array.isArray(below) &&
      below.some((each) => isMap(each) && each['name'] === secret),
  );

/** PVCs that pods mount, in all kinds of pod templates. */
export function claimNames(tree: Tree): string[] {
  if (Array.isArray(tree)) return tree.flatMap(claimNames);
  if (!isMap(tree)) return [];
  return Object.entries(tree).flatMap(([key, below]) =>
    key === 'persistentVolumeClaim' && isMap(below) && typeof below['claimName'] === 'string'
      ? [below['claimName']]
      : claimNames(below),
  );
}

const CONFIG_MAP_REFERENCES: ReadonlySet<string> = new Set([
  'configMap',
  'configMapRef',
  'configMapKeyRef',
]);

/** ConfigMaps that containers read or mount. */
const configMapNames = (tree: Tree): string[] =>
  pairsBelow(tree).flatMap(([key, below]) => {
    const name = CONFIG_MAP_REFERENCES.has(key) && isMap(below) ? below['name'] : undefined;
    return typeof name === 'string' ? [name] : [];
  });

/** Workloads and pods of others in the namespace, and the kinds that this user may not list. @throws ExpectedError */
export async function readUsers(
  own: Pick<UserReadings, 'release' | 'namespace' | 'manifest'>,
  kubeTarget: ClusterTarget,
  kubernetes: Reader,
  signal: AbortSignal,
): Promise<{users: readonly KubernetesObject[]; unlisted: readonly string[]}> {
  const options = {signal, idleMs: REQUIRED_MS, namespace: own.namespace};
  const lists = await Promise.all(
    USER_KINDS.map(async (kind) => ({
      kind,
      ...(await listObjects<KubernetesObject>(kubernetes, kind, options)),
    })),
  );
  for (const {error} of lists)
    if (error && error.kind !== 'forbidden') throw apiFailure(error, kubeTarget);
  const objects = lists.flatMap(({items}) => items);
  return {
    users: usersIn({...own, objects, customResources: [], isDeleted: true}),
    unlisted: lists.filter(({error}) => error).map(({kind}) => pluralOf(kind)),
  };
}
