import type {Named} from './rule-cases.ts';

/** Deliberate mistakes by class: version, file, and the key that a finding has to name. */
export type Mistake = readonly [name: Named, text: string, path: string];

const LOCAL = 'local 0.6.5';
const JOB = 'job 0.6.5';
const K8S = 'k8s 0.6.5';

/** Every place for variables of the agent, with what makes a map or a list item of a name and a value. */
const VARIABLES: readonly [
  Named,
  path: string,
  (name: string, value: string) => string,
  at: (name: string) => string,
][] = [
  [
    LOCAL,
    'extraEnv',
    (name, value) => `extraEnv: {${name}: ${value}}`,
    (name) => `extraEnv.${name}`,
  ],
  [K8S, 'extraEnv', (name, value) => `extraEnv: {${name}: ${value}}`, (name) => `extraEnv.${name}`],
  [
    'job 0.5.63',
    'extraEnv',
    (name, value) => `extraEnv: {${name}: ${value}}`,
    (name) => `extraEnv.${name}`,
  ],
  [
    JOB,
    'agent.extraEnv',
    (name, value) => `agent: {extraEnv: {${name}: ${value}}}`,
    (name) => `agent.extraEnv.${name}`,
  ],
  [
    JOB,
    'agent.controller.extraEnv',
    (name, value) => `agent: {controller: {extraEnv: [{name: ${name}, value: ${value}}]}}`,
    () => 'agent.controller.extraEnv[0].value',
  ],
  [
    JOB,
    'task.worker.extraEnv',
    (name, value) => `task: {worker: {extraEnv: {${name}: ${value}}}}`,
    (name) => `task.worker.extraEnv.${name}`,
  ],
];

/** A variable of the agent and a value that it cannot take. */
const WRONG_VARIABLES: readonly [name: string, value: string][] = [
  ['SCALR_AGENT_DEBUG', '"verbose"'],
  ['SCALR_AGENT_LOG_FORMAT', '"text"'],
  ['SCALR_AGENT_HOOKS_DIR', '"hooks"'],
  ['SCALR_AGENT_MODULE_CACHE_ENABLED', '"enable"'],
  ['SCALR_AGENT_MODULE_CACHE_SIZE_LIMIT_MB', '"40Gi"'],
  ['SCALR_AGENT_MODULE_CACHE_CONCURRENCY', '"0"'],
  ['SCALR_AGENT_PROVIDER_CACHE_CONCURRENCY', '"-1"'],
  ['SCALR_AGENT_PROVIDER_CACHE_ENABLED', '"ja"'],
  ['SCALR_AGENT_PROVIDER_CACHE_SIZE_LIMIT_MB', '"-40"'],
  ['SCALR_AGENT_BINARY_CACHE_SIZE_LIMIT_MB', '"5GB"'],
  ['SCALR_AGENT_BINARY_CACHE_THRESHOLD_DAYS', '"10d"'],
  ['SCALR_AGENT_OTLP_ENDPOINT', '"otel-collector"'],
  ['SCALR_AGENT_OTLP_METRICS_ENABLED', '"maybe"'],
  ['SCALR_AGENT_OTLP_TRACES_ENABLED', '"2"'],
  ['SCALR_AGENT_SENTRY_DSN', '"sentry.example.com"'],
  ['SCALR_AGENT_SINGLE', '"once"'],
  ['SCALR_AGENT_STATE_PERSISTENCE_ENABLED', '"never"'],
  ['SCALR_AGENT_MEMORY_MONITOR_SOFT_LIMIT_PERCENT', '"180"'],
  ['SCALR_AGENT_WORKER_DRAIN_TIMEOUT', '"1h"'],
  ['SCALR_AGENT_CONTAINER_TASK_SCHEDULING_TIMEOUT', '"two minutes"'],
  ['SCALR_AGENT_CONTAINER_TASK_MEM_LIMIT', '"16Gi"'],
  ['SCALR_AGENT_CA_CERT', '"certs/ca.pem"'],
  ['HTTP_PROXY', '"proxy:port"'],
  ['HTTPS_PROXY', '"socks5//proxy:1080"'],
  ['NO_PROXY', '"localhost;.svc"'],
];

const ofVariables: Mistake[] = VARIABLES.flatMap(([name, , write, at]) =>
  WRONG_VARIABLES.map(([variable, value]): Mistake => [name, write(variable, value), at(variable)]),
);

/** Names that no agent reads, although one like it exists. */
const MISNAMED = [
  'SCALR_AGENT_DEBG',
  'SCALR_DEBUG',
  'SCALR_AGENT_PROVIDER_CACHE_ENABLE',
  'scalr_agent_debug',
];

const ofNames: Mistake[] = VARIABLES.flatMap(([name, path, write, at]) =>
  MISNAMED.map(
    (variable): Mistake => [
      name,
      write(variable, '"1"'),
      path.endsWith('controller.extraEnv') ? 'agent.controller.extraEnv[0].name' : at(variable),
    ],
  ),
);

const counts: Mistake[] = [
  [LOCAL, 'replicaCount: 0', 'replicaCount'],
  [LOCAL, 'replicaCount: -1', 'replicaCount'],
  [LOCAL, 'terminationGracePeriodSeconds: 0', 'terminationGracePeriodSeconds'],
  [
    LOCAL,
    'persistence: {cache: {emptyDir: {sizeLimit: 0}}}',
    'persistence.cache.emptyDir.sizeLimit',
  ],
  [
    LOCAL,
    'persistence: {data: {emptyDir: {sizeLimit: 0Gi}}}',
    'persistence.data.emptyDir.sizeLimit',
  ],
  [LOCAL, 'resources: {limits: {cpu: 0}}', 'resources.limits.cpu'],
  [LOCAL, 'resources: {limits: {memory: "0"}}', 'resources.limits.memory'],
  [LOCAL, 'resources: {limits: {memory: -1Gi}}', 'resources.limits.memory'],
  [JOB, 'agent: {replicaCount: 0}', 'agent.replicaCount'],
  [JOB, 'agent: {replicaCount: -2}', 'agent.replicaCount'],
  [JOB, 'agent: {providerCache: {enabled: true, sizeLimit: 0Gi}}', 'agent.providerCache.sizeLimit'],
  [JOB, 'agent: {moduleCache: {sizeLimit: 0M}}', 'agent.moduleCache.sizeLimit'],
  [JOB, 'agent: {binaryCache: {sizeLimit: 0Gi}}', 'agent.binaryCache.sizeLimit'],
  [JOB, 'agent: {binaryCache: {thresholdDays: 0}}', 'agent.binaryCache.thresholdDays'],
  [JOB, 'agent: {binaryCache: {thresholdDays: -3}}', 'agent.binaryCache.thresholdDays'],
  [JOB, 'agent: {providerCache: {concurrency: 0}}', 'agent.providerCache.concurrency'],
  [JOB, 'agent: {moduleCache: {concurrency: -5}}', 'agent.moduleCache.concurrency'],
  [JOB, 'agent: {terminationGracePeriodSeconds: -1}', 'agent.terminationGracePeriodSeconds'],
  [JOB, 'task: {terminationGracePeriodSeconds: 0}', 'task.terminationGracePeriodSeconds'],
  [JOB, 'task: {startupTimeoutSeconds: 0}', 'task.startupTimeoutSeconds'],
  [JOB, 'task: {startupTimeoutSeconds: -60}', 'task.startupTimeoutSeconds'],
  [JOB, 'task: {job: {ttlSecondsAfterFinished: 0}}', 'task.job.ttlSecondsAfterFinished'],
  [JOB, 'task: {job: {ttlSecondsAfterFinished: -1}}', 'task.job.ttlSecondsAfterFinished'],
  [JOB, 'task: {job: {backoffLimit: -1}}', 'task.job.backoffLimit'],
  [JOB, 'task: {runner: {memorySoftLimitPercent: 0}}', 'task.runner.memorySoftLimitPercent'],
  [JOB, 'task: {runner: {memoryWarnPercent: 101}}', 'task.runner.memoryWarnPercent'],
  [JOB, 'serviceAccount: {tokenTTL: 0}', 'serviceAccount.tokenTTL'],
  [JOB, 'task: {runner: {resources: {limits: {cpu: 0m}}}}', 'task.runner.resources.limits.cpu'],
  [
    JOB,
    'persistence: {cache: {enabled: true, persistentVolumeClaim: {storage: 0Gi}}}',
    'persistence.cache.persistentVolumeClaim.storage',
  ],
  ['job 0.5.63', 'replicaCount: 0', 'replicaCount'],
  [K8S, 'agent: {worker_drain_timeout: 0}', 'agent.worker_drain_timeout'],
  [K8S, 'agent: {worker_drain_timeout: -1}', 'agent.worker_drain_timeout'],
  [K8S, 'agent: {grace_shutdown_timeout: 0}', 'agent.grace_shutdown_timeout'],
  [K8S, 'agent: {container_task_scheduling_timeout: 0}', 'agent.container_task_scheduling_timeout'],
  [K8S, 'agent: {container_task_acquire_timeout: 0}', 'agent.container_task_acquire_timeout'],
  [K8S, 'agent: {container_task_cpu_request: -1}', 'agent.container_task_cpu_request'],
  [K8S, 'agent: {container_task_cpu_limit: 0}', 'agent.container_task_cpu_limit'],
  [K8S, 'agent: {container_task_mem_limit: 0}', 'agent.container_task_mem_limit'],
  [K8S, 'agent: {container_task_mem_request: -512}', 'agent.container_task_mem_request'],
  [K8S, 'agent: {gc_plugins_global_size_limit: 0}', 'agent.gc_plugins_global_size_limit'],
  [K8S, 'terminationGracePeriodSeconds: 0', 'terminationGracePeriodSeconds'],
];

const units: Mistake[] = [
  [K8S, 'agent: {container_task_mem_limit: 16Gi}', 'agent.container_task_mem_limit'],
  [K8S, 'agent: {container_task_mem_limit: 16}', 'agent.container_task_mem_limit'],
  [K8S, 'agent: {container_task_mem_limit: 17179869184}', 'agent.container_task_mem_limit'],
  [K8S, 'agent: {container_task_cpu_limit: 8000}', 'agent.container_task_cpu_limit'],
  [K8S, 'agent: {container_task_cpu_limit: 8000m}', 'agent.container_task_cpu_limit'],
  [K8S, 'agent: {container_task_cpu_request: "two"}', 'agent.container_task_cpu_request'],
  [K8S, 'agent: {gc_plugins_global_size_limit: 40Gi}', 'agent.gc_plugins_global_size_limit'],
  [K8S, 'agent: {worker_drain_timeout: 1h}', 'agent.worker_drain_timeout'],
  [
    K8S,
    'agent: {container_task_scheduling_timeout: 2m}',
    'agent.container_task_scheduling_timeout',
  ],
  [K8S, 'terminationGracePeriodSeconds: 1h', 'terminationGracePeriodSeconds'],
  [LOCAL, 'resources: {limits: {cpu: 500}}', 'resources.limits.cpu'],
  [LOCAL, 'resources: {requests: {cpu: 250}}', 'resources.requests.cpu'],
  [LOCAL, 'resources: {limits: {memory: 2048}}', 'resources.limits.memory'],
  [LOCAL, 'resources: {limits: {memory: 2048m}}', 'resources.limits.memory'],
  [LOCAL, 'resources: {limits: {memory: 2GB}}', 'resources.limits.memory'],
  [
    LOCAL,
    'persistence: {cache: {emptyDir: {sizeLimit: 20}}}',
    'persistence.cache.emptyDir.sizeLimit',
  ],
  [
    LOCAL,
    'persistence: {cache: {emptyDir: {sizeLimit: 20GB}}}',
    'persistence.cache.emptyDir.sizeLimit',
  ],
  [
    LOCAL,
    'persistence: {cache: {enabled: true, persistentVolumeClaim: {storage: 20}}}',
    'persistence.cache.persistentVolumeClaim.storage',
  ],
  [LOCAL, 'terminationGracePeriodSeconds: 2m', 'terminationGracePeriodSeconds'],
  [JOB, 'agent: {providerCache: {sizeLimit: 40}}', 'agent.providerCache.sizeLimit'],
  [JOB, 'agent: {providerCache: {sizeLimit: 40GB}}', 'agent.providerCache.sizeLimit'],
  [JOB, 'agent: {providerCache: {sizeLimit: 1.5Gi}}', 'agent.providerCache.sizeLimit'],
  [JOB, 'agent: {binaryCache: {sizeLimit: "5 Gi"}}', 'agent.binaryCache.sizeLimit'],
  [
    JOB,
    'task: {runner: {resources: {requests: {cpu: 500}}}}',
    'task.runner.resources.requests.cpu',
  ],
  [JOB, 'task: {job: {ttlSecondsAfterFinished: 1m}}', 'task.job.ttlSecondsAfterFinished'],
  [JOB, 'task: {runner: {memorySoftLimitPercent: 80%}}', 'task.runner.memorySoftLimitPercent'],
  [JOB, 'task: {startupTimeoutSeconds: 3m}', 'task.startupTimeoutSeconds'],
  [
    JOB,
    'persistence: {cache: {emptyDir: {sizeLimit: 10m}}}',
    'persistence.cache.emptyDir.sizeLimit',
  ],
];

const takenAway: Mistake[] = [
  [JOB, 'serviceAccount: {automountToken: false}', 'serviceAccount.automountToken'],
  [JOB, 'rbac: {create: false}', 'rbac.create'],
  [JOB, 'rbac: {create: false}\nserviceAccount: {create: false}', 'rbac.create'],
  [
    JOB,
    'serviceAccount: {create: false, name: own, automountToken: false}',
    'serviceAccount.automountToken',
  ],
  [JOB, 'rbac: {rules: []}', 'rbac.rules'],
  [JOB, 'rbac: {clusterRules: []}', 'rbac.clusterRules'],
  [
    JOB,
    'rbac: {rules: [{apiGroups: [""], resources: [pods], verbs: [get, list, watch]}]}',
    'rbac.rules',
  ],
  ['job 0.5.63', 'serviceAccount: {create: false}', 'serviceAccount.create'],
  ['job 0.5.63', 'serviceAccount: {automountToken: false}', 'serviceAccount.automountToken'],
  [K8S, 'serviceAccount: {automountToken: false}', 'serviceAccount.automountToken'],
  [K8S, 'serviceAccount: {create: false}', 'serviceAccount.create'],
  [
    JOB,
    'agent: {replicaCount: 2, podDisruptionBudget: {minAvailable: null}}',
    'agent.podDisruptionBudget',
  ],
  [
    JOB,
    'agent: {replicaCount: 2, podDisruptionBudget: {minAvailable: 0}}',
    'agent.podDisruptionBudget',
  ],
  [
    JOB,
    'agent: {replicaCount: 2, podDisruptionBudget: {minAvailable: null, maxUnavailable: 0}}',
    'agent.podDisruptionBudget',
  ],
  [
    JOB,
    'agent: {replicaCount: 2, podDisruptionBudget: {minAvailable: 2}}',
    'agent.podDisruptionBudget.minAvailable',
  ],
  [
    JOB,
    'agent: {replicaCount: 2, podDisruptionBudget: {minAvailable: "100%"}}',
    'agent.podDisruptionBudget.minAvailable',
  ],
  [JOB, 'task: {podDisruptionBudget: {maxUnavailable: null}}', 'task.podDisruptionBudget'],
  [
    JOB,
    'task: {podDisruptionBudget: {maxUnavailable: null, minAvailable: 0}}',
    'task.podDisruptionBudget',
  ],
  [JOB, 'task: {podDisruptionBudget: {minAvailable: 1}}', 'task.podDisruptionBudget'],
  [
    JOB,
    'task: {runner: {securityContext: {runAsUser: 0}}}',
    'task.runner.securityContext.runAsUser',
  ],
  [
    JOB,
    'agent: {extraEnv: {SCALR_AGENT_KUBERNETES_MODE: worker}}',
    'agent.extraEnv.SCALR_AGENT_KUBERNETES_MODE',
  ],
  [LOCAL, 'extraEnv: {SCALR_AGENT_DRIVER: docker}', 'extraEnv.SCALR_AGENT_DRIVER'],
  [LOCAL, 'extraEnv: {SCALR_AGENT_CONCURRENCY: "5"}', 'extraEnv.SCALR_AGENT_CONCURRENCY'],
];

const sizes: Mistake[] = [
  [JOB, 'agent: {providerCache: {enabled: true}}', 'agent.providerCache'],
  [
    JOB,
    'agent: {providerCache: {enabled: true, sizeLimit: 40Gi}}\npersistence: {cache: {enabled: true, persistentVolumeClaim: {storage: 40Gi}}}',
    'agent.providerCache.sizeLimit',
  ],
  [
    JOB,
    'agent: {moduleCache: {enabled: true, sizeLimit: 90Gi}}\npersistence: {cache: {enabled: true}}',
    'agent.moduleCache.sizeLimit',
  ],
  [
    JOB,
    'persistence: {cache: {enabled: true, persistentVolumeClaim: {storage: 2Gi}}}',
    'persistence.cache.persistentVolumeClaim.storage',
  ],
  [
    LOCAL,
    'extraEnv: {SCALR_AGENT_PROVIDER_CACHE_SIZE_LIMIT_MB: "40960"}',
    'extraEnv.SCALR_AGENT_PROVIDER_CACHE_SIZE_LIMIT_MB',
  ],
  [
    LOCAL,
    'extraEnv: {SCALR_AGENT_PROVIDER_CACHE_SIZE_LIMIT_MB: 10000, SCALR_AGENT_MODULE_CACHE_ENABLED: "1", SCALR_AGENT_MODULE_CACHE_SIZE_LIMIT_MB: 10000}\npersistence: {cache: {emptyDir: {sizeLimit: 15Gi}}}',
    'extraEnv.SCALR_AGENT_PROVIDER_CACHE_SIZE_LIMIT_MB',
  ],
];

const addresses: Mistake[] = [
  [JOB, 'agent: {debug: "yes"}', 'agent.debug'],
  [K8S, 'efsVolumeHandle: my-efs', 'efsVolumeHandle'],
  [K8S, 'efsVolumeHandle: fs-xyz', 'efsVolumeHandle'],
  [K8S, 'efsVolumeHandle: fs-0123456789abcdef0.efs.eu-west-1.amazonaws.com', 'efsVolumeHandle'],
  [K8S, 'efsVolumeHandle: "fs-0123456789abcdef0:fsap-0123456789abcdef0"', 'efsVolumeHandle'],
  [K8S, 'efsVolumeHandle: fsap-0123456789abcdef0', 'efsVolumeHandle'],
  [
    'job 0.5.63',
    'efsVolumeHandle: "arn:aws:elasticfilesystem:eu-west-1:1:file-system/fs-01234567"',
    'efsVolumeHandle',
  ],
  [K8S, 'agent: {url: "https://acme.scalr.io/v2/e/env-1"}', 'agent.url'],
  [LOCAL, 'agent: {url: "https://acme..scalr.io"}', 'agent.url'],
  [LOCAL, 'agent: {url: "https://acme.scalr.io:0"}', 'agent.url'],
  [LOCAL, 'agent: {url: "https://acme_corp.scalr.io"}', 'agent.url'],
  [LOCAL, 'agent: {url: "https://user:pw@acme.scalr.io"}', 'agent.url'],
  [LOCAL, 'agent: {url: "https://acme.scalr.io?x=1"}', 'agent.url'],
  [LOCAL, 'agent: {url: " https://acme.scalr.io"}', 'agent.url'],
  [LOCAL, 'agent: {url: "htps://acme.scalr.io"}', 'agent.url'],
  [
    JOB,
    'global: {proxy: {enabled: true, httpProxy: "proxy.example.com"}}',
    'global.proxy.httpProxy',
  ],
  [
    JOB,
    'global: {proxy: {enabled: true, httpsProxy: "socks5://proxy:1080", noProxy: .svc}}',
    'global.proxy.httpsProxy',
  ],
  [
    JOB,
    'global: {proxy: {enabled: true, httpsProxy: "http://proxy:99999", noProxy: .svc}}',
    'global.proxy.httpsProxy',
  ],
  [
    JOB,
    'global: {proxy: {enabled: true, httpsProxy: "http://p:1", noProxy: "http://x,.svc"}}',
    'global.proxy.noProxy',
  ],
  [
    JOB,
    'global: {proxy: {enabled: true, httpsProxy: "http://p:1", noProxy: ".svc .cluster.local"}}',
    'global.proxy.noProxy',
  ],
  [JOB, 'otel: {enabled: true, endpoint: otel-collector}', 'otel.endpoint'],
  [JOB, 'otel: {enabled: true, endpoint: "otel:43170000"}', 'otel.endpoint'],
  [JOB, 'otel: {enabled: true, endpoint: ""}', 'otel.endpoint'],
  [JOB, 'agent: {sentryDsn: "sentry.example.com/1"}', 'agent.sentryDsn'],
  [
    JOB,
    'agent: {providerNetworkMirrors: [{url: mirror.example.com}]}',
    'agent.providerNetworkMirrors[0].url',
  ],
  [
    JOB,
    'agent: {providerNetworkMirrors: [{url: "http://mirror.example.com"}]}',
    'agent.providerNetworkMirrors[0].url',
  ],
  [LOCAL, 'agent: {providerNetworkMirrors: [{url: ""}]}', 'agent.providerNetworkMirrors[0]'],
  [LOCAL, 'image: {repository: "https://registry.example.com/agent"}', 'image.repository'],
  [LOCAL, 'image: {repository: "scalr/agent:1.0"}', 'image.repository'],
  [LOCAL, 'image: {tag: "v 1"}', 'image.tag'],
  [JOB, 'global: {imageRegistry: "registry.example.com/"}', 'global.imageRegistry'],
  [
    K8S,
    'agent: {container_task_image_registry: "https://registry.example.com"}',
    'agent.container_task_image_registry',
  ],
  [
    K8S,
    'agent: {container_task_image_mode: golden, container_task_image: "scalr/runner: 1"}',
    'agent.container_task_image',
  ],
  [
    K8S,
    'agent: {container_task_image_mode: golden, container_task_image: ""}',
    'agent.container_task_image',
  ],
  [
    LOCAL,
    'serviceAccount: {create: true, annotations: {eks.amazonaws.com/role-arn: my-role}}',
    'serviceAccount.annotations.eks.amazonaws.com/role-arn',
  ],
  [
    LOCAL,
    'serviceAccount: {create: true, annotations: {azure.workload.identity/client-id: my-app}}',
    'serviceAccount.annotations.azure.workload.identity/client-id',
  ],
  [
    LOCAL,
    'serviceAccount: {create: true, annotations: {iam.gke.io/gcp-service-account: agent}}',
    'serviceAccount.annotations.iam.gke.io/gcp-service-account',
  ],
];

const placeholders: Mistake[] = [
  [LOCAL, 'agent: {token: "<your-token>"}', 'agent.token'],
  [LOCAL, `agent: {token: "\${SCALR_TOKEN}"}`, 'agent.token'],
  [LOCAL, 'agent: {token: $SCALR_TOKEN}', 'agent.token'],
  [LOCAL, 'agent: {token: "$(SCALR_TOKEN)"}', 'agent.token'],
  [LOCAL, 'agent: {token: "%SCALR_TOKEN%"}', 'agent.token'],
  [LOCAL, 'agent: {token: "{{ .Values.token }}"}', 'agent.token'],
  [LOCAL, 'agent: {token: YOUR_TOKEN}', 'agent.token'],
  [LOCAL, 'agent: {token: "xxxxx"}', 'agent.token'],
  [LOCAL, 'agent: {token: "..."}', 'agent.token'],
  [LOCAL, 'agent: {token: TODO}', 'agent.token'],
  [LOCAL, 'agent: {url: "https://<account>.scalr.io"}', 'agent.url'],
  [LOCAL, `agent: {url: "https://\${ACCOUNT}.scalr.io"}`, 'agent.url'],
  [LOCAL, 'agent: {url: "https://{account}.scalr.io"}', 'agent.url'],
  [LOCAL, 'agent: {url: "https://your-account.scalr.io"}', 'agent.url'],
  [LOCAL, 'image: {repository: "<registry>/scalr/agent"}', 'image.repository'],
  [LOCAL, `image: {tag: "\${TAG}"}`, 'image.tag'],
  [LOCAL, 'extraEnv: {HTTPS_PROXY: "http://<user>:<password>@proxy:3128"}', 'extraEnv.HTTPS_PROXY'],
  [LOCAL, `extraEnv: {TF_TOKEN: "\${TF_TOKEN}"}`, 'extraEnv.TF_TOKEN'],
  [
    LOCAL,
    'extraEnv: {SCALR_AGENT_OTLP_ENDPOINT: "<otel-collector-host>:4317"}',
    'extraEnv.SCALR_AGENT_OTLP_ENDPOINT',
  ],
  [LOCAL, 'podAnnotations: {team: "<team>"}', 'podAnnotations.team'],
  [LOCAL, 'podAnnotations: {"<annotation>": x}', 'podAnnotations.<annotation>'],
  [LOCAL, 'nodeSelector: {pool: "<pool>"}', 'nodeSelector.pool'],
  [
    LOCAL,
    'serviceAccount: {create: true, annotations: {eks.amazonaws.com/role-arn: "arn:aws:iam::<account>:role/<role>"}}',
    'serviceAccount.annotations.eks.amazonaws.com/role-arn',
  ],
  [
    LOCAL,
    'persistence: {cache: {enabled: true, persistentVolumeClaim: {claimName: "<claim>"}}}',
    'persistence.cache.persistentVolumeClaim.claimName',
  ],
  [
    LOCAL,
    `persistence: {cache: {enabled: true, persistentVolumeClaim: {storage: "\${SIZE}"}}}`,
    'persistence.cache.persistentVolumeClaim.storage',
  ],
  [JOB, `global: {imageRegistry: "\${REGISTRY}"}`, 'global.imageRegistry'],
  [JOB, 'global: {imagePullSecrets: [{name: "<secret>"}]}', 'global.imagePullSecrets[0].name'],
  [JOB, 'agent: {tokenExistingSecret: {name: "<secret-name>"}}', 'agent.tokenExistingSecret.name'],
  [
    JOB,
    `agent: {controller: {extraEnv: [{name: A, value: "\${A_VALUE}"}]}}`,
    'agent.controller.extraEnv[0].value',
  ],
  [JOB, 'task: {runner: {extraEnv: {TF_VAR_x: "<value>"}}}', 'task.runner.extraEnv.TF_VAR_x'],
  [JOB, 'otel: {enabled: true, endpoint: "http://<collector>:4317"}', 'otel.endpoint'],
  [K8S, 'efsVolumeHandle: "fs-<id>::fsap-<id>"', 'efsVolumeHandle'],
  [K8S, `efsVolumeHandle: "\${EFS_ID}"`, 'efsVolumeHandle'],
  [K8S, 'agent: {data_home: "/home/<user>/data"}', 'agent.data_home'],
  [K8S, `workerNodeSelector: {pool: "\${POOL}"}`, 'workerNodeSelector.pool'],
];

const nulls: Mistake[] = [
  [K8S, 'efsMountOptions: [null]', 'efsMountOptions[0]'],
  [K8S, 'efsMountOptions: [acregmin=1, ~]', 'efsMountOptions[1]'],
  [LOCAL, 'extraEnv: {A: }', 'extraEnv.A'],
  [LOCAL, 'extraEnv: {A: null}', 'extraEnv.A'],
  [K8S, 'extraEnv: {A: ~}', 'extraEnv.A'],
  ['job 0.5.63', 'extraEnv: {A: null}', 'extraEnv.A'],
  [JOB, 'agent: {extraEnv: {A: null}}', 'agent.extraEnv.A'],
  [JOB, 'task: {runner: {extraEnv: {A: }}}', 'task.runner.extraEnv.A'],
  [JOB, 'agent: {controller: {extraEnv: [null]}}', 'agent.controller.extraEnv[0]'],
  [
    JOB,
    'agent: {controller: {extraEnv: [{name: null, value: x}]}}',
    'agent.controller.extraEnv[0]',
  ],
  [JOB, 'agent: {controller: {args: [null]}}', 'agent.controller.args[0]'],
  [JOB, 'task: {worker: {command: [run, null]}}', 'task.worker.command[1]'],
  [JOB, 'task: {tolerations: [null]}', 'task.tolerations[0]'],
  [JOB, 'task: {sidecars: [null]}', 'task.sidecars[0]'],
  [JOB, 'agent: {providerNetworkMirrors: [null]}', 'agent.providerNetworkMirrors[0]'],
  [
    JOB,
    'agent: {providerNetworkMirrors: [{url: "https://m.example.com", include: [null]}]}',
    'agent.providerNetworkMirrors[0].include[0]',
  ],
  [LOCAL, 'imagePullSecrets: [null]', 'imagePullSecrets[0]'],
  [LOCAL, 'imagePullSecrets: [{name: null}]', 'imagePullSecrets[0]'],
  [LOCAL, 'nodeSelector: {pool: null}', 'nodeSelector.pool'],
  [LOCAL, 'podAnnotations: {team: null}', 'podAnnotations.team'],
  [JOB, 'global: {podLabels: {team: null}}', 'global.podLabels.team'],
  [JOB, 'task: {nodeSelector: {pool: }}', 'task.nodeSelector.pool'],
  [
    LOCAL,
    'serviceAccount: {create: true, annotations: {a/b: null}}',
    'serviceAccount.annotations.a/b',
  ],
  [K8S, 'agent: {kubernetes_task_labels: {team: null}}', 'agent.kubernetes_task_labels.team'],
];

export const MISTAKES: Readonly<Record<string, readonly Mistake[]>> = {
  'values of variables': ofVariables,
  'names of variables': ofNames,
  counts,
  units,
  'what the program needs': takenAway,
  'sizes of caches': sizes,
  'addresses and handles': addresses,
  placeholders,
  nulls,
};

/** Files that look like one of the mistakes and are none. */
export const SOUND: readonly (readonly [name: Named, text: string])[] = [
  [LOCAL, 'extraEnv: {SCALR_AGENT_DEBUG: 1}'],
  [
    LOCAL,
    'extraEnv: {SCALR_AGENT_DEBUG: "true", SCALR_AGENT_LOG_FORMAT: dev, SCALR_AGENT_SINGLE: "true"}',
  ],
  [
    LOCAL,
    'extraEnv: {SCALR_AGENT_PROVIDER_CACHE_ENABLED: false, SCALR_AGENT_MODULE_CACHE_ENABLED: "0"}',
  ],
  [
    LOCAL,
    'extraEnv: {SCALR_AGENT_PROVIDER_CACHE_SIZE_LIMIT_MB: 10240, SCALR_AGENT_OTLP_ENDPOINT: "otel.observability.svc:4317"}',
  ],
  [LOCAL, 'extraEnv: {SCALR_AGENT_HOOKS_DIR: /opt/hooks, SCALR_AGENT_GREETING: hello}'],
  [LOCAL, 'extraEnv: {TF_VAR_price: "$5", PS1: "$ ", A: "x > y", B: "a<b", HTML: "<b>x</b>"}'],
  [
    LOCAL,
    'extraEnv: {HTTP_PROXY: "http://user:$(PASSWORD)@proxy.example.com:3128", NO_PROXY: "localhost,127.0.0.1,.svc,10.0.0.0/8,[::1],.corp"}',
  ],
  [LOCAL, 'extraEnv: {http_proxy: "http://proxy:3128", no_proxy: "localhost, .svc"}'],
  [LOCAL, 'extraEnv: {HTTP_PROXY: "", SCALR_AGENT_DEBUG: ""}'],
  [LOCAL, 'agent: {url: "https://acme.scalr.io/"}'],
  [LOCAL, 'agent: {url: "https://scalr.internal.example.com:8443"}'],
  [LOCAL, 'resources: {limits: {cpu: 64, memory: 256Gi}}'],
  [LOCAL, 'replicaCount: 3'],
  [
    LOCAL,
    'podAnnotations: {vault.hashicorp.com/agent-inject-template-x: "{{ with secret \\"a\\" }}{{ .Data }}{{ end }}"}',
  ],
  [
    LOCAL,
    'serviceAccount: {create: true, annotations: {eks.amazonaws.com/role-arn: "arn:aws-us-gov:iam::123456789012:role/team/agent"}}',
  ],
  [
    LOCAL,
    'serviceAccount: {create: true, annotations: {iam.gke.io/gcp-service-account: "agent@my-project.iam.gserviceaccount.com"}}',
  ],
  [
    LOCAL,
    'serviceAccount: {create: true, annotations: {azure.workload.identity/client-id: 00000000-1111-2222-3333-444444444444}}',
  ],
  [LOCAL, 'resources: {limits: {cpu: null}}'],
  [LOCAL, 'serviceAccount: {automountToken: false}'],
  [K8S, 'efsVolumeHandle: fs-01234567'],
  [K8S, 'efsVolumeHandle: "fs-0123456789abcdef0::fsap-0123456789abcdef0"'],
  [K8S, 'efsVolumeHandle: "fs-0123456789abcdef0:/agents:fsap-0123456789abcdef0"'],
  [
    K8S,
    'agent: {container_task_cpu_request: 0.5, container_task_cpu_limit: "2.5", container_task_mem_limit: 32768}',
  ],
  [
    K8S,
    'agent: {container_task_image_registry: "registry.example.com/mirror/", container_task_image_mode: legacy}',
  ],
  [K8S, 'agent: {debug: 1, disconnect_on_stop: false}'],
  [K8S, 'serviceAccount: {create: false, name: own}'],
  [JOB, 'serviceAccount: {create: false, name: own}'],
  [JOB, 'serviceAccount: {create: false, name: own}\nrbac: {create: false}'],
  [JOB, 'agent: {replicaCount: 2}'],
  [JOB, 'agent: {replicaCount: 3, podDisruptionBudget: {minAvailable: null, maxUnavailable: 1}}'],
  [
    JOB,
    'agent: {podDisruptionBudget: {enabled: false}}\ntask: {podDisruptionBudget: {enabled: false, maxUnavailable: null}}',
  ],
  [JOB, 'task: {podDisruptionBudget: {maxUnavailable: 0}, job: {backoffLimit: 0}}'],
  [
    JOB,
    'agent: {providerCache: {enabled: true, sizeLimit: 60Gi}}\npersistence: {cache: {enabled: true, persistentVolumeClaim: {storageClassName: nfs}}}',
  ],
  [
    JOB,
    'agent: {sentryDsn: "https://key@sentry.example.com/42", providerNetworkMirrors: [{url: "https://m.example.com/providers/"}]}',
  ],
  [JOB, 'otel: {enabled: true, endpoint: "otel-collector.observability:4317"}'],
  [
    JOB,
    'agent: {controller: {extraEnv: [{name: SCALR_AGENT_HOOKS_DIR, value: /hooks}, {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]}}',
  ],
  [
    JOB,
    'agent: {controller: {extraEnv: [{name: A, value: x}, {name: B, value: "$(A)/y"}], args: ["--name=$(POD_NAME)"]}}',
  ],
  [
    JOB,
    'task: {runner: {extraEnv: {SCALR_DEBUG_NOTE: x, TF_LOG: debug, TF_CLI_ARGS: "-parallelism=20"}}}',
  ],
  [JOB, 'task: {runner: {resources: {limits: {cpu: null}}}}'],
];

/** Gives the file an agent pool token, without which every file has a finding. */
export const withToken = (text: string): string => {
  if (/token(ExistingSecret)?:/.test(text)) return text;
  return text.startsWith('agent: {')
    ? text.replace('agent: {', 'agent: {token: abc, ')
    : `agent: {token: abc}\n${text}`;
};
