import type {Values} from '../../ground/tree.ts';
import type {ListedRelease} from '../helm/release-record.ts';
import {
  type DefinitionObject,
  isOwnFor,
  type KubernetesObject,
  kindAndName,
  refText,
} from '../kubernetes/objects.ts';
import type {NodeObject} from '../platform/readings.ts';
import {leftObjectsOf} from './left-objects.ts';
import {objectUsers, USER_KINDS, type UserReadings, userText} from './object-users.ts';
import {isInManifest, isOfRelease, isOwnedByOneOf} from './release-objects.ts';

/** Responses of the API server and helm. Undefined if this account cannot read them: such objects are neither reported nor deleted. */
export interface InventoryReadings
  extends Omit<UserReadings, 'isDeleted' | 'isUninstalled' | 'releases'> {
  /** The newest revision; undefined if the release no longer exists. */
  state: {chart: string; status: string; revision: number} | undefined;
  /** With the defaults of the chart. */
  values: Values;
  /** Those of them that are not in the cluster, by kind and name. */
  missing?: ReadonlySet<string>;
  namespaceObject: KubernetesObject | undefined;
  /** Of all namespaces. */
  releases: readonly ListedRelease[] | undefined;
  /** Releases of this namespace, if the release does not exist and all namespaces cannot be listed. */
  releasesHere?: readonly ListedRelease[] | undefined;
  volumes: readonly PersistentVolume[] | undefined;
  definitions: readonly DefinitionObject[] | undefined;
  nodes: readonly NodeObject[] | undefined;
  /** Cluster-scoped objects that Helm created for the release; undefined if some kind of them cannot be listed. */
  wide: readonly KubernetesObject[] | undefined;
  /** An uninstall also deletes what Helm has no record of. */
  removesLeftovers?: boolean;
}

export interface PersistentVolume extends KubernetesObject {
  spec?: {
    persistentVolumeReclaimPolicy?: string;
    capacity?: {storage?: string};
    claimRef?: {namespace?: string; name?: string; uid?: string};
  };
}

/** The readings for `objectUsers`: what an uninstall deletes as well is not a user. */
export const userReadings = (readings: InventoryReadings): UserReadings => ({
  ...readings,
  isDeleted: readings.state !== undefined || readings.removesLeftovers === true,
  isUninstalled: readings.state === undefined,
});

export interface SecretItem {
  name: string;
  /** Workloads of others that read it; undefined if they cannot be listed. */
  usedBy: readonly string[] | undefined;
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

/** Cluster-scoped kinds of the charts, without PersistentVolumes. */
export const WIDE_KINDS: readonly string[] = [
  'clusterroles.rbac.authorization.k8s.io',
  'clusterrolebindings.rbac.authorization.k8s.io',
  'storageclasses.storage.k8s.io',
  'priorityclasses.scheduling.k8s.io',
];

export function secretsOf(readings: InventoryReadings): SecretItem[] {
  const {namespace} = readings;
  return readings.objects
    .filter((each) => each.kind === 'Secret' && isOwnFor(each, readings.release))
    .map((secret) => ({
      name: secret.metadata.name,
      usedBy: objectUsers(
        {kind: 'Secret', name: secret.metadata.name},
        userReadings(readings),
      )?.map((user) => userText(user, namespace)),
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
  // What is deleted before the namespace does not hold it.
  const left = leftObjectsOf(readings, userReadings(readings));
  const going = left.filter((each) => each.isDeleted).map(refText);
  const staying = left.filter((each) => !each.isDeleted).map(refText);
  // What owns an object is looked at itself, unless it is of a kind that is not read.
  const owners = [...objects, ...manifest, ...customResources];
  const strangers = objects.filter(
    (each) =>
      !isInManifest(each, manifest) &&
      !isOwnedByOneOf(owners, each) &&
      !isOwnFor(each, release) &&
      !isOfEveryNamespace(each) &&
      !isRecord(each, release) &&
      !going.includes(kindAndName(each)) &&
      (!isOfRelease(each, readings) || staying.includes(kindAndName(each))),
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

const isRecord = ({kind, metadata}: KubernetesObject, release: string): boolean =>
  ['Secret', 'ConfigMap'].includes(kind ?? '') &&
  metadata.name.startsWith(`sh.helm.release.v1.${release}.v`);

/** What Kubernetes and OpenShift create in every namespace. */
const isOfEveryNamespace = ({kind, metadata: {name}}: KubernetesObject): boolean =>
  (kind === 'ConfigMap' && (name === 'kube-root-ca.crt' || name === 'openshift-service-ca.crt')) ||
  (kind === 'ServiceAccount' && ['default', 'builder', 'deployer'].includes(name)) ||
  (kind === 'Secret' && /^(default|builder|deployer)-(token|dockercfg)-/.test(name)) ||
  (kind === 'RoleBinding' && name.startsWith('system:'));

export interface AccountPool {
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
