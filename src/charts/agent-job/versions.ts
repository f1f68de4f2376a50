import {at, getAt, isOn, type Values} from '../../ground/tree.ts';
import {agentImage, runnerImage} from '../../settings/images.ts';
import type {Chart, ChartContainer} from '../shared/chart.ts';
import {variablesIn} from '../shared/chart.ts';
import {
  annotationsWithoutAccount,
  CLAIM_KEYS,
  ignoredWithoutSecret,
  ignoredWithoutSwitch,
  labelsWithoutAccount,
  mountOptionsWithoutEfs,
} from '../shared/ignored-keys.ts';
import {FLAT, JOB_TEMPLATE, MUTUAL_TLS, NESTED, TASK_TEMPLATES} from './ranges.ts';

/** Environment variables that the templates of agent-job set themselves (rendered from every release). */
export const ownVariables = variablesIn({
  '*': 'SCALR_URL SCALR_AGENT_TOKEN SCALR_AGENT_NAME SCALR_AGENT_DATA_DIR SCALR_AGENT_DRIVER',
  [NESTED]: `HTTP_PROXY HTTPS_PROXY NO_PROXY SSL_CERT_FILE SCALR_AGENT_CA_CERT SCALR_AGENT_CACHE_DIR SCALR_AGENT_DEBUG
    SCALR_AGENT_LOG_FORMAT SCALR_AGENT_KUBERNETES_MODE SCALR_AGENT_OTLP_ENDPOINT SCALR_AGENT_OTLP_METRICS_ENABLED
    SCALR_AGENT_OTLP_TRACES_ENABLED SCALR_AGENT_PROVIDER_CACHE_ENABLED SCALR_AGENT_PROVIDER_CACHE_SIZE_LIMIT_MB
    SCALR_AGENT_WORKER_DRAIN_TIMEOUT SCALR_AGENT_WORKER_GRACE_SHUTDOWN_TIMEOUT SCALR_AGENT_WORKER_ON_STOP_ACTION`,
  '0.5.64 - 0.5.65': 'SCALR_AGENT_DISCONNECT_ON_STOP',
  [JOB_TEMPLATE]: 'SCALR_AGENT_KUBERNETES_JOB_TEMPLATE',
  '0.5.64 - 0.5.68': 'SCALR_AGENT_CONTAINER_TASK_SCHEDULING_TIMEOUT',
  '>=0.5.65': 'SCALR_AGENT_MODULE_CACHE_ENABLED SCALR_AGENT_MODULE_CACHE_SIZE_LIMIT_MB',
  '>=0.5.66': 'SCALR_AGENT_STATE_PERSISTENCE_ENABLED',
  [TASK_TEMPLATES]: 'SCALR_AGENT_KUBERNETES_TASK_TEMPLATE',
  '>=0.5.69': 'SCALR_AGENT_KUBERNETES_TASK_STARTUP_TIMEOUT_SECONDS',
  '>=0.5.74': `SCALR_AGENT_MEMORY_MONITOR_ENABLED SCALR_AGENT_MEMORY_MONITOR_SOFT_LIMIT_PERCENT
    SCALR_AGENT_MEMORY_MONITOR_WARN_PERCENT SCALR_AGENT_SENTRY_DSN SCALR_AGENT_MODULE_CACHE_CONCURRENCY
    SCALR_AGENT_PROVIDER_CACHE_CONCURRENCY SCALR_AGENT_PROVIDER_CACHE_DROP_KERNEL_PAGES`,
  [MUTUAL_TLS]: 'SCALR_AGENT_TLS_CERT_FILE SCALR_AGENT_TLS_KEY_FILE',
  '>=0.6.2': 'SCALR_AGENT_BINARY_CACHE_SIZE_LIMIT_MB SCALR_AGENT_BINARY_CACHE_THRESHOLD_DAYS',
  '>=0.6.4': 'SCALR_AGENT_PROVIDER_NETWORK_MIRRORS',
});

/** Extra variables of each container (templates/agent.yaml and task.yaml). */
export const containers: readonly ChartContainer[] = [
  {name: 'controller', in: FLAT, extraEnv: ['extraEnv']},
  {name: 'controller', in: NESTED, extraEnv: ['agent.extraEnv', 'agent.controller.extraEnv']},
  {name: 'worker', in: NESTED, extraEnv: ['agent.extraEnv', 'task.worker.extraEnv']},
  {
    name: 'runner',
    in: NESTED,
    extraEnv: ['task.runner.extraEnv'],
    own: new Set(['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'SSL_CERT_FILE', 'SCALR_AGENT_CA_CERT']),
  },
];

/** The images of each container; the entrypoint of runs is mounted from the image of the agent. */
export const images: Chart['images'] = [
  {used: 'controller', setting: agentImage, in: FLAT, maps: ['controller.image']},
  {used: 'worker', setting: agentImage, in: FLAT, maps: ['worker.image']},
  {used: 'runner', setting: runnerImage, in: FLAT, maps: ['worker.runner.image']},
  {used: 'controller', setting: agentImage, in: NESTED, maps: ['agent.image']},
  {used: 'worker', setting: agentImage, in: NESTED, maps: ['task.worker.image', 'agent.image']},
  {used: 'entrypoint of runner', setting: agentImage, in: '>=0.5.69', maps: ['agent.image']},
  {used: 'runner', setting: runnerImage, in: NESTED, maps: ['task.runner.image']},
];

const NO_TELEMETRY = 'telemetry is exported only if it is enabled';
const CACHES = ['providerCache', 'moduleCache'] as const;

export const ignoredKeys: Chart['ignoredKeys'] = [
  annotationsWithoutAccount,
  {...labelsWithoutAccount, in: NESTED},
  ...['serviceAccount.labels', 'workerPodAnnotations', 'persistence.emptyDir.sizeLimit'].map(
    (path) => ({
      in: FLAT,
      path,
      because: 'no template reads it',
    }),
  ),
  ...['workerNodeSelector', 'workerTolerations'].map((path) => ({
    path,
    because: 'it is set on the Job instead of the pod',
  })),
  ...ignoredWithoutSwitch('persistence.enabled', {
    below: 'persistence.persistentVolumeClaim',
    keys: [...CLAIM_KEYS, 'subPath'],
    because: 'the cache is not persistent',
  }),
  {
    path: 'secret.annotations',
    unless: (values) => isOn(values, 'persistence.enabled'),
    because: 'only a new PVC gets them',
  },
  mountOptionsWithoutEfs,
  {
    path: 'persistence.data.persistentVolumeClaim.subPath',
    because: 'no template reads it',
  },
  {
    in: '0.5.64 - 0.5.66',
    path: 'persistence.data.persistentVolumeClaim.accessMode',
    because: 'this version uses a fixed value',
  },
  ...ignoredWithoutSwitch('persistence.data.enabled', {
    below: 'persistence.data.persistentVolumeClaim',
    keys: ['storageClassName', 'storage'],
    because: 'the data volume is not persistent',
  }),
  ...ignoredWithoutSwitch('persistence.data.enabled', {
    in: '>=0.5.67',
    below: 'persistence.data.persistentVolumeClaim',
    keys: ['accessMode'],
    because: 'the data volume is not persistent',
  }),
  ...ignoredWithoutSwitch('persistence.cache.enabled', {
    below: 'persistence.cache.persistentVolumeClaim',
    keys: [...CLAIM_KEYS, 'subPath'],
    because: 'the cache is not persistent',
  }),
  ...ignoredWithoutSwitch('persistence.cache.enabled', {
    below: 'persistence.cache.hostPath',
    keys: ['path', 'type'],
    because: 'the cache is not persistent',
  }),
  ...CACHES.flatMap((cache) =>
    ignoredWithoutSwitch(`agent.${cache}.enabled`, {
      below: `agent.${cache}`,
      keys: ['sizeLimit', 'concurrency'],
      because: 'this cache is off',
    }),
  ),
  ...ignoredWithoutSwitch('global.proxy.enabled', {
    below: 'global.proxy',
    keys: ['httpProxy', 'httpsProxy', 'noProxy'],
    because: 'proxy variables are set only if the proxy is enabled',
  }),
  ...ignoredWithoutSwitch('otel.enabled', {
    below: 'otel',
    keys: ['endpoint'],
    because: NO_TELEMETRY,
  }),
  ...['otel.metricsEnabled', 'otel.tracesEnabled'].map((path) => ({
    path,
    unless: (values: Values) => isOn(values, 'otel.enabled') || !isOn(values, path),
    because: NO_TELEMETRY,
    instead: 'otel.enabled: true',
  })),
  ...['minAvailable', 'maxUnavailable'].map((bound) => ({
    path: `agent.podDisruptionBudget.${bound}`,
    unless: (values: Values) =>
      Number(getAt(values, at('agent.replicaCount'))) > 1 ||
      getAt(values, at(`agent.podDisruptionBudget.${bound}`)) === undefined,
    because: 'with one controller, the chart creates no PodDisruptionBudget',
    instead: 'agent.replicaCount: 2',
  })),
  ...ignoredWithoutSecret({
    below: 'global.tls.caBundleSecret',
    keys: ['key'],
    read: ['global.tls.caBundleSecret.name', 'global.tls.caBundle'],
  }),
  ...ignoredWithoutSecret({
    below: 'global.tls.clientCertSecret',
    keys: ['certKey', 'keyKey'],
    read: ['global.tls.clientCertSecret.name', 'global.tls.clientCert'],
  }),
  ...ignoredWithoutSecret({
    below: 'task.worker.image',
    keys: ['tag', 'pullPolicy'],
    read: ['task.worker.image.repository'],
    instead: 'agent.image',
  }),
];

export const kubernetesFloors: Chart['kubernetesFloors'] = [
  {
    in: '0.5.64 - 0.5.68',
    version: '1.33',
    isHard: false,
    because: 'documented in the chart README, but not enforced',
  },
  {
    in: '>=0.5.69',
    version: '1.35',
    isHard: true,
    because: 'runs mount the agent image as a volume, which requires Kubernetes 1.35',
  },
];
