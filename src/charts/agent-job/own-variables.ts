import type {Chart} from '../define.ts';
import {MUTUAL_TLS, NESTED} from './versions.ts';

/** Environment variables that the templates of agent-job set themselves (rendered from every release). */
export const ownVariables = collect();

function collect(): Chart['ownVariables'] {
  const named = (range: string, ...names: string[]) => names.map((name) => ({name, in: range}));
  return [
    ...named('*', 'SCALR_URL', 'SCALR_AGENT_TOKEN', 'SCALR_AGENT_NAME', 'SCALR_AGENT_DATA_DIR', 'SCALR_AGENT_DRIVER'),
    ...named(
      NESTED,
      'HTTP_PROXY',
      'HTTPS_PROXY',
      'NO_PROXY',
      'SSL_CERT_FILE',
      'SCALR_AGENT_CA_CERT',
      'SCALR_AGENT_CACHE_DIR',
      'SCALR_AGENT_DEBUG',
      'SCALR_AGENT_LOG_FORMAT',
      'SCALR_AGENT_KUBERNETES_MODE',
      'SCALR_AGENT_OTLP_ENDPOINT',
      'SCALR_AGENT_OTLP_METRICS_ENABLED',
      'SCALR_AGENT_OTLP_TRACES_ENABLED',
      'SCALR_AGENT_PROVIDER_CACHE_ENABLED',
      'SCALR_AGENT_PROVIDER_CACHE_SIZE_LIMIT_MB',
      'SCALR_AGENT_WORKER_DRAIN_TIMEOUT',
      'SCALR_AGENT_WORKER_GRACE_SHUTDOWN_TIMEOUT',
      'SCALR_AGENT_WORKER_ON_STOP_ACTION',
    ),
    ...named('0.5.64 - 0.5.65', 'SCALR_AGENT_DISCONNECT_ON_STOP'),
    ...named('0.5.64 - 0.5.67', 'SCALR_AGENT_KUBERNETES_JOB_TEMPLATE'),
    ...named('0.5.64 - 0.5.68', 'SCALR_AGENT_CONTAINER_TASK_SCHEDULING_TIMEOUT'),
    ...named('>=0.5.65', 'SCALR_AGENT_MODULE_CACHE_ENABLED', 'SCALR_AGENT_MODULE_CACHE_SIZE_LIMIT_MB'),
    ...named('>=0.5.66', 'SCALR_AGENT_STATE_PERSISTENCE_ENABLED'),
    ...named('>=0.5.68', 'SCALR_AGENT_KUBERNETES_TASK_TEMPLATE'),
    ...named('>=0.5.69', 'SCALR_AGENT_KUBERNETES_TASK_STARTUP_TIMEOUT_SECONDS'),
    ...named(
      '>=0.5.74',
      'SCALR_AGENT_MEMORY_MONITOR_ENABLED',
      'SCALR_AGENT_MEMORY_MONITOR_SOFT_LIMIT_PERCENT',
      'SCALR_AGENT_MEMORY_MONITOR_WARN_PERCENT',
      'SCALR_AGENT_SENTRY_DSN',
      'SCALR_AGENT_MODULE_CACHE_CONCURRENCY',
      'SCALR_AGENT_PROVIDER_CACHE_CONCURRENCY',
      'SCALR_AGENT_PROVIDER_CACHE_DROP_KERNEL_PAGES',
    ),
    ...named(MUTUAL_TLS, 'SCALR_AGENT_TLS_CERT_FILE', 'SCALR_AGENT_TLS_KEY_FILE'),
    ...named('>=0.6.2', 'SCALR_AGENT_BINARY_CACHE_SIZE_LIMIT_MB', 'SCALR_AGENT_BINARY_CACHE_THRESHOLD_DAYS'),
    ...named('>=0.6.4', 'SCALR_AGENT_PROVIDER_NETWORK_MIRRORS'),
  ];
}
