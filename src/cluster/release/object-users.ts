import {posix} from 'node:path';
import {scalrChart} from '../../charts/releases/chart-name.ts';
import {isPathIn} from '../../ground/text.ts';
import type {Tree} from '../../ground/tree.ts';
import {type ListedRelease, objectsIn, type StoredRevision} from '../helm/release-record.ts';
import {pluralOf, pluralOfKind} from '../kubernetes/kinds.ts';
import type {ObjectRef} from '../kubernetes/object-refs.ts';
import type {KubernetesObject} from '../kubernetes/objects.ts';
import {hostPaths, podSpecs} from '../kubernetes/pod-specs.ts';
import {definitionOf} from '../platform/cluster-facts.ts';
import {isInManifest, isRenderedFor, type OwnRelease} from './release-objects.ts';
import {
  configMapNames,
  mountsClaim,
  type NamespaceReadings,
  namesSecret,
  readsSecret,
  USER_KINDS,
  usersIn,
  WORKLOADS,
} from './workload-users.ts';

/** A directory on nodes, as the object that somebody uses. */
export const DIRECTORY = 'Directory';

/** What uses an object: a live object, or a revision of a release that a rollback brings back. */
export type ObjectUser =
  | {by: 'object'; kind: string; name: string; namespace: string | undefined}
  | {by: 'release'; release: string; namespace: string; chart: string}
  | {by: 'revision'; release: string; namespace: string; chart: string; revision: number};

/** Where users are looked for. Undefined: this Kubernetes user cannot read them. */
export interface UserReadings extends NamespaceReadings {
  /** Helm has already uninstalled the release and kept its history, which the uninstall gives up. */
  isUninstalled: boolean;
  /** Kinds of the namespace that cannot be listed, such as cronjobs. */
  unread: readonly string[];
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
