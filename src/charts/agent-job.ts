import {splitImage} from '../settings/addresses.ts';
import {debug, logFormat, tokenSecret, tokenSecretKey, url} from '../settings/agent.ts';
import {cloud, nodeOs} from '../settings/cluster.ts';
import type {Setting} from '../settings/define.ts';
import {agentImage, imagePullSecret, imageRegistry, runnerImage} from '../settings/images.ts';
import {gracePeriod, shutdownMode} from '../settings/lifecycle.ts';
import {metadataService, workloadIdentity} from '../settings/network.ts';
import {otelEndpoint, otelMetrics, otelTraces} from '../settings/observability.ts';
import {controllerNodeSelector, controllerToleration, nodeSelector, toleration} from '../settings/placement.ts';
import {concurrency, isolation, purpose} from '../settings/purpose.ts';
import {
  cache,
  cacheAccessMode,
  cachePath,
  cacheSize,
  dataHome,
  dataSize,
  efsHandle,
  moduleCache,
  providerCache,
} from '../settings/storage.ts';
import {caFile, caScope, caSecret, clientCertSecret} from '../settings/tls.ts';
import {agentJobRules} from './agent-job-rules.ts';
import {cacheDirectory} from './clouds.ts';
import {asBase64, asBoolean, asNumber, asQuantity, asReferences, asSwitch, asText, asTextMap, asTolerations, asWord} from './codecs.ts';
import type {Chart, Entry, Row} from './define.ts';
import {always, implied, key, only, row, textKey, unwritten, variable} from './rows/build.ts';
import {caBundle, caVariable} from './rows/ca-bundle.ts';
import {claimCache} from './rows/cache.ts';
import {extraVariables} from './rows/extra-variables.ts';
import {proxyKeys, proxyVariables} from './rows/proxy.ts';
import {runResources} from './rows/run-resources.ts';
import {serviceAccount} from './rows/service-account.ts';
import {sharedRules} from './shared-rules.ts';
import {at, getAt, type Path, type Values} from './tree.ts';

/** 0.5.64 rewrote the chart: before it keys are flat and only the controller takes variables. */
const FLAT = '<=0.5.63';
const NESTED = '>=0.5.64';
const MUTUAL_TLS = '0.5.76 - 0.5.77 || >=0.6.1';

const CONTROLLER_ONLY =
  'agent-job up to 0.5.63 hands variables to the controller only; the pods of runs do not get this one. 0.5.64 mends that.';
const controllerOnly = {partly: () => CONTROLLER_ONLY};

const CACHE = at('persistence.cache.enabled');
const CACHE_DIRECTORY = at('persistence.cache.hostPath.path');
const AZURE_LABEL = [...at('task.podLabels'), 'azure.workload.identity/use'];
const OTEL = at('otel.enabled');

const imageAt = (setting: Setting<string>, paths: readonly string[], range: string): Row =>
  row({
    setting,
    in: range,
    paths: paths.flatMap((path) => [at(`${path}.repository`), at(`${path}.tag`)]),
    write: (reference) => {
      const {repository, tag} = splitImage(reference);
      return paths.flatMap((path): Entry[] => [
        [at(`${path}.repository`), repository],
        ...(tag === undefined ? [] : [[at(`${path}.tag`), tag] as Entry]),
      ]);
    },
    read: (values) =>
      ['repository', 'tag']
        .map((part) => asText.read(getAt(values, at(`${paths[0]}.${part}`)) ?? ''))
        .filter(Boolean)
        .join(':'),
  });

const hasHostPath = (values: Values): boolean =>
  getAt(values, CACHE) === true && asText.read(getAt(values, CACHE_DIRECTORY) ?? '') !== undefined;

const otel = (rows: readonly Row[]): Row[] =>
  rows.map((plain) => ({
    ...plain,
    in: NESTED,
    paths: [...plain.paths, OTEL] as Path[],
    write: (value, scope) => [[OTEL, true], ...plain.write(value, scope)],
    read: (values, scope) => (getAt(values, OTEL) === true ? plain.read(values, scope) : undefined),
  }));

/** A controller that starts one Kubernetes Job per run. */
export const agentJob: Chart = {
  name: 'agent-job',
  rows: [
    textKey(url, 'agent.url'),
    textKey(tokenSecret, 'agent.tokenExistingSecret', {in: FLAT}),
    textKey(tokenSecretKey, 'agent.tokenExistingSecretKey', {in: FLAT}),
    textKey(tokenSecret, 'agent.tokenExistingSecret.name', {in: NESTED}),
    textKey(tokenSecretKey, 'agent.tokenExistingSecret.key', {in: NESTED}),
    variable(debug, 'extraEnv', 'SCALR_AGENT_DEBUG', asSwitch('1', '0'), {in: FLAT, ...controllerOnly}),
    key(debug, 'agent.debug', asSwitch('1', '0'), {in: NESTED}),
    key(logFormat, 'agent.logFormat', asWord({json: 'json', plain: 'plain', dev: 'dev'}), {in: NESTED}),
    always(purpose, 'runs'),
    unwritten(isolation),
    unwritten(concurrency, {
      partly: (value) =>
        `agent-job starts a Job for every run the pool hands out and has no limit of its own. ${value} at a time need room on the nodes for ${value} of them.`,
    }),
    unwritten(cloud),
    unwritten(nodeOs),
    ...only({in: FLAT}, proxyVariables('extraEnv', CONTROLLER_ONLY)),
    ...only({in: NESTED}, proxyKeys('global.proxy')),
    key(metadataService, 'restrictMetadataService', asWord({block: true, allow: false}), {
      in: FLAT,
      partly: (value) =>
        value === 'block'
          ? 'The policy of agent-job up to 0.5.63 covers the controller only, not the pods of runs. 0.5.64 mends that.'
          : undefined,
    }),
    key(metadataService, 'task.allowMetadataService', asWord({block: false, allow: true}), {in: NESTED}),
    unwritten(workloadIdentity, {in: FLAT, accepts: (kind) => kind !== 'azure'}),
    row({
      setting: workloadIdentity,
      in: NESTED,
      paths: [at('task.podLabels')],
      write: (kind) => (kind === 'azure' ? [[AZURE_LABEL, 'true']] : []),
      read: (values) => (getAt(values, AZURE_LABEL) === 'true' ? 'azure' : undefined),
    }),
    ...caBundle('global.tls', NESTED),
    ...only({in: FLAT}, [
      ...caVariable(variable(caFile, 'extraEnv', 'SCALR_AGENT_CA_CERT', asBase64, controllerOnly)),
      implied(caScope, (values) => (getAt(values, at('extraEnv.SCALR_AGENT_CA_CERT')) ? 'all' : undefined), {
        accepts: (scope) => scope === 'all',
      }),
    ]),
    textKey(clientCertSecret, 'global.tls.clientCertSecret.name', {
      in: MUTUAL_TLS,
      partly: () => 'agent-job gives the client certificate to controller and worker, not to the runner container that Terraform runs in.',
    }),
    ...flatCache(),
    ...hostPathCache(claimCache({volume: 'persistence.cache', limit: 'persistence.cache.emptyDir.sizeLimit', in: NESTED})),
    textKey(cachePath, 'persistence.cache.hostPath.path', {in: '>=0.6.2'}),
    textKey(dataHome, 'agent.dataDir'),
    key(dataSize, 'persistence.data.emptyDir.sizeLimit', asQuantity, {in: NESTED}),
    key(providerCache, 'agent.providerCache.enabled', asBoolean, {in: NESTED}),
    key(moduleCache, 'agent.moduleCache.enabled', asBoolean, {in: '>=0.5.65'}),
    ...only({in: NESTED}, runResources('task.runner.resources')),
    key(nodeSelector, 'task.nodeSelector', asTextMap, {in: NESTED}),
    key(controllerNodeSelector, 'controllerNodeSelector', asTextMap, {in: FLAT}),
    key(controllerNodeSelector, 'agent.nodeSelector', asTextMap, {in: NESTED}),
    key(toleration, 'task.tolerations', asTolerations, {in: NESTED}),
    key(controllerToleration, 'controllerTolerations', asTolerations, {in: FLAT}),
    key(controllerToleration, 'agent.tolerations', asTolerations, {in: NESTED}),
    ...serviceAccount(),
    textKey(imageRegistry, 'global.imageRegistry', {in: NESTED}),
    key(imagePullSecret, 'imagePullSecrets', asReferences, {in: FLAT}),
    key(imagePullSecret, 'global.imagePullSecrets', asReferences, {in: NESTED}),
    imageAt(agentImage, ['controller.image', 'worker.image'], FLAT),
    imageAt(agentImage, ['agent.image'], NESTED),
    imageAt(runnerImage, ['worker.runner.image'], FLAT),
    imageAt(runnerImage, ['task.runner.image'], NESTED),
    ...otel([
      key(otelEndpoint, 'otel.endpoint', asText),
      key(otelMetrics, 'otel.metricsEnabled', asBoolean),
      key(otelTraces, 'otel.tracesEnabled', asBoolean),
    ]),
    key(gracePeriod, 'task.terminationGracePeriodSeconds', asNumber, {in: NESTED}),
    ...only({in: FLAT}, [extraVariables([{path: 'extraEnv'}], CONTROLLER_ONLY)]),
    ...only({in: NESTED}, [
      extraVariables([{path: 'agent.extraEnv'}, {path: 'task.runner.extraEnv', takes: (name) => !name.startsWith('SCALR_AGENT_')}]),
    ]),
  ],
  defaults: [
    {
      setting: cacheAccessMode,
      value: (get) =>
        get(cache) === 'pvc'
          ? {value: 'ReadWriteMany', because: 'the pods of all runs mount the cache, and so does the controller'}
          : undefined,
    },
    {
      setting: cachePath,
      in: '>=0.6.2',
      value: (get) => {
        if (get(cache) !== 'hostpath') return undefined;
        const found = cacheDirectory(get);
        return found.source === undefined
          ? {value: found.path, isGuess: true, because: 'upstream documents no path for these nodes'}
          : {value: found.path, because: `recommended for these nodes (${found.source})`};
      },
    },
    {
      setting: metadataService,
      in: NESTED,
      value: (get) =>
        get(workloadIdentity) === 'gke'
          ? {value: 'allow', because: 'GKE Workload Identity needs 169.254.169.254, which this chart blocks by default'}
          : undefined,
    },
  ],
  rules: [...sharedRules, ...agentJobRules],
  refusals: [
    {setting: purpose, reason: 'only agent-local serves VCS agent pools'},
    {setting: shutdownMode, reason: 'its controller always drains and its workers always stop gracefully'},
    {setting: gracePeriod, in: FLAT, reason: 'its grace period reaches the controller only'},
    {setting: caScope, reason: 'agent and runs always get the same bundle'},
    {setting: caFile, reason: 'the bundle travels in one environment variable here, and this one is too long for Linux (128 KiB)'},
    {setting: caSecret, in: FLAT, reason: 'there is no key for a Secret'},
    {
      setting: cache,
      in: NESTED,
      reason:
        'its cache lives on a claim, an ephemeral volume or, from 0.6.2 on, a directory of the node; for EFS prepare a claim and use --cache existing-pvc',
    },
    {setting: efsHandle, in: NESTED, reason: 'it takes EFS as a prepared claim: --cache existing-pvc'},
    {setting: cacheSize, in: FLAT, reason: 'the limit of its ephemeral volume is read by no template'},
    {setting: dataSize, in: FLAT, reason: 'its data volume has no limit'},
    {setting: nodeSelector, in: FLAT, reason: 'it puts the selector on the Job instead of the pod, where it has no effect'},
    {setting: toleration, in: FLAT, reason: 'it puts tolerations on the Job instead of the pod, where they have no effect'},
    {setting: imageRegistry, in: FLAT, reason: 'it has no registry of its own; write the registry into --agent-image and --runner-image'},
    {setting: workloadIdentity, in: FLAT, reason: 'Azure Workload Identity needs a label on the pods of runs'},
  ],
  ownVariables: ownVariables(),
};

/** Up to 0.5.63: a claim, or EFS objects that no pod mounts unless the claim is named (templates/worker.yaml). */
function flatCache(): Row[] {
  const [plain, ...others] = claimCache({
    volume: 'persistence',
    in: FLAT,
    // templates/pvc.yaml reads secret.annotations, which values.yaml lacks, and crashes without it.
    withClaim: {
      paths: [at('secret.annotations')],
      write: ({get}) =>
        get(cache) === 'pvc' ? [[at('secret.annotations'), {}, 'The template of the claim reads this key and crashes without it']] : [],
    },
  }) as [Row<string>, ...Row[]];
  const claim = at('persistence.persistentVolumeClaim.claimName');
  const isEfs = (values: Values): boolean => asText.read(getAt(values, at('efsVolumeHandle')) ?? '') !== undefined;
  return [
    row({
      ...plain,
      accepts: (kind, scope) => kind === 'efs' || (plain.accepts?.(kind, scope) ?? true),
      paths: [...plain.paths, claim],
      write: (kind, scope) =>
        kind === 'efs'
          ? [
              [at('persistence.enabled'), true],
              [claim, 'agent-job-efs-claim'],
            ]
          : plain.write(kind, scope),
      read: (values, scope) => (isEfs(values) ? 'efs' : plain.read(values, scope)),
    }),
    textKey(efsHandle, 'efsVolumeHandle', {in: FLAT}),
    ...others,
  ];
}

/** From 0.6.2 on the cache may be a directory of the node. */
function hostPathCache([plain, ...others]: readonly Row[]): Row[] {
  const base = plain as Row<string>;
  return [
    row({
      ...base,
      accepts: (kind, scope) =>
        kind === 'hostpath' ? getAt(scope.defaults, CACHE_DIRECTORY) !== undefined : (base.accepts?.(kind, scope) ?? true),
      read: (values, scope) => (hasHostPath(values) ? 'hostpath' : base.read(values, scope)),
    }),
    ...others,
  ];
}

function ownVariables(): Chart['ownVariables'] {
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
