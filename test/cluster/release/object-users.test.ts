import {describe, expect, test} from 'vitest';
import type {StoredRevision} from '../../../src/cluster/helm/release-record.ts';
import type {KubernetesObject} from '../../../src/cluster/kubernetes/objects.ts';
import {
  DIRECTORY,
  objectUsers,
  type UserReadings,
  userText,
} from '../../../src/cluster/release/object-users.ts';
import {object, writer} from '../../operations/uninstall-readings.ts';

const readings = (more: Partial<UserReadings> = {}): UserReadings => ({
  release: 'agent',
  namespace: 'scalr',
  isDeleted: true,
  isUninstalled: false,
  manifest: [],
  objects: [],
  unread: [],
  customResources: [],
  workloads: [],
  bindings: [],
  volumes: [],
  releases: [],
  revisions: [],
  ...more,
});

const users = (kind: string, name: string, more: Partial<UserReadings>): string[] | undefined =>
  objectUsers({kind, name}, readings(more))?.map((user) => userText(user, 'scalr'));

const of = (release: string, namespace: string): object => ({
  annotations: {'meta.helm.sh/release-name': release, 'meta.helm.sh/release-namespace': namespace},
});
const revision = (more: Partial<StoredRevision> = {}): StoredRevision => ({
  release: 'other',
  namespace: 'scalr',
  revision: 3,
  status: 'superseded',
  chart: 'agent-local-0.6.5',
  manifest: '',
  ...more,
});
const podSpec = (spec: object): object => ({
  spec: {template: {spec: {containers: [{name: 'x'}], ...spec}}},
});

describe('a CRD', () => {
  const CRD = 'CustomResourceDefinition';
  const task = (metadata: object): KubernetesObject =>
    object('AgentTask', 'task', {apiVersion: 'scalr.io/v1', metadata});

  test('is used by custom resources of any owner, and by none of another kind', () => {
    const customResources = [task({namespace: 'argo'}), object('AgentTaskTemplate', 'template')];
    expect(users(CRD, 'atasks.scalr.io', {customResources})).toEqual(['AgentTask argo/task']);
  });

  test('is used only by releases whose chart version works with it', () => {
    const listed = (namespace: string, version: string) => ({
      name: 'agent',
      namespace,
      chart: `agent-job-${version}`,
    });
    const releases = [
      ...[listed('a', '0.5.63'), listed('b', '0.5.67'), listed('c', '0.6.5')],
      {name: 'web', namespace: 'd', chart: 'nginx-1.0.0'},
    ];
    const used = ['agentworkers', 'atasks', 'agenttasktemplates'].map((plural) =>
      users(CRD, `${plural}.scalr.io`, {releases}),
    );
    expect(used).toEqual([
      ['release a/agent (agent-job-0.5.63)'],
      ['release b/agent (agent-job-0.5.67)'],
      ['release c/agent (agent-job-0.6.5)'],
    ]);
  });

  test('is used by older revisions that a rollback brings back', () => {
    const revisions = [1, 2].map((number) =>
      revision({namespace: 'b', revision: number, chart: 'agent-job-0.5.67'}),
    );
    expect(users(CRD, 'atasks.scalr.io', {revisions})).toEqual([
      'a rollback to revision 2 of release b/other (agent-job-0.5.67)',
    ]);
  });

  test('is not used by what is deleted with it, and is by the same release when that stays', () => {
    const own = {
      releases: [{name: 'agent', namespace: 'scalr', chart: 'agent-job-0.5.67'}],
      revisions: [revision({release: 'agent', chart: 'agent-job-0.5.66'})],
      customResources: [task({namespace: 'scalr', ...of('agent', 'scalr')})],
    };
    expect(users(CRD, 'atasks.scalr.io', own)).toEqual([]);
    expect(users(CRD, 'atasks.scalr.io', {...own, isDeleted: false})).toEqual([
      'release scalr/agent (agent-job-0.5.67)',
      'AgentTask task',
    ]);
  });

  test.each([
    ['customResources'],
    ['releases'],
    ['revisions'],
  ])('has unknown users when %s cannot be read', (what) => {
    expect(users(CRD, 'atasks.scalr.io', {[what]: undefined})).toBeUndefined();
  });
});

test.each([
  ['workloads'],
  ['customResources'],
  ['releases'],
  ['revisions'],
])('a directory has unknown users when %s cannot be read', (what) => {
  expect(users(DIRECTORY, '/var/lib/agents', {[what]: undefined})).toBeUndefined();
});

describe('an object of the namespace', () => {
  const mounts = {volumes: [{name: 'v', persistentVolumeClaim: {claimName: 'data'}}]};
  const workload = object('Deployment', 'web', podSpec(mounts));

  test.each<[string, string, object]>([
    ['PersistentVolumeClaim', 'data', mounts],
    ['Secret', 'key', {volumes: [{name: 'v', secret: {secretName: 'key'}}]}],
    ['Secret', 'key', {imagePullSecrets: [{name: 'key'}]}],
    ['ConfigMap', 'ca', {volumes: [{name: 'v', configMap: {name: 'ca'}}]}],
    ['ServiceAccount', 'robot', {serviceAccountName: 'robot'}],
  ])('of kind %s is used by the workload that names it: %s', (kind, name, spec) => {
    const objects = [object('Deployment', 'web', podSpec(spec))];
    expect(users(kind, name, {objects})).toEqual(['Deployment web']);
    expect(users(kind, 'another', {objects})).toEqual([]);
  });

  test('is used by an older revision of a release beside it', () => {
    const manifest = JSON.stringify(workload);
    const revisions = [
      revision({manifest}),
      revision({manifest, namespace: 'elsewhere'}),
      revision({manifest, release: 'agent'}),
    ];
    expect(users('PersistentVolumeClaim', 'data', {revisions})).toEqual([
      'a rollback to revision 3 of release scalr/other (agent-local-0.6.5)',
    ]);
  });

  test('is listed once when the release that uses it runs', () => {
    const live = object('Deployment', 'web', {metadata: of('other', 'scalr'), ...podSpec(mounts)});
    const revisions = [revision({manifest: JSON.stringify(live)})];
    expect(users('PersistentVolumeClaim', 'data', {objects: [live], revisions})).toEqual([
      'Deployment web',
    ]);
  });

  test('has unknown users when a kind of workload cannot be listed, unless one is found', () => {
    const unread = ['cronjobs'];
    expect(users('Secret', 'key', {unread})).toBeUndefined();
    expect(users('PersistentVolumeClaim', 'data', {unread, objects: [workload]})).toEqual([
      'Deployment web',
    ]);
  });
});

describe('a directory on nodes', () => {
  const PATH = '/var/lib/scalr';
  const elsewhere = {metadata: {namespace: 'b'}};

  test('is used by agents in, at or above it, and by workloads of others in it', () => {
    const mount = (kind: string, name: string, path: string): KubernetesObject =>
      object(kind, name, {
        ...elsewhere,
        ...podSpec({volumes: [{name: 'v', hostPath: {path}}]}),
      });
    const workloads = [
      writer('DaemonSet', 'at', `${PATH}/`, elsewhere),
      writer('DaemonSet', 'above', '/var/lib', elsewhere),
      writer('DaemonSet', 'beside', '/var/lib/scalr-2', elsewhere),
      mount('Deployment', 'mirror', `${PATH}/plugins`),
      mount('Deployment', 'logs', '/var'),
    ];
    expect(users(DIRECTORY, PATH, {workloads})).toEqual([
      'DaemonSet b/at',
      'DaemonSet b/above',
      'Deployment b/mirror',
    ]);
  });

  test('is used by an older revision of another release', () => {
    const manifest = JSON.stringify(writer('DaemonSet', 'old', PATH));
    const revisions = [revision({namespace: 'b', chart: 'agent-k8s-0.6.4', manifest})];
    expect(users(DIRECTORY, PATH, {revisions})).toEqual([
      'a rollback to revision 3 of release b/other (agent-k8s-0.6.4)',
    ]);
  });

  test('has unknown users when workloads cannot be listed', () => {
    expect(users(DIRECTORY, PATH, {workloads: undefined})).toBeUndefined();
  });
});

describe('cluster-scoped objects and roles', () => {
  const binding = (kind: string, name: string, role: object, metadata: object = {}) =>
    object(kind, name, {metadata, roleRef: role});

  test('are used by bindings of others', () => {
    const role = {kind: 'ClusterRole', name: 'agent-clusterrole'};
    const bindings = [
      binding('ClusterRoleBinding', 'own', role, of('agent', 'scalr')),
      binding('RoleBinding', 'theirs', role, {namespace: 'b'}),
      binding('RoleBinding', 'unrelated', {kind: 'ClusterRole', name: 'view'}),
    ];
    expect(users('ClusterRole', 'agent-clusterrole', {bindings})).toEqual(['RoleBinding b/theirs']);
    expect(users('ClusterRole', 'agent-clusterrole', {bindings: undefined})).toBeUndefined();
  });

  test('are used by volumes of their class', () => {
    const volumes = [object('PersistentVolume', 'disk', {spec: {storageClassName: 'efs'}})];
    expect(users('StorageClass', 'efs', {volumes})).toEqual(['PersistentVolume disk']);
  });
});

test('an object of a kind that nobody has seen has unknown users', () => {
  expect(users('Widget', 'x', {})).toBeUndefined();
  expect(users('NetworkPolicy', 'x', {})).toEqual([]);
});
