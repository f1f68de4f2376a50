import type {RawFlags} from '../support/settings-from.ts';

export const K = {chart: 'agent-k8s', cloud: 'other'};
export const L = {chart: 'agent-local'};
export const J = {chart: 'agent-job'};
export const SHARED = {cache: 'pvc', 'cache-storage-class': 'efs'};

/** Each rule with a case that breaks it and the nearest one that does not. */
export const RULES: readonly [code: string, breaks: RawFlags, holds: RawFlags][] = [
  ['REQUEST_ABOVE_LIMIT', {...L, 'run-memory-request': '4Gi'}, {...L, 'run-memory-request': '2Gi'}],
  [
    'EFS_OFF_AWS',
    {...K, cloud: 'gke', cache: 'efs', 'efs-handle': 'fs-0123456789abcdef0'},
    {...K, cloud: 'eks', cache: 'efs', 'efs-handle': 'fs-0123456789abcdef0'},
  ],
  ['REQUEST_ABOVE_LIMIT', {...K, 'run-cpu-request': '9'}, {...K, 'run-cpu-request': '8'}],
  [
    'REQUEST_ABOVE_LIMIT',
    {...J, 'controller-memory-limit': '128Mi'},
    {...J, 'controller-memory-limit': '128Mi', 'controller-memory-request': '128Mi'},
  ],
  [
    'REQUEST_ABOVE_LIMIT',
    {...K, 'controller-cpu-limit': '200m'},
    {...K, 'controller-cpu-limit': '250m'},
  ],
  ['GRACE_PERIOD_TOO_SHORT', {...L, 'grace-period': '29'}, {...L, 'grace-period': '30'}],
  [
    'GRACE_PERIOD_TOO_SHORT',
    {...L, 'shutdown-mode': 'drain', 'grace-period': '119'},
    {...L, 'shutdown-mode': 'drain', 'grace-period': '120'},
  ],
  ['GRACE_PERIOD_TOO_SHORT', {...K, 'grace-period': '89'}, {...K, 'grace-period': '90'}],
  [
    'GRACE_PERIOD_TOO_SHORT',
    {...K, set: ['agent.worker_drain_timeout=7200']},
    {...K, set: ['agent.worker_drain_timeout=3000']},
  ],
  [
    'SHORT_DRAIN',
    {...L, 'shutdown-mode': 'drain', 'grace-period': '10m'},
    {...L, 'shutdown-mode': 'drain', 'grace-period': '1h'},
  ],
  [
    'PVC_NOT_SHARED',
    {...L, ...SHARED, concurrency: '2', 'cache-access-mode': 'ReadWriteOnce'},
    {...L, ...SHARED, concurrency: '2'},
  ],
  [
    'PVC_NOT_SHARED',
    {...J, 'cache-claim': 'c', 'cache-access-mode': 'ReadWriteOnce'},
    {...J, 'cache-claim': 'c', 'cache-access-mode': 'ReadWriteMany'},
  ],
  ['PVC_MUST_BE_SHARED', {...L, 'cache-claim': 'c', concurrency: '2'}, {...L, 'cache-claim': 'c'}],
  [
    'PVC_MUST_BE_SHARED',
    {...J, 'cache-claim': 'c'},
    {...J, 'cache-claim': 'c', 'cache-access-mode': 'ReadWriteMany'},
  ],
  ...[K, L, J].flatMap((chart): [string, RawFlags, RawFlags][] => [
    [
      'AGENT_VERSION',
      {...chart, 'agent-image': 'scalr/agent:1.3.0'},
      {...chart, 'agent-image': 'scalr/agent:1.4.0'},
    ],
    [
      'AGENT_VERSION',
      {...chart, 'agent-image': 'mirror.example.com/scalr/agent:1.3.0'},
      {...chart, 'agent-image': 'team/agent:1.3.0'},
    ],
  ]),
  [
    'DIRECTORIES_COLLIDE',
    {...L, 'data-home': '/var/lib/scalr-agent/cache'},
    {...L, 'data-home': '/var/lib/scalr-agent/work'},
  ],
  [
    'DEFAULT_SERVICE_ACCOUNT',
    {...L, 'workload-identity': 'eks-pod-identity'},
    {...L, 'workload-identity': 'eks-pod-identity', 'service-account-name': 'a'},
  ],
  [
    'WATCHED_DIRECTORY',
    {...K, cloud: 'gke', 'data-home': '/home/kubernetes/flexvolume/x'},
    {...K, cloud: 'gke'},
  ],
  ['UNKNOWN_NODES', {chart: 'agent-k8s'}, K],
  [
    'NOEXEC_DIRECTORY',
    {...K, 'node-os': 'cos', 'data-home': '/var/lib/x'},
    {...K, 'node-os': 'cos'},
  ],
  [
    'NOEXEC_DIRECTORY',
    {...J, cloud: 'gke', 'cache-path': '/mnt/disks/x'},
    {...J, cloud: 'gke', 'cache-path': '/mnt/disks/ssd0/x'},
  ],
  [
    'HOSTPATH_FORBIDDEN',
    {...J, cache: 'hostpath', cloud: 'gke-autopilot'},
    {...J, cache: 'hostpath', cloud: 'gke'},
  ],
  ['PREPARE_DIRECTORY', {...J, cache: 'hostpath'}, {...J, cache: 'ephemeral'}],
  [
    'CACHES_LARGER_THAN_VOLUME',
    {...J, ...SHARED, 'cache-size': '40Gi', set: ['agent.providerCache.sizeLimit=40Gi']},
    {...J, ...SHARED, 'cache-size': '40Gi'},
  ],
  [
    'CACHES_LARGER_THAN_VOLUME',
    {...J, 'provider-cache': true},
    {...J, 'provider-cache': true, 'cache-size': '45Gi'},
  ],
  [
    'CACHES_LARGER_THAN_VOLUME',
    {...J, ...SHARED, 'cache-size': '20Gi', set: ['agent.providerCache.sizeLimit=25Gi']},
    {...J, ...SHARED, 'cache-size': '20Gi', set: ['agent.providerCache.sizeLimit=15Gi']},
  ],
  ['CACHES_NEED_SPACE', {...J, 'cache-claim': 'c'}, {...J, ...SHARED}],
  [
    'CACHES_NEED_SPACE',
    {...J, cache: 'hostpath'},
    {...J, cache: 'hostpath', 'provider-cache': false, 'module-cache': false},
  ],
  [
    'CACHES_OFF',
    {...J, ...SHARED, 'provider-cache': false, 'module-cache': false},
    {...J, ...SHARED, 'module-cache': false},
  ],
  ['CACHES_OFF', {...J, set: ['persistence.cache.enabled=true']}, {...J, ...SHARED}],
  ['SHORT_GRACE_PERIOD', {...J, 'grace-period': '119'}, {...J, 'grace-period': '120'}],
  [
    'TWO_DISRUPTION_BOUNDS',
    {...J, set: ['task.podDisruptionBudget.minAvailable=1']},
    {...J, set: ['task.podDisruptionBudget={"minAvailable":1,"maxUnavailable":null}']},
  ],
  [
    'TWO_DISRUPTION_BOUNDS',
    {...J, set: ['task.podDisruptionBudget.minAvailable=1']},
    {...J, set: ['task.podDisruptionBudget.minAvailable=0']},
  ],
  [
    'PDB_NOT_RENDERED',
    {...J, 'chart-version': '0.6.2', set: ['agent.replicaCount=2']},
    {...J, set: ['agent.replicaCount=2']},
  ],
  [
    'PDB_NOT_RENDERED',
    {...J, 'chart-version': '0.6.2', 'controller-replicas': '2'},
    {...J, 'controller-replicas': '2'},
  ],
  [
    'SHARED_WORKSPACE',
    {...J, set: ['persistence.data.enabled=true']},
    {...J, set: ['persistence.data.enabled=true'], concurrency: '1'},
  ],
  ['POLICY_WITHOUT_DNS', {...J, 'chart-version': '0.5.68'}, {...J, 'chart-version': '0.5.69'}],
  [
    'POLICY_WITHOUT_DNS',
    {...L, 'chart-version': '0.5.66'},
    {...L, 'chart-version': '0.5.67', 'metadata-service': 'block'},
  ],
  [
    'METADATA_BLOCKED',
    {...L, 'chart-version': '0.5.66'},
    {...L, 'chart-version': '0.5.66', 'metadata-service': 'block'},
  ],
  ['NEEDS_KUBERNETES_1_35', {...J, 'chart-version': '0.5.69'}, {...J, 'chart-version': '0.5.68'}],
  ['NEEDS_EGRESS', {...J, 'chart-version': '0.5.67'}, {...J, 'chart-version': '0.5.66'}],
  ['RUNS_WITHOUT_MEMORY', {...J, 'chart-version': '0.5.63'}, {...J, 'chart-version': '0.5.62'}],
  [
    'METADATA_NEEDED',
    {...J, 'workload-identity': 'gke', 'metadata-service': 'block'},
    {...J, 'workload-identity': 'gke'},
  ],
  [
    'METADATA_NEEDED',
    {...K, 'workload-identity': 'gke', 'metadata-service': 'block'},
    {...L, 'chart-version': '0.5.66', 'workload-identity': 'gke'},
  ],
  [
    'POLICY_AGAINST_CLOUD_DNS',
    {...J, cloud: 'gke'},
    {...J, cloud: 'gke', 'metadata-service': 'allow'},
  ],
  [
    'SCALR_BYPASSES_PROXY',
    {...J, 'https-proxy': 'http://proxy:3128', 'no-proxy': ['.scalr.io']},
    {...J, 'https-proxy': 'http://proxy:3128', 'no-proxy': ['.corp.example']},
  ],
  ['POLICY_ENFORCEMENT', {...J, cloud: 'eks', 'metadata-service': 'block'}, {...J, cloud: 'eks'}],
  [
    'IDENTITY_INCOMPLETE',
    {...L, 'workload-identity': 'irsa'},
    {
      ...L,
      'workload-identity': 'irsa',
      'service-account-annotation': ['eks.amazonaws.com/role-arn=x'],
    },
  ],
  ['SHARED_PVC_WITHOUT_CLASS', {...J, cache: 'pvc'}, {...J, ...SHARED}],
  [
    'VARIABLE_HAS_SETTING',
    {...L, 'extra-env': ['HTTP_PROXY=x']},
    {...L, 'http-proxy': 'http://x:1', 'https-proxy': 'http://x:1'},
  ],
  [
    'PVC_NOT_SHARED',
    {...L, 'cache-claim': 'c', concurrency: '2', 'cache-access-mode': 'ReadWriteOnce'},
    {...L, 'cache-claim': 'c', 'cache-access-mode': 'ReadWriteOnce'},
  ],
  [
    'TWO_DISRUPTION_BOUNDS',
    {...J, set: ['agent.replicaCount=2', 'agent.podDisruptionBudget.maxUnavailable=1']},
    {...J, set: ['agent.podDisruptionBudget.maxUnavailable=1']},
  ],
  [
    'SHARED_WORKSPACE',
    {...L, concurrency: '2', set: ['persistence.data.enabled=true']},
    {...L, set: ['persistence.data.enabled=true']},
  ],
  ['ROLLING_UPDATE_BLOCKED', {...L, set: ['persistence.cache.enabled=true']}, {...L, cache: 'pvc'}],
  [
    'LEGACY_KEY_PRECEDENCE',
    {...L, cache: 'pvc', set: ['persistence.enabled=true']},
    {...L, cache: 'pvc'},
  ],
  [
    'BREAKS_TEMPLATES',
    {...J, 'chart-version': '0.5.65', set: ['agent.podLabels.a=b']},
    {...J, 'chart-version': '0.5.68', set: ['agent.podLabels.a=b']},
  ],
  [
    'BREAKS_TEMPLATES',
    {...J, 'chart-version': '0.5.70', set: ['global.labels.a=b']},
    {...J, 'chart-version': '0.6.1', set: ['global.labels.a=b']},
  ],
  [
    'BREAKS_TEMPLATES',
    {...J, set: ['task.runner.image.tag=']},
    {...J, set: ['task.runner.image.tag=0.2.1']},
  ],
  [
    'BREAKS_TEMPLATES',
    {...K, set: ['agent.ca_cert=-----BEGIN\nX']},
    {...K, set: ['agent.ca_cert=/etc/ca.pem']},
  ],
  [
    'BREAKS_TEMPLATES',
    {
      ...L,
      'chart-version': '0.6.1',
      cache: 'pvc',
      set: ['persistence.cache.persistentVolumeClaim.storageClassName=-'],
    },
    {
      ...L,
      'chart-version': '0.6.2',
      cache: 'pvc',
      set: ['persistence.cache.persistentVolumeClaim.storageClassName=-'],
    },
  ],
  [
    'METADATA_NEEDED',
    {...J, 'workload-identity': 'gke', set: ['task.allowMetadataService=false']},
    {...J, 'workload-identity': 'gke'},
  ],
  [
    'WATCHED_DIRECTORY',
    {...K, cloud: 'gke', set: ['agent.data_home=/home/kubernetes/flexvolume/x']},
    {...K, cloud: 'gke'},
  ],
  ['OPENSHIFT_SCC', {...J, cloud: 'openshift'}, {...J, cloud: 'other'}],
  ['OPENSHIFT_SCC', {...L, cloud: 'openshift'}, {...L, cloud: 'other'}],
  ['OPENSHIFT_SCC', {...K, cloud: 'openshift'}, K],
];
