import type {Values} from '../ground/tree.ts';
import type {ListedRelease} from '../helm/release-record.ts';
import {isMadeFor, type KubernetesObject, kindAndName, type ObjectRef, refOf, refText} from '../kubernetes/objects.ts';
import {type AccountToken, accountTokenIn} from './account-token.ts';
import {isInManifest, isOfRelease, isOwned, isOwnedByOneOf, readsSecret, USER_KINDS, usersIn} from './users.ts';

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
  definitions: readonly KubernetesObject[] | undefined;
  /** Instances of the definitions, of all namespaces. */
  customResources: readonly KubernetesObject[] | undefined;
  /** Of all namespaces. */
  daemonSets: readonly KubernetesObject[] | undefined;
  nodes: readonly Node[] | undefined;
}

export interface PersistentVolume extends KubernetesObject {
  metadata: KubernetesObject['metadata'] & {resourceVersion?: string};
  spec?: {
    persistentVolumeReclaimPolicy?: string;
    capacity?: {storage?: string};
    claimRef?: {namespace?: string; name?: string; uid?: string};
  };
}

export interface Node extends KubernetesObject {
  spec?: {taints?: readonly {key: string; value?: string; effect: string}[]};
  status?: {conditions?: readonly {type: string; status: string}[]};
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
    .filter((each) => each.kind === 'Secret' && isMadeFor(each, readings.release))
    .map((secret) => ({
      name: secret.metadata.name,
      usedBy: users.filter(readsSecret(secret.metadata.name)).map(kindAndName),
      accountToken: accountTokenIn(secret),
    }));
}

export function namespaceOf(readings: InventoryReadings): NamespaceItem | undefined {
  const {release, namespace, namespaceObject, objects, unread, manifest, releases, customResources = []} = readings;
  if (namespaceObject === undefined) return undefined;
  const leftovers = leftoversOf(readings).map(refText);
  // What owns an object is looked at itself, unless it is of a kind that is not read.
  const owners = [...objects, ...manifest, ...customResources];
  const strangers = objects.filter(
    (each) =>
      !isInManifest(each, manifest) &&
      !isOwnedByOneOf(owners, each) &&
      !isMadeFor(each, release) &&
      !isOfEveryNamespace(each) &&
      !isRecord(each, release) &&
      (!isOfRelease(each, readings) || leftovers.includes(kindAndName(each))),
  );
  const otherReleases = releases?.filter((each) => each.namespace === namespace && each.name !== release) ?? [];
  return {
    name: namespace,
    isOurs: isMadeFor(namespaceObject, release),
    others: [
      ...otherReleases.map(({name}) => `release ${name}`),
      ...strangers.map(({kind, metadata}) => `${kind} ${metadata.name}`),
      ...unread.map((kind) => `${kind} (not accessible with this account)`),
    ],
  };
}

/** Objects of a release without a Helm record. PVCs are listed separately. */
export function leftoversOf(readings: InventoryReadings): ObjectRef[] {
  if (readings.state !== undefined) return [];
  return readings.objects
    .filter((each) => isOfRelease(each, readings) && !isOwned(each) && each.kind !== 'PersistentVolumeClaim')
    .map(refOf);
}

const isRecord = ({kind, metadata}: KubernetesObject, release: string): boolean =>
  kind === 'Secret' && metadata.name.startsWith(`sh.helm.release.v1.${release}.v`);

/** What Kubernetes and OpenShift create in every namespace. */
const isOfEveryNamespace = ({kind, metadata: {name}}: KubernetesObject): boolean =>
  (kind === 'ConfigMap' && (name === 'kube-root-ca.crt' || name === 'openshift-service-ca.crt')) ||
  (kind === 'ServiceAccount' && ['default', 'builder', 'deployer'].includes(name)) ||
  (kind === 'Secret' && /^(default|builder|deployer)-(token|dockercfg)-/.test(name)) ||
  (kind === 'RoleBinding' && name.startsWith('system:'));
