import type {Chart} from '../define.ts';

/** Environment variables that the templates of agent-local set themselves or refuse (rendered from every release). */
export const ownVariables: Chart['ownVariables'] = [
  ...[
    'NAME',
    'DRIVER',
    'CONCURRENCY',
    'DISCONNECT_ON_STOP',
    'WORKER_ON_STOP_ACTION',
    'WORKER_GRACE_SHUTDOWN_TIMEOUT',
    'WORKER_DRAIN_TIMEOUT',
    'DATA_DIR',
    'TOKEN',
  ].map((name) => ({name: `SCALR_AGENT_${name}`})),
  {name: 'SCALR_URL'},
  {name: 'SCALR_AGENT_CACHE_DIR', in: '>=0.5.64'},
  {name: 'SCALR_AGENT_CA_CERT', in: '>=0.6.1'},
  {name: 'SSL_CERT_FILE', in: '>=0.6.1'},
  {name: 'SCALR_AGENT_TLS_CERT_FILE', in: '0.5.73 - 0.5.74 || >=0.6.1'},
  {name: 'SCALR_AGENT_TLS_KEY_FILE', in: '0.5.73 - 0.5.74 || >=0.6.1'},
  {name: 'SCALR_AGENT_PROVIDER_NETWORK_MIRRORS', in: '>=0.6.4'},
];
