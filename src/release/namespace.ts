import type {ClusterTarget} from '../ground/command-line.ts';
import {at, getAt, isMap, type Tree, type Values} from '../ground/tree.ts';
import type {ListedRelease} from '../helm/release-record.ts';
import {apiFailure} from '../kubernetes/api-error.ts';
import {pluralOf} from '../kubernetes/kinds.ts';
import {
  type DefinitionObject,
  isOwn,
  isOwnFor,
  type KubernetesObject,
  kindAndName,
  type ObjectRef,
  refOf,
  refText,
  secretNames,
} from '../kubernetes/objects.ts';
import {listObjects, REQUIRED_MS, type Reader} from '../kubernetes/resources.ts';
import type {NodeObject} from '../platform/readings.ts';

/** The release, and everything in its namespace that could use its objects. */
interface Neighborhood {
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
  const workloads = [
    'Deployment',
    'StatefulSet',
    'DaemonSet',
    'ReplicaSet',
    'Job',
    'CronJob',
    'Pod',
  ];
  const all = [...objects.filter(({kind = ''}) => workloads.includes(kind)), ...here];
  const isDeletedWithIt = (each: KubernetesObject): boolean =>
    isOfRelease(each, own) && !(own.isUnrecorded === true && isRenderedFor(each, own));
  return all.filter(
    (each) =>
      !isInManifest(each, own.manifest) &&
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

type Own = Pick<Neighborhood, 'release' | 'namespace'>;

/** Helm created it for the release. */
export function isRenderedFor(
  {metadata: {annotations = {}}}: KubernetesObject,
  {release, namespace}: Own,
): boolean {
  const isHere = (annotations['meta.helm.sh/release-namespace'] ?? namespace) === namespace;
  return annotations['meta.helm.sh/release-name'] === release && isHere;
}

/** It belongs to the release, to a run, or to a workload that was just deleted. */
export function isOfRelease(object: KubernetesObject, own: Own): boolean {
  if (isRenderedFor(object, own)) return true;
  const {kind, metadata, ...rest} = object;
  const {release} = own;
  // Other tools label their objects by instance too.
  const isOurs = (
    {labels = {}}: Pick<KubernetesObject['metadata'], 'labels'>,
    mayBeOwned: boolean,
  ): boolean =>
    labels['app.kubernetes.io/instance'] === release &&
    (mayBeOwned || labels['app.kubernetes.io/component'] === 'task');
  if (kind === 'ReplicaSet') return isOwned({metadata}) && isOurs(metadata, true);
  if (kind === 'Pod') return isOurs(metadata, isOwned({metadata}));
  const template = getAt(rest as Tree, at('spec.template.metadata')) as
    | KubernetesObject['metadata']
    | undefined;
  return kind === 'Job' && [metadata, template ?? {}].some((each) => isOurs(each, false));
}

export const isInManifest = (
  {kind, metadata}: KubernetesObject,
  manifest: readonly KubernetesObject[],
): boolean => manifest.some((each) => each.kind === kind && each.metadata.name === metadata.name);

const isOwned = ({metadata}: KubernetesObject): boolean =>
  (metadata.ownerReferences?.length ?? 0) > 0;

const isOwnedByOneOf = (
  owners: readonly KubernetesObject[],
  {metadata}: KubernetesObject,
): boolean =>
  metadata.ownerReferences?.some(({kind, name}) =>
    owners.some((each) => each.kind === kind && each.metadata.name === name),
  ) ?? false;

/** Workloads and pods of others in the namespace, and the kinds that this user may not list. @throws ExpectedError */
export async function readUsers(
  own: Pick<Neighborhood, 'release' | 'namespace' | 'manifest'>,
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
  return {
    users: usersIn({...own, objects: lists.flatMap(({items}) => items), customResources: []}),
    unlisted: lists.filter(({error}) => error).map(({kind}) => pluralOf(kind)),
  };
}

/** Responses of the API server and helm. Undefined if this account cannot read them: such objects are neither reported nor deleted. */
export interface InventoryReadings {
  release: string;
  namespace: string;
  /** The newest revision; undefined if the release no longer exists. */
  state: {chart: string; status: string; revision: number} | undefined;
  /** With the defaults of the chart. */
  values: Values;
  /** Rendered objects of the newest revision, which an uninstall deletes. */
  manifest: readonly KubernetesObject[];
  /** Those of them that are not in the cluster, by kind and name. */
  missing?: ReadonlySet<string>;
  /** Everything of NAMESPACE_KINDS in the namespace. */
  objects: readonly KubernetesObject[];
  /** Those of them that cannot be listed. */
  unread: readonly string[];
  namespaceObject: KubernetesObject | undefined;
  /** Of all namespaces. */
  releases: readonly ListedRelease[] | undefined;
  /** Releases of this namespace, if the release does not exist and all namespaces cannot be listed. */
  releasesHere?: readonly ListedRelease[] | undefined;
  volumes: readonly PersistentVolume[] | undefined;
  definitions: readonly DefinitionObject[] | undefined;
  /** Instances of the definitions, of all namespaces. */
  customResources: readonly KubernetesObject[] | undefined;
  /** Of all namespaces. */
  daemonSets: readonly KubernetesObject[] | undefined;
  nodes: readonly NodeObject[] | undefined;
}

export interface PersistentVolume extends KubernetesObject {
  spec?: {
    persistentVolumeReclaimPolicy?: string;
    capacity?: {storage?: string};
    claimRef?: {namespace?: string; name?: string; uid?: string};
  };
}

export interface SecretItem {
  name: string;
  /** Workloads of other releases that read it. */
  usedBy: readonly string[];
  /** Its token in the Scalr account, if an install has created it. */
  accountToken?: AccountToken | undefined;
}

export interface NamespaceItem {
  name: string;
  /** Created by this program for this release. */
  isOurs: boolean;
  /** Its objects other than the release, PVCs of older revisions, runs and our Secrets. */
  others: readonly string[];
}

/** The kinds that are listed before a namespace counts as empty; custom resources of others are not listed. */
export const NAMESPACE_KINDS: readonly string[] = [
  ...USER_KINDS,
  'services',
  'ingresses.networking.k8s.io',
  'networkpolicies.networking.k8s.io',
  'persistentvolumeclaims',
  'configmaps',
  'secrets',
  'serviceaccounts',
  'roles.rbac.authorization.k8s.io',
  'rolebindings.rbac.authorization.k8s.io',
  'poddisruptionbudgets.policy',
];

export function secretsOf(readings: InventoryReadings): SecretItem[] {
  const users = usersIn({...readings, isUnrecorded: readings.state === undefined});
  return readings.objects
    .filter((each) => each.kind === 'Secret' && isOwnFor(each, readings.release))
    .map((secret) => ({
      name: secret.metadata.name,
      usedBy: users.filter(readsSecret(secret.metadata.name)).map(kindAndName),
      accountToken: accountTokenIn(secret),
    }));
}

export function namespaceOf(readings: InventoryReadings): NamespaceItem | undefined {
  const {
    release,
    namespace,
    namespaceObject,
    objects,
    unread,
    manifest,
    releases,
    customResources = [],
  } = readings;
  if (namespaceObject === undefined) return undefined;
  const leftovers = leftoversOf(readings).map(refText);
  // What owns an object is looked at itself, unless it is of a kind that is not read.
  const owners = [...objects, ...manifest, ...customResources];
  const strangers = objects.filter(
    (each) =>
      !isInManifest(each, manifest) &&
      !isOwnedByOneOf(owners, each) &&
      !isOwnFor(each, release) &&
      !isOfEveryNamespace(each) &&
      !isRecord(each, release) &&
      (!isOfRelease(each, readings) || leftovers.includes(kindAndName(each))),
  );
  const otherReleases =
    releases?.filter((each) => each.namespace === namespace && each.name !== release) ?? [];
  return {
    name: namespace,
    isOurs: isOwnFor(namespaceObject, release),
    others: [
      ...otherReleases.map(({name}) => `release ${name}`),
      ...strangers.map(({kind, metadata}) => `${kind} ${metadata.name}`),
      ...unread.map((kind) => `${kind} (not accessible with your user)`),
    ],
  };
}

/** Objects of a release without a Helm record. PVCs are listed separately. */
export function leftoversOf(readings: InventoryReadings): ObjectRef[] {
  if (readings.state !== undefined) return [];
  return readings.objects
    .filter(
      (each) =>
        isOfRelease(each, readings) && !isOwned(each) && each.kind !== 'PersistentVolumeClaim',
    )
    .map(refOf);
}

const isRecord = ({kind, metadata}: KubernetesObject, release: string): boolean =>
  ['Secret', 'ConfigMap'].includes(kind ?? '') &&
  metadata.name.startsWith(`sh.helm.release.v1.${release}.v`);

/** What Kubernetes and OpenShift create in every namespace. */
const isOfEveryNamespace = ({kind, metadata: {name}}: KubernetesObject): boolean =>
  (kind === 'ConfigMap' && (name === 'kube-root-ca.crt' || name === 'openshift-service-ca.crt')) ||
  (kind === 'ServiceAccount' && ['default', 'builder', 'deployer'].includes(name)) ||
  (kind === 'Secret' && /^(default|builder|deployer)-(token|dockercfg)-/.test(name)) ||
  (kind === 'RoleBinding' && name.startsWith('system:'));

interface AccountPool {
  /** Host of the account, with its port if there is one. */
  host: string;
  poolId: string;
}

/** A token that this program has created in a Scalr account. The token of the user is never stored. */
export interface AccountToken extends AccountPool {
  tokenId: string;
}

const HOST = 'scalr.io/account';
const POOL = 'scalr.io/agent-pool-id';
const TOKEN = 'scalr.io/token-id';

/** Annotation with the ID of the token that a rotation has replaced and not revoked yet. */
export const PREVIOUS_TOKEN = 'scalr.io/previous-token-id';

/** Annotation with the time at which a rotation has replaced the token. */
export const ROTATED = 'scalr.io/token-rotated';

/** Annotations of the Secret that contains the token; without a token ID if the user has given the token. */
export const accountAnnotations = ({
  host,
  poolId,
  tokenId,
}: AccountPool & {tokenId?: string | undefined}): Readonly<Record<string, string>> => ({
  [HOST]: host,
  [POOL]: poolId,
  ...(tokenId === undefined ? {} : {[TOKEN]: tokenId}),
});

/** The agent pool of the token in a Secret, if this program has recorded it. */
export function accountPoolIn({
  metadata: {annotations = {}},
}: KubernetesObject): AccountPool | undefined {
  const {[HOST]: host, [POOL]: poolId} = annotations;
  return host && poolId ? {host, poolId} : undefined;
}

/** The token in a Secret, if this program has created it. */
export function accountTokenIn(secret: KubernetesObject): AccountToken | undefined {
  const pool = accountPoolIn(secret);
  const tokenId = secret.metadata.annotations?.[TOKEN];
  return pool && tokenId ? {...pool, tokenId} : undefined;
}
