import type {ChartName} from './schema.ts';
import {at, getAt, type Values} from './tree.ts';

/** A key that a version accepts and no template reads, always or until another key is set. */
export interface IgnoredKey {
  chart: ChartName;
  in?: string;
  path: string;
  /** With these values (defaults included) the templates do read it. */
  unless?(values: Values): boolean;
  because: string;
  /** What to set as well or instead. */
  instead?: string;
}

const is =
  (path: string, wanted: unknown) =>
  (values: Values): boolean =>
    getAt(values, at(path)) === wanted;
const has =
  (path: string) =>
  (values: Values): boolean =>
    !['', undefined, null].includes(getAt(values, at(path)) as string);

const CHARTS: readonly ChartName[] = ['agent-k8s', 'agent-local', 'agent-job'];

/** Found by changing every key of every release and comparing what the templates render. */
export const ignoredKeys: readonly IgnoredKey[] = [
  ...CHARTS.map((chart) => ({
    chart,
    path: 'serviceAccount.annotations',
    unless: is('serviceAccount.create', true),
    because: 'the chart creates no service account',
    instead: 'serviceAccount.create: true',
  })),
  {chart: 'agent-k8s', path: 'serviceAccount.labels', because: 'no template reads it'},
  {
    chart: 'agent-local',
    in: '0.5.64 - 0.5.66',
    path: 'allowMetadataService',
    because: 'the template of this version reads agent.allowMetadataService',
    instead: 'agent.allowMetadataService',
  },
  {
    chart: 'agent-local',
    in: '>=0.6.1',
    path: 'persistence.persistentVolumeClaim',
    unless: (values) => is('persistence.enabled', true)(values) || has('persistence.persistentVolumeClaim.claimName')(values),
    because: 'the old keys count only together with persistence.enabled',
    instead: 'persistence.cache.persistentVolumeClaim',
  },
  {
    chart: 'agent-local',
    in: '0.5.74 || >=0.6.1',
    path: 'persistence.cache.persistentVolumeClaim',
    unless: (values) => !is('persistence.enabled', true)(values) && !has('persistence.persistentVolumeClaim.claimName')(values),
    because: 'persistence.enabled or its claim name is set, and the old keys win',
  },
  {chart: 'agent-job', in: '<=0.5.63', path: 'serviceAccount.labels', because: 'no template reads it'},
  {chart: 'agent-job', in: '<=0.5.63', path: 'workerPodAnnotations', because: 'no template reads it'},
  {chart: 'agent-job', in: '<=0.5.63', path: 'persistence.emptyDir.sizeLimit', because: 'no template reads it'},
  {chart: 'agent-job', in: '<=0.5.63', path: 'workerNodeSelector', because: 'it is rendered on the Job instead of the pod'},
  {chart: 'agent-job', in: '<=0.5.63', path: 'workerTolerations', because: 'it is rendered on the Job instead of the pod'},
  {chart: 'agent-job', in: '>=0.5.64', path: 'persistence.data.persistentVolumeClaim.subPath', because: 'no template reads it'},
  {
    chart: 'agent-job',
    in: '0.5.64 - 0.5.66',
    path: 'persistence.data.persistentVolumeClaim.accessMode',
    because: 'the template of this version has it fixed',
  },
  {
    chart: 'agent-job',
    in: '>=0.6.2',
    path: 'persistence.cache.hostPath.path',
    unless: is('persistence.cache.enabled', true),
    because: 'the cache is not persistent',
    instead: 'persistence.cache.enabled: true',
  },
  ...['httpProxy', 'httpsProxy', 'noProxy'].map((key) => ({
    chart: 'agent-job' as const,
    in: '>=0.5.64',
    path: `global.proxy.${key}`,
    unless: is('global.proxy.enabled', true),
    because: 'nothing is exported unless the proxy is enabled',
    instead: 'global.proxy.enabled: true',
  })),
  {
    chart: 'agent-job',
    in: '>=0.5.64',
    path: 'otel.endpoint',
    unless: is('otel.enabled', true),
    because: 'nothing is exported unless telemetry is enabled',
    instead: 'otel.enabled: true',
  },
];
