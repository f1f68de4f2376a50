import {isMap, type Tree} from '../../ground/tree.ts';
import type {DefinitionObject, KubernetesObject} from './objects.ts';

/** What this program knows about kinds: their resources, versions, scopes and API paths. */

/** Group and version of kinds that every supported API server has. Kinds of add-ons come from `servedResources`. */
const GROUP_VERSIONS: Readonly<Record<string, string>> = {
  configmaps: 'v1',
  events: 'v1',
  limitranges: 'v1',
  namespaces: 'v1',
  nodes: 'v1',
  persistentvolumeclaims: 'v1',
  persistentvolumes: 'v1',
  pods: 'v1',
  resourcequotas: 'v1',
  secrets: 'v1',
  serviceaccounts: 'v1',
  services: 'v1',
  'daemonsets.apps': 'apps/v1',
  'deployments.apps': 'apps/v1',
  'replicasets.apps': 'apps/v1',
  'statefulsets.apps': 'apps/v1',
  'cronjobs.batch': 'batch/v1',
  'jobs.batch': 'batch/v1',
  'clusterrolebindings.rbac.authorization.k8s.io': 'rbac.authorization.k8s.io/v1',
  'clusterroles.rbac.authorization.k8s.io': 'rbac.authorization.k8s.io/v1',
  'csidrivers.storage.k8s.io': 'storage.k8s.io/v1',
  'customresourcedefinitions.apiextensions.k8s.io': 'apiextensions.k8s.io/v1',
  'ingresses.networking.k8s.io': 'networking.k8s.io/v1',
  'networkpolicies.networking.k8s.io': 'networking.k8s.io/v1',
  'poddisruptionbudgets.policy': 'policy/v1',
  'priorityclasses.scheduling.k8s.io': 'scheduling.k8s.io/v1',
  'rolebindings.rbac.authorization.k8s.io': 'rbac.authorization.k8s.io/v1',
  'roles.rbac.authorization.k8s.io': 'rbac.authorization.k8s.io/v1',
  'storageclasses.storage.k8s.io': 'storage.k8s.io/v1',
};

/** `deployments` of `deployments.apps`. */
export const pluralOf = (resource: string): string => resource.split('.', 1)[0] as string;

/** The plural of a kind by the rules of English, such as `networkpolicies`. */
export function pluralOfKind(kind: string): string {
  // agent-job 0.5.64 to 0.5.67, crds/atasks.scalr.io.yaml
  if (kind === 'AgentTask') return 'atasks';
  const singular = kind.toLowerCase();
  if (/(s|x|ch|sh)$/.test(singular)) return `${singular}es`;
  return /[^aeiou]y$/.test(singular) ? singular.replace(/y$/, 'ies') : `${singular}s`;
}

/** Group and version of a kind that every API server has, such as apps/v1 of Deployment. */
export function groupVersionOf(kind: string): string {
  const plural = pluralOfKind(kind);
  const found = Object.entries(GROUP_VERSIONS).find(
    ([resource]) => pluralOf(resource) === plural,
  )?.[1];
  if (found === undefined) throw new Error(`Unknown API group and version of ${kind}.`);
  return found;
}

/** Resource that kubectl calls `deployment`, `deployments` or `deployments.apps`; undefined for other words. */
export const resourceNamed = (word: string): string | undefined =>
  Object.keys(GROUP_VERSIONS).find(
    (resource) => resource === word || [word, pluralOfKind(word)].includes(pluralOf(resource)),
  );

/** API path of a kind, such as `deployments.apps`. */
export function collectionPath(
  resource: string,
  namespace?: string,
  groupVersion = GROUP_VERSIONS[resource],
): string {
  if (groupVersion === undefined) throw new Error(`Unknown API group and version of ${resource}.`);
  const root = groupVersion.includes('/') ? `/apis/${groupVersion}` : `/api/${groupVersion}`;
  return `${root}${namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`}/${pluralOf(resource)}`;
}

/** Cluster-scoped kinds that charts can contain. */
const CLUSTER_SCOPED: ReadonlySet<string> = new Set([
  'Namespace',
  'ClusterRole',
  'ClusterRoleBinding',
  'CustomResourceDefinition',
  'PersistentVolume',
  'StorageClass',
  'CSIDriver',
  'PriorityClass',
]);

export const isClusterScoped = (kind: string): boolean => CLUSTER_SCOPED.has(kind);

/** The same for a resource, such as persistentvolumes. */
export const isWideResource = (resource: string): boolean =>
  [...CLUSTER_SCOPED].some((kind) => pluralOfKind(kind) === pluralOf(resource));

/** The same for an object whose definition may be in the same chart. */
export const isWideObject = (
  object: KubernetesObject,
  objects: readonly KubernetesObject[],
): boolean =>
  isClusterScoped(object.kind ?? '') || definitionFor(object, objects)?.scope === 'Cluster';

/** Resource of an object, for example deployments.apps: from a CRD of the chart, discovery, or English plurals. */
export function resourceOf(
  object: KubernetesObject,
  objects: readonly KubernetesObject[] = [],
  served: readonly string[] = [],
): string {
  const {kind = '', apiVersion = ''} = object;
  const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : '';
  const spelled = (plural: string): string => (group ? `${plural}.${group}` : plural);
  const own = definitionFor(object, objects)?.names?.plural;
  if (own) return spelled(own);
  const singular = kind.toLowerCase();
  const candidates = [pluralOfKind(kind), `${singular}s`, `${singular}es`, singular].map(spelled);
  return candidates.find((each) => served.includes(each)) ?? (candidates[0] as string);
}

/** The spec of the CustomResourceDefinition of an object, where the same chart has it. */
const definitionFor = (
  {kind, apiVersion = ''}: KubernetesObject,
  objects: readonly DefinitionObject[],
): DefinitionObject['spec'] =>
  objects.find(
    (each) =>
      each.kind === 'CustomResourceDefinition' &&
      each.spec?.names?.kind === kind &&
      apiVersion.startsWith(`${each.spec?.group}/`),
  )?.spec;

/** API path of the objects of its kind, for an object that a chart renders for this namespace. */
export const siblingsPath = (
  {apiVersion, kind = '', metadata}: KubernetesObject,
  namespace: string,
): string =>
  collectionPath(
    pluralOfKind(kind),
    isClusterScoped(kind) ? undefined : (metadata.namespace ?? namespace),
    apiVersion,
  );

export const objectPath = (object: KubernetesObject, namespace: string): string =>
  `${siblingsPath(object, namespace)}/${encodeURIComponent(object.metadata.name)}`;

/** Whether `found` contains all of `desired`; the API server adds defaults. With `mayLack`, missing fields are ignored. */
export function isContained(
  desired: Tree,
  found: Tree | undefined,
  {mayLack = false} = {},
): boolean {
  if (found === undefined) return mayLack || desired === null;
  if (Array.isArray(desired))
    return (
      Array.isArray(found) &&
      desired.length === found.length &&
      desired.every((each, index) => isContained(each, found[index], {mayLack}))
    );
  if (isMap(desired))
    return (
      isMap(found) &&
      Object.entries(desired).every(([key, below]) => isContained(below, found[key], {mayLack}))
    );
  return desired === found;
}
