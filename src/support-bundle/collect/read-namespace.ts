import type {KubernetesObject} from '../../cluster/objects.ts';
import type {ApiReader} from '../../kubernetes/client.ts';
import {listAll} from '../../kubernetes/queries.ts';
import type {ApiError} from '../../ports/log-stream.ts';

/** Something that could not be read, or not whole. */
export interface Gap {
  /** The file it would have been in, or the kind of object. */
  what: string;
  trouble: ApiError;
  /** Many accounts may not see it, and the bundle is whole without it. */
  isMinor?: boolean;
  /** Secrets of a namespace: what is in them was not searched for, so it may be in the bundle. */
  isOfSecrets?: boolean;
}

export interface NamespaceReading {
  /** Of every kind that may be read. */
  objects: readonly KubernetesObject[];
  gaps: readonly Gap[];
}

/** Lists everything of a namespace that support asks for; what is refused is said and the rest is there. */
export async function readNamespace(api: ApiReader, namespace: string, over: AbortSignal): Promise<NamespaceReading> {
  const lists = await Promise.all(
    NAMESPACE_KINDS.map(async ({kind, path, isOptional = false, isOftenHidden = false}) => {
      const {items, trouble} = await listAll(api, path(namespace), {over});
      const objects = (items as KubernetesObject[]).map((item) => named(item, kind));
      const isMissing = trouble?.kind === 'not-found' && isOptional;
      return {
        objects,
        gaps:
          trouble === undefined || isMissing
            ? []
            : [{what: `${kind} objects`, trouble, isMinor: isOftenHidden && trouble.kind === 'forbidden'}],
      };
    }),
  );
  return {objects: lists.flatMap(({objects}) => objects), gaps: lists.flatMap(({gaps}) => gaps)};
}

/** Items of a list do not say what they are, but who changed which of their fields: half of what they would take of memory. */
function named(item: KubernetesObject, kind: string): KubernetesObject {
  const {managedFields: _, ...metadata} = item.metadata as KubernetesObject['metadata'] & {managedFields?: unknown};
  return {...item, kind, metadata};
}

/** One kind of object that a bundle looks at. */
export interface NamespaceKind {
  kind: string;
  /** As RBAC and kubectl name it: deployments.apps */
  resource: string;
  /** Where the API server lists them. */
  path(namespace: string): string;
  /** Not every cluster has it. */
  isOptional?: boolean;
  /** Who may read the rest often may not read this. */
  isOftenHidden?: boolean;
}

const CORE = '/api/v1';

const kind = (
  name: string,
  api: string,
  plural: string,
  more: Pick<NamespaceKind, 'isOptional' | 'isOftenHidden'> = {},
): NamespaceKind => ({
  kind: name,
  resource: api === CORE ? plural : `${plural}.${api.split('/')[2]}`,
  path: (namespace) => `${api}/namespaces/${encodeURIComponent(namespace)}/${plural}`,
  ...more,
});

/** What support asks for, owners before what they own. Secrets are read for what must not get out, never to get in. */
export const NAMESPACE_KINDS: readonly NamespaceKind[] = [
  kind('Deployment', '/apis/apps/v1', 'deployments'),
  kind('DaemonSet', '/apis/apps/v1', 'daemonsets'),
  kind('StatefulSet', '/apis/apps/v1', 'statefulsets'),
  kind('ReplicaSet', '/apis/apps/v1', 'replicasets'),
  kind('Job', '/apis/batch/v1', 'jobs'),
  kind('Pod', CORE, 'pods'),
  kind('PersistentVolumeClaim', CORE, 'persistentvolumeclaims'),
  kind('ServiceAccount', CORE, 'serviceaccounts'),
  kind('ResourceQuota', CORE, 'resourcequotas'),
  kind('LimitRange', CORE, 'limitranges'),
  kind('NetworkPolicy', '/apis/networking.k8s.io/v1', 'networkpolicies'),
  kind('PodDisruptionBudget', '/apis/policy/v1', 'poddisruptionbudgets'),
  kind('Role', '/apis/rbac.authorization.k8s.io/v1', 'roles', {isOftenHidden: true}),
  kind('RoleBinding', '/apis/rbac.authorization.k8s.io/v1', 'rolebindings', {isOftenHidden: true}),
  // The three generations of agent-job: docs/charts/agent-job.md, "Objects".
  kind('AgentTaskTemplate', '/apis/scalr.io/v1', 'agenttasktemplates', {isOptional: true, isOftenHidden: true}),
  kind('AgentTask', '/apis/scalr.io/v1', 'atasks', {isOptional: true, isOftenHidden: true}),
  kind('AgentWorker', '/apis/scalr.io/v1', 'agentworkers', {isOptional: true, isOftenHidden: true}),
  kind('Event', CORE, 'events'),
];
