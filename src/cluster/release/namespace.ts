import {kindAndName, refText} from '../kubernetes/object-refs.ts';
import type {KubernetesObject} from '../kubernetes/objects.ts';
import {isOwnFor} from '../kubernetes/own-objects.ts';
import {type InventoryReadings, userReadings} from './inventory-readings.ts';
import {leftObjectsOf} from './left-objects.ts';
import {isInManifest, isOfRelease, isOwnedByOneOf} from './release-objects.ts';
import {USER_KINDS} from './workload-users.ts';

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
