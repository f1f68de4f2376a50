import {expect, test} from 'vitest';
import {objectPath, pluralOfKind} from '../../../src/cluster/kubernetes/kinds.ts';

test.each([
  ['Deployment', 'apps/v1', '/apis/apps/v1/namespaces/scalr/deployments/a'],
  ['Secret', 'v1', '/api/v1/namespaces/scalr/secrets/a'],
  [
    'NetworkPolicy',
    'networking.k8s.io/v1',
    '/apis/networking.k8s.io/v1/namespaces/scalr/networkpolicies/a',
  ],
  [
    'ClusterRole',
    'rbac.authorization.k8s.io/v1',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/a',
  ],
  ['StorageClass', 'storage.k8s.io/v1', '/apis/storage.k8s.io/v1/storageclasses/a'],
  ['AgentWorker', 'scalr.io/v1', '/apis/scalr.io/v1/namespaces/scalr/agentworkers/a'],
  ['AgentTask', 'scalr.io/v1', '/apis/scalr.io/v1/namespaces/scalr/atasks/a'],
  ['AgentTaskTemplate', 'scalr.io/v1', '/apis/scalr.io/v1/namespaces/scalr/agenttasktemplates/a'],
])('knows the path of a %s', (kind, apiVersion, path) => {
  expect(objectPath({kind, apiVersion, metadata: {name: 'a'}}, 'scalr')).toBe(path);
});

test.each([
  ['Ingress', 'ingresses'],
  ['Gateway', 'gateways'],
])('makes the plural of %s', (kind, plural) => {
  expect(pluralOfKind(kind)).toBe(plural);
});
