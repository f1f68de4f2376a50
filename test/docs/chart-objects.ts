import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import type {KubernetesObject} from '../../src/cluster/kubernetes/objects.ts';

const of = (apiVersion: string, kind: string): KubernetesObject => ({
  apiVersion,
  kind,
  metadata: {name: kind.toLowerCase()},
});

const RBAC = 'rbac.authorization.k8s.io/v1';
const PERMISSIONS = [of('v1', 'ServiceAccount'), of(RBAC, 'Role'), of(RBAC, 'RoleBinding')];
const TASK_TEMPLATES = {
  ...of('apiextensions.k8s.io/v1', 'CustomResourceDefinition'),
  spec: {
    group: 'scalr.io',
    scope: 'Namespaced',
    names: {kind: 'AgentTaskTemplate', plural: 'agenttasktemplates'},
  },
};

/** The kinds that the newest version of each chart renders with default settings, as test/cluster/helm/chart-objects.test.ts compares them. */
export const CHART_OBJECTS: Readonly<Record<ChartName, readonly KubernetesObject[]>> = {
  'agent-local': [of('apps/v1', 'Deployment')],
  'agent-k8s': [...PERMISSIONS, of('apps/v1', 'Deployment'), of('apps/v1', 'DaemonSet')],
  'agent-job': [
    ...PERMISSIONS,
    of('apps/v1', 'Deployment'),
    of('networking.k8s.io/v1', 'NetworkPolicy'),
    of('policy/v1', 'PodDisruptionBudget'),
    of(RBAC, 'ClusterRole'),
    of(RBAC, 'ClusterRoleBinding'),
    TASK_TEMPLATES,
    of('scalr.io/v1', 'AgentTaskTemplate'),
  ],
};
