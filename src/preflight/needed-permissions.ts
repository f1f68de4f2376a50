import type {KubernetesObject} from '../cluster/objects.ts';
import {resourceOf, rulesOf} from './resources.ts';
import type {Permission} from './situation.ts';

/** A permission before anybody was asked for it. */
export interface Need extends Omit<Permission, 'isAllowed'> {
  /** It is about this object alone. */
  name?: string;
  /** Whoever has this one does not need the other. */
  orElse?: {verb: string; resource: string; namespace?: string};
}

interface Ask {
  namespace: string;
  objects: readonly KubernetesObject[];
  /** What the API server serves, where it is known: deployments.apps */
  resources: readonly string[];
}

/** In none of these cases is there a namespace. */
const CLUSTER_WIDE = [
  'Namespace',
  'ClusterRole',
  'ClusterRoleBinding',
  'CustomResourceDefinition',
  'PersistentVolume',
  'StorageClass',
  'CSIDriver',
  'PriorityClass',
];

/** Helm 3 makes definitions once, Helm 4 applies them, and neither deletes them. */
const DEFINITION = 'customresourcedefinitions.apiextensions.k8s.io';
const ROLES: Readonly<Record<string, string>> = {
  Role: 'roles.rbac.authorization.k8s.io',
  ClusterRole: 'clusterroles.rbac.authorization.k8s.io',
};

/** What an install asks of the API server, helm and the watch included, each once. Pure. */
export function neededPermissions({namespace, objects, resources}: Ask): Need[] {
  const need = (resource: string, verbs: readonly string[], isOptional = false): Need[] =>
    verbs.map((verb) => ({verb, resource, namespace, isOptional}));
  const everywhere = (resource: string, verbs: readonly string[], isOptional = false): Need[] =>
    verbs.map((verb) => ({verb, resource, isOptional}));
  const ofObjects = objects.flatMap((object) => {
    const resource = resourceOf(object, objects, resources);
    if (resource === DEFINITION) return everywhere(resource, ['get', 'create', 'patch']);
    const needed = isClusterWide(object, objects) ? everywhere : need;
    return [...needed(resource, ['get', 'create', 'patch']), ...needed(resource, ['delete'], true)];
  });
  return once([
    {verb: 'get', resource: 'namespaces', namespace, name: namespace, isOptional: false},
    ...everywhere('namespaces', ['create']),
    // Helm keeps its releases in them, and prunes the oldest.
    ...need('secrets', ['get', 'list', 'create', 'update', 'patch', 'delete']),
    ...ofObjects,
    ...objects.flatMap((object) => grants(object, objects, namespace)),
    ...['deployments.apps', 'daemonsets.apps', 'replicasets.apps', 'jobs.batch', 'pods'].flatMap((each) => need(each, ['list'])),
    ...['events', 'persistentvolumeclaims'].flatMap((each) => need(each, ['list'], true)),
    // For its logs kubectl first looks what containers a pod has.
    ...need('pods', ['get'], true),
    ...need('pods/log', ['get'], true),
    ...everywhere('nodes', ['list'], true),
  ]);
}

/** Nobody may write down or give away what they do not have, unless they may escalate and bind. */
function grants(object: KubernetesObject, objects: readonly KubernetesObject[], place: string): Need[] {
  const {kind = '', roleRef} = object as KubernetesObject & {roleRef?: {kind: string; name: string}};
  const role = roleRef ? objects.find((each) => each.kind === roleRef.kind && each.metadata.name === roleRef.name) : object;
  const resource = ROLES[role?.kind ?? ''];
  if (role === undefined || resource === undefined) return [];
  const namespace = kind.startsWith('Cluster') ? {} : {namespace: place};
  const orElse = {verb: roleRef ? 'bind' : 'escalate', resource, ...namespace};
  return rulesOf(role).map((rule) => ({...rule, ...namespace, isOptional: false, orElse}));
}

const isClusterWide = ({kind = ''}: KubernetesObject, objects: readonly KubernetesObject[]): boolean =>
  CLUSTER_WIDE.includes(kind) ||
  objects.some((each) => {
    const {spec} = each as {spec?: {names?: {kind?: string}; scope?: string}};
    return each.kind === 'CustomResourceDefinition' && spec?.names?.kind === kind && spec.scope === 'Cluster';
  });

/** The same permission may be needed twice; then it is no longer optional. */
function once(needs: readonly Need[]): Need[] {
  const found = new Map<string, Need>();
  for (const need of needs) {
    const key = [need.verb, need.resource, need.namespace, need.name, need.orElse?.verb, need.orElse?.namespace].join(' ');
    if (found.get(key)?.isOptional ?? true) found.set(key, need);
  }
  return [...found.values()];
}
