import {splitImage} from '../../settings/addresses.ts';
import {debug, logFormat, tokenSecret, tokenSecretKey, url} from '../../settings/agent.ts';
import {cloud, nodeOs} from '../../settings/cluster.ts';
import {metadataService, workloadIdentity} from '../../settings/network.ts';
import {
  acquireTimeout,
  agentImage,
  controllerNodeSelector,
  controllerReplicas,
  controllerToleration,
  gracePeriod,
  imagePullPolicy,
  imagePullSecret,
  imageRegistry,
  jobTtl,
  nodeSelector,
  podAnnotation,
  runCpuLimit,
  runCpuRequest,
  runMemoryLimit,
  runMemoryRequest,
  runnerImage,
  schedulingTimeout,
  serviceAccountAnnotation,
  shutdownMode,
  toleration,
  writableRoot,
} from '../../settings/pods.ts';
import {concurrency, isolation, purpose, singleRun} from '../../settings/purpose.ts';
import {
  cache,
  cacheAccessMode,
  cacheClaim,
  cachePath,
  cacheSize,
  cacheStorageClass,
  cacheSubPath,
  dataHome,
  dataSize,
  efsHandle,
  efsMountOption,
  moduleCache,
  providerCache,
  providerCacheLimit,
} from '../../settings/storage.ts';
import {caFile, caPublicRoots, caScope, caSecret, clientCertSecret} from '../../settings/tls.ts';
import type {Entry, Refusal, Row, Scope} from '../define.ts';
import {
  always,
  asBase64,
  asBoolean,
  asChoice,
  asCores,
  asMebibytes,
  asNumber,
  asReferences,
  asTextMap,
  asTexts,
  asTolerations,
  asWord,
  implied,
  key,
  keys,
  row,
  unwritten,
} from '../row-kinds.ts';
import {
  caVariable,
  controllerResources,
  extraVariables,
  inMebibytes,
  podLabels,
  proxyVariables,
  serviceAccount,
  telemetryVariables,
} from '../shared-rows.ts';
import {at, getAt, textAt, type Values} from '../tree.ts';
import {GOLDEN} from './versions.ts';

const REPOSITORY = at('image.repository');
const TAG = at('image.tag');
const TASK_REGISTRY = at('agent.container_task_image_registry');
const TASK_IMAGE = at('agent.container_task_image');
const TASK_IMAGE_MODE = at('agent.container_task_image_mode');
const GRACE = at('terminationGracePeriodSeconds');
const DRAIN_TIMEOUT = at('agent.worker_drain_timeout');
const STOP_TIMEOUT = at('agent.grace_shutdown_timeout');
const EFS = at('efsVolumeHandle');
const TASK_LABELS = at('agent.kubernetes_task_labels');

const registryOf = (values: Values): string | undefined => textAt(values, TASK_REGISTRY).replace(/\/$/, '') || undefined;
const withoutRegistry = (values: Values, reference: string): string => {
  const registry = registryOf(values);
  return registry !== undefined && reference.startsWith(`${registry}/`) ? reference.slice(registry.length + 1) : reference;
};
const mirrored = ({get}: Scope, reference: string): string => [get(imageRegistry), reference].filter(Boolean).join('/');

const rounded = inMebibytes('agent-k8s counts memory');

/** The registry of a mirror: in front of the agent image, and for the images of runs, where the last slash keeps their namespace. */
const mirror: Row<string> = {
  setting: imageRegistry,
  paths: [REPOSITORY, TASK_REGISTRY],
  write: (registry, scope) => [
    ...(scope.get(agentImage) === undefined ? [[REPOSITORY, mirrored(scope, textAt(scope.defaults, REPOSITORY))] as Entry] : []),
    [TASK_REGISTRY, `${registry}/`],
  ],
  read: registryOf,
};

/** Where each setting lies in the values of agent-k8s. */
export const rows: readonly Row[] = [
  key(url, 'agent.url'),
  key(tokenSecret, 'agent.tokenExistingSecret'),
  key(tokenSecretKey, 'agent.tokenExistingSecretKey'),
  key(debug, 'agent.debug', {as: asBoolean}),
  key(logFormat, 'agent.log_format', {as: asChoice(logFormat)}),
  always(purpose, 'runs'),
  unwritten(isolation, {
    partly: (value) =>
      value === 'per-run'
        ? 'agent-k8s gives each run a pod of its own, but all runs of a node share its data directory; agent-job shares nothing.'
        : undefined,
  }),
  unwritten(concurrency, {
    partly: (value) =>
      `agent-k8s has no limit of its own: it runs as many pods as the pool hands out. ${value} at a time need room on the nodes for ${value} of them.`,
  }),
  unwritten(cloud, {accepts: (provider) => provider !== 'gke-autopilot'}),
  unwritten(nodeOs),
  ...proxyVariables('extraEnv', {
    partly: () => 'agent-k8s hands proxy variables to controller and workers; whether run pods inherit them is up to the agent.',
  }),
  key(metadataService, 'restrictMetadataService', {
    as: asWord({block: true, allow: false}),
    partly: (value) =>
      value === 'block'
        ? 'The policy of agent-k8s covers controller and workers, not the pods of runs, and it has no DNS rule: where it is enforced it can cut DNS as well.'
        : undefined,
  }),
  row({
    setting: workloadIdentity,
    paths: [TASK_LABELS],
    write: (kind) => (kind === 'azure' ? [[[...TASK_LABELS, 'azure.workload.identity/use'], 'true']] : []),
    read: (values) => (getAt(values, [...TASK_LABELS, 'azure.workload.identity/use']) === 'true' ? 'azure' : undefined),
    partly: (kind) =>
      kind === 'none' ? undefined : 'Which service account run pods use is decided by the agent, so test that a run gets its credentials.',
  }),
  implied(caScope, (values) =>
    textAt(values, 'agent.ca_cert') ? 'all' : textAt(values, 'agent.container_task_ca_cert') ? 'tasks' : undefined,
  ),
  ...caVariable(key(caFile, 'agent.ca_cert', {as: asBase64, when: (get) => get(caScope) !== 'tasks'})),
  ...caVariable(key(caFile, 'agent.container_task_ca_cert', {as: asBase64, when: (get) => get(caScope) === 'tasks'})),
  row({
    setting: cache,
    accepts: (kind) => kind === 'hostpath' || kind === 'efs',
    paths: [EFS],
    write: () => [],
    read: (values) => (textAt(values, EFS) === '' ? 'hostpath' : 'efs'),
  }),
  key(efsHandle, 'efsVolumeHandle', {
    partly: () => 'With EFS the whole run works over NFS, and only one release per cluster can use it.',
  }),
  key(dataHome, 'agent.data_home'),
  key(efsMountOption, 'efsMountOptions', {as: asTexts}),
  always(providerCache, true),
  key(providerCacheLimit, 'agent.gc_plugins_global_size_limit', {as: asMebibytes, partly: inMebibytes('agent-k8s counts the cache')}),
  always(moduleCache, false),
  key(runCpuRequest, 'agent.container_task_cpu_request', {as: asCores}),
  key(runCpuLimit, 'agent.container_task_cpu_limit', {as: asCores}),
  key(runMemoryRequest, 'agent.container_task_mem_request', {as: asMebibytes, partly: rounded}),
  key(runMemoryLimit, 'agent.container_task_mem_limit', {as: asMebibytes, partly: rounded}),
  ...controllerResources('resources', {
    partly: () => 'agent-k8s gives its workers the same requests and limits as the controller.',
  }),
  key(nodeSelector, 'workerNodeSelector', {as: asTextMap}),
  key(controllerNodeSelector, 'controllerNodeSelector', {as: asTextMap}),
  key(toleration, 'workerTolerations', {as: asTolerations}),
  key(controllerToleration, 'controllerTolerations', {as: asTolerations}),
  podLabels('agent.kubernetes_task_labels', {
    partly: () => 'agent-k8s labels the pods of runs only; it has no key for labels of controller and workers.',
  }),
  keys(podAnnotation, ['podAnnotations', 'agent.kubernetes_task_annotations'], {as: asTextMap}),
  ...serviceAccount({
    partly: (_, {get}) =>
      get(serviceAccountAnnotation) === undefined
        ? 'With an account of your own the chart makes no Role: bind pods, pods/status, pods/log, pods/exec, configmaps and secrets to it (create, delete, get, list, patch, watch).'
        : undefined,
  }),
  row({...mirror, in: '<=0.5.66'}),
  row({
    ...mirror,
    in: GOLDEN,
    paths: [...mirror.paths, TASK_IMAGE],
    write: (registry, scope) => [
      ...mirror.write(registry, scope),
      ...(scope.get(runnerImage) === undefined ? [[TASK_IMAGE, mirrored(scope, textAt(scope.defaults, TASK_IMAGE))] as Entry] : []),
    ],
  }),
  key(imagePullPolicy, 'image.pullPolicy', {
    as: asChoice(imagePullPolicy),
    partly: () => 'agent-k8s hands the pull policy to controller and workers; the agent decides for the pods of runs.',
  }),
  key(imagePullSecret, 'imagePullSecrets', {
    as: asReferences,
    partly: () => 'agent-k8s hands pull secrets to controller and workers; run pods need them on their service account or on the nodes.',
  }),
  row({
    setting: agentImage,
    paths: [REPOSITORY, TAG],
    write: (reference, scope) => {
      const {repository, tag} = splitImage(reference);
      return [[REPOSITORY, mirrored(scope, repository)] as Entry, ...(tag === undefined ? [] : [[TAG, tag] as Entry])];
    },
    read: (values) => [withoutRegistry(values, textAt(values, REPOSITORY)), textAt(values, TAG)].filter((part) => part !== '').join(':'),
  }),
  row({
    setting: runnerImage,
    in: '0.5.66',
    paths: [TASK_IMAGE],
    write: (reference, scope) => [[TASK_IMAGE, mirrored(scope, reference)]],
    read: (values) => withoutRegistry(values, textAt(values, TASK_IMAGE)) || undefined,
    partly: () => 'In 0.5.66 only the workers learn of the runner image; from 0.5.67 on the controller does too.',
  }),
  row({
    setting: runnerImage,
    in: GOLDEN,
    paths: [TASK_IMAGE, TASK_IMAGE_MODE],
    write: (reference, scope) => [
      [TASK_IMAGE_MODE, 'golden'],
      [TASK_IMAGE, mirrored(scope, reference)],
    ],
    read: (values) =>
      getAt(values, TASK_IMAGE_MODE) === 'golden' ? withoutRegistry(values, textAt(values, TASK_IMAGE)) || undefined : undefined,
  }),
  ...telemetryVariables('extraEnv'),
  key(shutdownMode, 'agent.worker_on_stop_action', {as: asWord({graceful: 'grace-shutdown', drain: 'drain', force: 'force-shutdown'})}),
  row({
    setting: gracePeriod,
    paths: [GRACE, DRAIN_TIMEOUT, STOP_TIMEOUT],
    write: (period, {get}) => {
      const mode = get(shutdownMode) ?? 'drain';
      return [
        [GRACE, period],
        ...(mode === 'drain' ? [[DRAIN_TIMEOUT, period - 60] as Entry] : []),
        ...(mode === 'graceful' ? [[STOP_TIMEOUT, period - 10] as Entry] : []),
      ];
    },
    read: (values) => asNumber.read(getAt(values, GRACE) ?? ''),
  }),
  key(schedulingTimeout, 'agent.container_task_scheduling_timeout', {as: asNumber}),
  key(acquireTimeout, 'agent.container_task_acquire_timeout', {as: asNumber}),
  extraVariables([{path: 'extraEnv'}], {
    partly: () => 'agent-k8s hands extra variables to controller and workers, not to the pods of runs.',
  }),
];

/** Why agent-k8s has no place for a setting. */
export const refusals: readonly Refusal[] = [
  {setting: purpose, reason: 'only agent-local serves VCS agent pools'},
  {setting: cloud, reason: 'GKE Autopilot forbids the hostPath volume that it keeps its data on'},
  ...[cache, cacheClaim, cacheSize, cacheStorageClass, cacheAccessMode, cacheSubPath].map((setting) => ({
    setting,
    reason: 'its cache always lies in its data directory, on the node or on EFS',
  })),
  {setting: cachePath, reason: 'cache and data share one directory; use --data-home'},
  {setting: dataSize, reason: 'its data lies in a directory of the node without a limit'},
  {setting: providerCache, reason: 'its provider cache cannot be switched off'},
  {setting: moduleCache, reason: 'it has no module cache'},
  {setting: caSecret, reason: 'it mounts no volumes for certificates; use --ca-file'},
  {setting: caFile, reason: 'the bundle travels in one environment variable here, and this one is too long for Linux (128 KiB)'},
  {
    setting: caPublicRoots,
    reason: 'the bundle travels in one environment variable here, and with the public roots it is too long for Linux (128 KiB)',
  },
  {setting: clientCertSecret, reason: 'it mounts no volumes for certificates'},
  {setting: runnerImage, in: '<=0.5.65', reason: 'runs use an image per tool here'},
  {setting: singleRun, reason: 'every run has a pod of its own'},
  {setting: controllerReplicas, reason: 'it always has one controller'},
  {setting: jobTtl, reason: 'it starts pods for runs and no Jobs'},
  {setting: writableRoot, reason: 'the agent creates the pods of runs, and no key sets their security context'},
];
