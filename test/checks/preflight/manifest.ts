import type {Target} from '../../../src/charts/releases/target.ts';
import type {KubernetesObject} from '../../../src/cluster/kubernetes/objects.ts';
import {DEFINITIONS} from '../../../src/cluster/platform/cluster-facts.ts';
import {at, getAt, type Tree, type Values} from '../../../src/ground/tree.ts';

/** The objects of a chart as far as checks look at them, in the shape of the newest released one. */
export function manifestOf({chart}: Target, values: Values, release: string): KubernetesObject[] {
  const read = (path: string): Tree => getAt(values, at(path)) ?? null;
  const isOn = (path: string): boolean => Boolean(read(path));
  const base = chart === 'agent-job' ? 'scalr-agent' : chart;
  const full = release.includes(base) ? release : `${release}-${base}`;
  const place = (nodeSelector: string, tolerations: string) => ({
    nodeSelector: read(nodeSelector),
    tolerations: read(tolerations),
  });
  const object = (
    apiVersion: string,
    kind: string,
    name: string,
    more: object = {},
  ): KubernetesObject => ({
    apiVersion,
    kind,
    metadata: {name},
    ...more,
  });
  const deployment = (name: string, spec: Values): KubernetesObject =>
    object('apps/v1', 'Deployment', name, {spec: {template: {spec}}});
  const policy = (name: string): KubernetesObject =>
    object('networking.k8s.io/v1', 'NetworkPolicy', name);
  const claim = `${full}-cache`;
  const isNew =
    isOn('persistence.cache.enabled') && !isOn('persistence.cache.persistentVolumeClaim.claimName');
  const cacheVolume = isOn('persistence.cache.enabled')
    ? {
        persistentVolumeClaim: {
          claimName: read('persistence.cache.persistentVolumeClaim.claimName') || claim,
        },
      }
    : {emptyDir: {}};
  const storageClass = read('persistence.cache.persistentVolumeClaim.storageClassName');
  const claims = isNew
    ? [
        object('v1', 'PersistentVolumeClaim', claim, {
          spec: {
            accessModes: [read('persistence.cache.persistentVolumeClaim.accessMode')],
            ...(storageClass ? {storageClassName: storageClass === '-' ? '' : storageClass} : {}),
          },
        }),
      ]
    : [];

  if (chart === 'agent-k8s') {
    const containers = [
      {name: 'agent-k8s', resources: read('resources'), securityContext: read('securityContext')},
    ];
    const isEfs = isOn('efsVolumeHandle');
    const volume = isEfs
      ? {persistentVolumeClaim: {claimName: 'agent-k8s-efs-claim'}}
      : {hostPath: {path: read('agent.data_home')}};
    return [
      object('rbac.authorization.k8s.io/v1', 'Role', 'agent-k8s-role'),
      object('rbac.authorization.k8s.io/v1', 'RoleBinding', 'agent-k8s-role-binding'),
      ...(isEfs
        ? [
            object('storage.k8s.io/v1', 'StorageClass', 'agent-k8s-efs-sc', {
              provisioner: 'efs.csi.aws.com',
            }),
            object('v1', 'PersistentVolume', 'agent-k8s-efs-pv', {
              spec: {csi: {driver: 'efs.csi.aws.com'}},
            }),
            object('v1', 'PersistentVolumeClaim', 'agent-k8s-efs-claim', {
              spec: {accessModes: ['ReadWriteMany'], storageClassName: 'agent-k8s-efs-sc'},
            }),
          ]
        : []),
      ...(isOn('restrictMetadataService') ? [policy('agent-k8s-network-policy')] : []),
      deployment(`${full}-controller`, {
        ...place('controllerNodeSelector', 'controllerTolerations'),
        securityContext: read('podSecurityContext'),
        containers,
      }),
      object('apps/v1', 'DaemonSet', `${full}-worker`, {
        spec: {
          template: {
            spec: {
              ...place('workerNodeSelector', 'workerTolerations'),
              containers,
              volumes: [{name: 'data-home', ...volume}],
            },
          },
        },
      }),
    ];
  }
  if (chart === 'agent-local') {
    return [
      ...claims,
      ...(isOn('allowMetadataService') ? [] : [policy(`${full}-network-policy`)]),
      deployment(full, {
        ...place('nodeSelector', 'tolerations'),
        securityContext: read('podSecurityContext'),
        containers: [
          {
            name: 'agent-local',
            resources: read('resources'),
            securityContext: read('securityContext'),
          },
        ],
        volumes: [{name: 'cache', ...cacheVolume}],
      }),
    ];
  }
  const path = read('persistence.cache.hostPath.path');
  const taskVolume = path ? {hostPath: {path}} : cacheVolume;
  return [
    object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', DEFINITIONS.at(-1) as string),
    object('rbac.authorization.k8s.io/v1', 'ClusterRole', `scalr-agent-${full}-clusterrole`),
    ...(path ? [] : claims),
    ...(isOn('task.allowMetadataService') ? [] : [policy(`${full}-network-policy`)]),
    deployment(full, {
      ...place('agent.nodeSelector', 'agent.tolerations'),
      securityContext: read('global.podSecurityContext'),
      containers: [{name: 'controller', resources: read('agent.resources')}],
      volumes: [{name: 'cache', ...(path ? {emptyDir: {}} : cacheVolume)}],
    }),
    object('scalr.io/v1', 'AgentTaskTemplate', `${full}-task-template`, {
      spec: {
        jobTemplate: {
          spec: {
            template: {
              spec: {
                ...place('task.nodeSelector', 'task.tolerations'),
                securityContext: read('global.podSecurityContext'),
                containers: [
                  {name: 'runner', resources: read('task.runner.resources')},
                  {name: 'worker', resources: read('task.worker.resources')},
                ],
                volumes: [{name: 'cache', ...taskVolume}],
              },
            },
          },
        },
      },
    }),
  ];
}
