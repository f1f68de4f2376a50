import {within} from '../../charts/releases.ts';
import type {ChartName} from '../../charts/schema.ts';
import {at, getAt, type Values} from '../../ground/tree.ts';
import {isClusterScoped} from '../../kubernetes/kinds.ts';

interface NamedRelease {
  name: string;
  namespace: string;
  chart: ChartName;
  version: string;
  values: Values;
}

interface Row {
  chart: ChartName;
  in?: string;
  objects: readonly string[];
  /** Key of the values that must be set for them. */
  when?: string;
}

/** What each chart is known to create, with the placeholders of objectNames. */
const ROWS: readonly Row[] = [
  {
    chart: 'agent-k8s',
    objects: ['Role agent-k8s-role', 'RoleBinding agent-k8s-role-binding', 'DaemonSet FULL-worker', 'Deployment FULL-controller'],
  },
  {chart: 'agent-k8s', objects: ['Secret BASE'], when: 'agent.token'},
  {chart: 'agent-k8s', objects: ['NetworkPolicy agent-k8s-network-policy'], when: 'restrictMetadataService'},
  {
    chart: 'agent-k8s',
    objects: ['StorageClass agent-k8s-efs-sc', 'PersistentVolume agent-k8s-efs-pv', 'PersistentVolumeClaim agent-k8s-efs-claim'],
    when: 'efsVolumeHandle',
  },
  {chart: 'agent-local', objects: ['Deployment FULL']},
  {chart: 'agent-local', in: '<=0.5.54', objects: ['Secret BASE-token'], when: 'agent.token'},
  {chart: 'agent-local', in: '>=0.5.55', objects: ['Secret FULL-token'], when: 'agent.token'},
  {
    chart: 'agent-job',
    in: '<=0.5.63',
    objects: [
      'Role agent-job-role',
      'Deployment scalr-agent-controller',
      'AgentWorker scalr-agent-worker',
      'ClusterRole agent-job-cluster-role-RELEASE',
    ],
  },
  {
    chart: 'agent-job',
    in: '0.5.64 - 0.5.67',
    objects: ['Deployment scalr-agent', 'AgentTask scalr-agent-task', 'Role FULL-role', 'ClusterRole FULL-clusterrole'],
  },
  {
    chart: 'agent-job',
    in: '>=0.5.68',
    objects: ['Deployment FULL', 'AgentTaskTemplate FULL-task-template', 'Role FULL-role', 'ClusterRole NAMESPACE-FULL-clusterrole'],
  },
];

/** Names of the objects that a release creates: Role agent-k8s-role */
export function objectNames({name, namespace, chart, version, values}: NamedRelease): string[] {
  const textAt = (path: string): string => String(getAt(values, at(path)) ?? '');
  const base = textAt('nameOverride') || (chart === 'agent-job' && within(version, '>=0.5.68') ? 'scalr-agent' : chart);
  const full = textAt('fullnameOverride') || (name.includes(base) ? name : `${name}-${base}`);
  const fill: Readonly<Record<string, string>> = {FULL: full, BASE: base, RELEASE: name, NAMESPACE: namespace};
  return ROWS.filter(
    (row) => row.chart === chart && within(version, row.in) && (row.when === undefined || !['', 'false'].includes(textAt(row.when))),
  )
    .flatMap((row) => row.objects)
    .map((object) => object.replaceAll(/FULL|BASE|RELEASE|NAMESPACE/g, (word) => fill[word] as string));
}

export const isClusterWide = (object: string): boolean => isClusterScoped(object.split(' ')[0] as string);

/** With its namespace, where the kind has one: team-a/Role agent-k8s-role */
export const scopedName = (object: string, namespace: string): string => (isClusterWide(object) ? object : `${namespace}/${object}`);
