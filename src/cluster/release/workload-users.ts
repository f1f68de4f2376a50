import type {ClusterTarget} from '../../ground/command-line.ts';
import {isMap, type Tree} from '../../ground/tree.ts';
import {apiFailure} from '../kubernetes/api-error.ts';
import {pluralOf} from '../kubernetes/kinds.ts';
import type {KubernetesObject} from '../kubernetes/objects.ts';
import {isOwn} from '../kubernetes/own-objects.ts';
import {pairsBelow, secretNames} from '../kubernetes/pod-specs.ts';
import {listObjects, REQUIRED_MS, type Reader} from '../kubernetes/resources.ts';
import {
  isInManifest,
  isOfRelease,
  isOwnedByOneOf,
  isRenderedFor,
  type OwnRelease,
} from './release-objects.ts';

/** What is known of a namespace. */
export interface NamespaceReadings extends OwnRelease {
  /** Everything that Helm created for the release is deleted too, so it does not count as a user. */
  isDeleted: boolean;
  /** Rendered objects of the newest revision of the release. */
  manifest: readonly KubernetesObject[];
  /** Objects of the namespace. */
  objects: readonly KubernetesObject[];
  /** Instances of the CRDs of agent-job, of all namespaces. Undefined: this Kubernetes user cannot read them. */
  customResources: readonly KubernetesObject[] | undefined;
}

export const WORKLOADS = [
  'Deployment',
  'StatefulSet',
  'DaemonSet',
  'ReplicaSet',
  'Job',
  'CronJob',
  'Pod',
];

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
}: NamespaceReadings): KubernetesObject[] {
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
export const namesSecret = (object: KubernetesObject, secret: string): boolean =>
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
export const configMapNames = (tree: Tree): string[] =>
  pairsBelow(tree).flatMap(([key, below]) => {
    const name = CONFIG_MAP_REFERENCES.has(key) && isMap(below) ? below['name'] : undefined;
    return typeof name === 'string' ? [name] : [];
  });

/** Workloads and pods of others in the namespace, and the kinds that this user may not list. @throws ExpectedError */
export async function readUsers(
  own: Pick<NamespaceReadings, 'release' | 'namespace' | 'manifest'>,
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
