/** One kind of object that a bundle looks at. */
export interface NamespaceKind {
  kind: string;
  /** Where the API server lists them. */
  path(namespace: string): string;
  /** Not every cluster has it. */
  isOptional?: boolean;
  /** Who may read the rest often may not read this. */
  isOftenHidden?: boolean;
}

const kind = (
  name: string,
  api: string,
  plural: string,
  more: Pick<NamespaceKind, 'isOptional' | 'isOftenHidden'> = {},
): NamespaceKind => ({
  kind: name,
  path: (namespace) => `${api}/namespaces/${encodeURIComponent(namespace)}/${plural}`,
  ...more,
});

const CORE = '/api/v1';

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
