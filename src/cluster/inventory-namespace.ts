import {at, getAt, isMap, type Tree} from '../charts/tree.ts';
import type {Readings} from './inventory-readings.ts';
import {isMadeFor, type KubernetesObject} from './objects.ts';

export interface SecretItem {
  name: string;
  /** Workloads of other releases that read it. */
  usedBy: readonly string[];
}

export interface ObjectItem {
  kind: string;
  name: string;
}

export interface NamespaceItem {
  name: string;
  /** Created by this program for this release. */
  isOurs: boolean;
  /** Its objects other than the release, remains of older revisions, runs and our Secrets. */
  others: readonly string[];
}

/** The kinds that are listed before a namespace counts as empty; custom resources of others are not listed. */
export const NAMESPACE_KINDS: readonly string[] = [
  'deployments.apps',
  'statefulsets.apps',
  'daemonsets.apps',
  'replicasets.apps',
  'jobs.batch',
  'cronjobs.batch',
  'pods',
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

export function secretsOf({release, objects, manifest}: Readings): SecretItem[] {
  const readers = objects.filter((each) => isWorkload(each) && !isInManifest(each, manifest) && !isOwned(each));
  return objects
    .filter((each) => each.kind === 'Secret' && isMadeFor(each, release))
    .map(({metadata: {name}}) => ({
      name,
      usedBy: readers.filter((each) => reads(each as unknown as Tree, name)).map((each) => `${each.kind} ${each.metadata.name}`),
    }));
}

export function namespaceOf(readings: Readings): NamespaceItem | undefined {
  const {release, namespace, namespaceObject, objects, unread, manifest, releases, customResources = []} = readings;
  if (namespaceObject === undefined) return undefined;
  // What owns an object is looked at itself, unless it is of a kind that is not read.
  const owners = [...objects, ...manifest, ...customResources];
  const strangers = objects.filter(
    (each) =>
      !isInManifest(each, manifest) &&
      !isOwnedByOneOf(owners, each) &&
      !isMadeFor(each, release) &&
      !isOfEveryNamespace(each) &&
      !isRecord(each, release) &&
      !isOfRelease(each, readings),
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
export function leftoversOf(readings: Readings): ObjectItem[] {
  if (readings.state !== undefined) return [];
  return readings.objects
    .filter((each) => isOfRelease(each, readings) && !isOwned(each) && each.kind !== 'PersistentVolumeClaim')
    .map(({kind = '', metadata: {name}}) => ({kind, name}));
}

const isRecord = ({kind, metadata}: KubernetesObject, release: string): boolean =>
  kind === 'Secret' && metadata.name.startsWith(`sh.helm.release.v1.${release}.v`);

/** It belongs to the release, to a run, or to a workload that was just deleted. */
function isOfRelease({kind, metadata, ...rest}: KubernetesObject, {release, namespace}: Pick<Readings, 'release' | 'namespace'>): boolean {
  const {annotations = {}} = metadata;
  if (annotations['meta.helm.sh/release-name'] === release && (annotations['meta.helm.sh/release-namespace'] ?? namespace) === namespace)
    return true;
  // Other tools label their objects by instance too.
  const isOurs = ({labels = {}}: Pick<KubernetesObject['metadata'], 'labels'>, mayBeOwned: boolean): boolean =>
    labels['app.kubernetes.io/instance'] === release && (mayBeOwned || labels['app.kubernetes.io/component'] === 'task');
  if (kind === 'ReplicaSet') return isOwned({metadata}) && isOurs(metadata, true);
  if (kind === 'Pod') return isOurs(metadata, isOwned({metadata}));
  const template = getAt(rest as Tree, at('spec.template.metadata')) as KubernetesObject['metadata'] | undefined;
  return kind === 'Job' && [metadata, template ?? {}].some((each) => isOurs(each, false));
}

const isWorkload = ({kind = ''}: KubernetesObject): boolean =>
  ['Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob', 'Pod'].includes(kind);

const isInManifest = ({kind, metadata}: KubernetesObject, manifest: readonly KubernetesObject[]): boolean =>
  manifest.some((each) => each.kind === kind && each.metadata.name === metadata.name);

const isOwned = ({metadata}: KubernetesObject): boolean => (metadata.ownerReferences?.length ?? 0) > 0;

const isOwnedByOneOf = (owners: readonly KubernetesObject[], {metadata}: KubernetesObject): boolean =>
  metadata.ownerReferences?.some(({kind, name}) => owners.some((each) => each.kind === kind && each.metadata.name === name)) ?? false;

/** What Kubernetes and OpenShift create in every namespace. */
const isOfEveryNamespace = ({kind, metadata: {name}}: KubernetesObject): boolean =>
  (kind === 'ConfigMap' && (name === 'kube-root-ca.crt' || name === 'openshift-service-ca.crt')) ||
  (kind === 'ServiceAccount' && ['default', 'builder', 'deployer'].includes(name)) ||
  (kind === 'Secret' && /^(default|builder|deployer)-(token|dockercfg)-/.test(name)) ||
  (kind === 'RoleBinding' && name.startsWith('system:'));

const REFERENCES: Readonly<Record<string, string>> = {secretKeyRef: 'name', secretRef: 'name', secret: 'secretName'};

function reads(tree: Tree, secret: string): boolean {
  if (Array.isArray(tree)) return tree.some((each) => reads(each, secret));
  if (!isMap(tree)) return false;
  return Object.entries(tree).some(([key, below]) => {
    const field = REFERENCES[key];
    return (field !== undefined && isMap(below) && below[field] === secret) || reads(below, secret);
  });
}
