import {at, getAt, type Path, textAt, type Values} from '../../ground/tree.ts';
import {debug, logFormat, tokenSecret, tokenSecretKey, url} from '../../settings/agent.ts';
import {cache, cachePath, efsHandle, efsMountOption} from '../../settings/cache.ts';
import {cloud, nodeOs} from '../../settings/cluster.ts';
import {serviceAccountAnnotation} from '../../settings/identity.ts';
import {
  agentImage,
  imagePullPolicy,
  imagePullSecret,
  imageRegistry,
  runnerImage,
} from '../../settings/images.ts';
import {splitImage, withoutRegistry} from '../../settings/kinds/images.ts';
import {
  acquireTimeout,
  jobTtl,
  schedulingTimeout,
  shutdownMode,
  writableRoot,
} from '../../settings/lifecycle.ts';
import {metadataService, workloadIdentity} from '../../settings/network.ts';
import {
  affinity,
  controllerAffinity,
  controllerNodeSelector,
  controllerToleration,
  mount,
  nodeSelector,
  podAnnotation,
  sidecar,
  toleration,
} from '../../settings/placement.ts';
import {isolation, purpose} from '../../settings/purpose.ts';
import {controllerReplicas, controllerSize, runSize, workerSize} from '../../settings/size.ts';
import {
  dataHome,
  dataSize,
  moduleCache,
  moduleCacheLimit,
  providerCache,
  providerCacheLimit,
} from '../../settings/storage.ts';

import {caFile, caScope, caSecret, clientCertSecret} from '../../settings/tls.ts';
import {caVariable} from '../shared/ca-rows.ts';
import {CLAIM_SETTINGS, inMebibytes} from '../shared/cache-rows.ts';
import {asBase64, asCores, asEnum, asMebibytes, asReferences} from '../shared/codecs.ts';
import {extraVariables} from '../shared/extra-variables.ts';
import {proxyVariables, telemetryVariables} from '../shared/network-rows.ts';
import {
  asStopAction,
  noRunLimit,
  podLabels,
  resourceRows,
  serviceAccount,
  stopPeriod,
} from '../shared/pod-rows.ts';
import type {DerivedKeys, Refusal, Row, Scope, ValuesEntry} from '../shared/row.ts';
import {fixedValue, implied, key, keys, notWritten, row} from '../shared/row-kinds.ts';
import {sharedRefusals} from '../shared/shared-refusals.ts';
import {GOLDEN} from './versions.ts';

const REPOSITORY = at('image.repository');
const TAG = at('image.tag');
const TASK_REGISTRY = at('agent.container_task_image_registry');
const TASK_IMAGE = at('agent.container_task_image');
const TASK_IMAGE_MODE = at('agent.container_task_image_mode');
const EFS = at('efsVolumeHandle');
const TASK_LABELS = at('agent.kubernetes_task_labels');

const registryOf = (values: Values): string | undefined =>
  textAt(values, TASK_REGISTRY).replace(/\/$/, '') || undefined;
const withoutMirror = (values: Values, path: Path): string =>
  withoutRegistry(textAt(values, path), registryOf(values));
const mirrored = ({get}: Scope, reference: string): string =>
  [get(imageRegistry), reference].filter(Boolean).join('/');

const rounded = inMebibytes('agent-k8s requires memory');

/** The registry of a mirror: in front of the agent image, and for the runner images, where the last slash keeps their namespace. */
const mirror: Row<string> = {
  setting: imageRegistry,
  paths: [REPOSITORY, TASK_REGISTRY],
  write(registry, scope) {
    const usual = textAt(scope.defaults, REPOSITORY);
    // What is the default is not written by the row of the agent image.
    const isUsual = [undefined, usual].includes(scope.get(agentImage));
    return [
      ...(isUsual ? [[REPOSITORY, mirrored(scope, usual)] as ValuesEntry] : []),
      [TASK_REGISTRY, `${registry}/`],
    ];
  },
  read: registryOf,
};

/** The default runner image comes from the mirror too, in the mode that uses it. */
export const mirroredRunner: DerivedKeys = {
  in: GOLDEN,
  setting: imageRegistry,
  paths: [TASK_IMAGE],
  write: (values, isWritten) => {
    const registry = registryOf(values);
    const isUsed = textAt(values, TASK_IMAGE_MODE) === 'golden' && !isWritten(TASK_IMAGE);
    return isUsed && registry !== undefined
      ? [[TASK_IMAGE, `${registry}/${textAt(values, TASK_IMAGE)}`]]
      : [];
  },
};

/** Values keys of each setting in agent-k8s. */
export const rows: readonly Row[] = [
  key(url, 'agent.url'),
  key(tokenSecret, 'agent.tokenExistingSecret'),
  key(tokenSecretKey, 'agent.tokenExistingSecretKey'),
  key(debug, 'agent.debug'),
  key(logFormat, 'agent.log_format'),
  fixedValue(purpose, 'runs'),
  notWritten(isolation, {
    partly: (value) =>
      value === 'per-run'
        ? 'With agent-k8s, each run gets its own pod, but all runs on a node share the data directory. With agent-job, runs share nothing.'
        : undefined,
  }),
  noRunLimit('agent-k8s', 'pod'),
  notWritten(cloud, {accepts: (provider) => provider !== 'gke-autopilot'}),
  notWritten(nodeOs),
  ...proxyVariables('extraEnv', {
    partly: () =>
      'The chart agent-k8s sets proxy variables on the controller and workers only. Whether run pods get them depends on the agent version.',
  }),
  key(metadataService, 'restrictMetadataService', {as: asEnum({block: true, allow: false})}),
  row({
    setting: workloadIdentity,
    paths: [TASK_LABELS],
    write: (kind) =>
      kind === 'azure' ? [[[...TASK_LABELS, 'azure.workload.identity/use'], 'true']] : [],
    read: (values) =>
      getAt(values, [...TASK_LABELS, 'azure.workload.identity/use']) === 'true'
        ? 'azure'
        : undefined,
    partly: (kind) =>
      kind === 'none'
        ? undefined
        : 'The agent selects the service account of run pods. Test that a run gets its credentials.',
  }),
  implied(caScope, (values) => {
    if (textAt(values, 'agent.ca_cert')) return 'all';
    return textAt(values, 'agent.container_task_ca_cert') ? 'tasks' : undefined;
  }),
  ...caVariable(
    key(caFile, 'agent.ca_cert', {as: asBase64, when: (get) => get(caScope) !== 'tasks'}),
  ),
  ...caVariable(
    key(caFile, 'agent.container_task_ca_cert', {
      as: asBase64,
      when: (get) => get(caScope) === 'tasks',
    }),
  ),
  row({
    setting: cache,
    accepts: (kind) => kind === 'hostpath' || kind === 'efs',
    paths: [EFS],
    write: () => [],
    read: (values) => (textAt(values, EFS) === '' ? 'hostpath' : 'efs'),
  }),
  key(efsHandle, 'efsVolumeHandle', {
    partly: () =>
      'With EFS, runs work entirely on NFS, and only one release per cluster can use it.',
  }),
  key(dataHome, 'agent.data_home'),
  key(efsMountOption, 'efsMountOptions'),
  fixedValue(providerCache, true),
  key(providerCacheLimit, 'agent.gc_plugins_global_size_limit', {
    as: asMebibytes,
    partly: inMebibytes('agent-k8s requires the cache limit'),
  }),
  fixedValue(moduleCache, false),
  key(runSize.cpuRequest, 'agent.container_task_cpu_request', {as: asCores}),
  key(runSize.cpuLimit, 'agent.container_task_cpu_limit', {as: asCores}),
  key(runSize.memoryRequest, 'agent.container_task_mem_request', {
    as: asMebibytes,
    partly: rounded,
  }),
  key(runSize.memoryLimit, 'agent.container_task_mem_limit', {as: asMebibytes, partly: rounded}),
  ...resourceRows(controllerSize, 'resources', {
    partly: () => 'In agent-k8s, workers use the same requests and limits as the controller.',
  }),
  key(nodeSelector, 'workerNodeSelector'),
  key(controllerNodeSelector, 'controllerNodeSelector'),
  key(toleration, 'workerTolerations'),
  key(controllerToleration, 'controllerTolerations'),
  podLabels('agent.kubernetes_task_labels', {
    partly: () =>
      'agent-k8s sets these labels on run pods only, not on the controller and workers.',
  }),
  keys(podAnnotation, ['podAnnotations', 'agent.kubernetes_task_annotations']),
  ...serviceAccount({
    partly: (_, {get}) =>
      get(serviceAccountAnnotation) === undefined
        ? 'With an existing service account, the chart creates no Role. Grant it create, delete, get, list, patch and watch on pods, pods/status, pods/log, pods/exec, configmaps and secrets.'
        : undefined,
  }),
  row(mirror),
  key(imagePullPolicy, 'image.pullPolicy', {
    partly: () =>
      'agent-k8s applies the pull policy to the controller and workers. The agent sets the pull policy of run pods.',
  }),
  key(imagePullSecret, 'imagePullSecrets', {
    as: asReferences,
    partly: () =>
      'agent-k8s applies pull secrets to the controller and workers. Run pods need them on their service account or on the nodes.',
  }),
  row({
    setting: agentImage,
    paths: [REPOSITORY, TAG],
    write: (reference, scope) => {
      const {repository, tag} = splitImage(reference);
      return [
        [REPOSITORY, mirrored(scope, repository)] as ValuesEntry,
        ...(tag === undefined ? [] : [[TAG, tag] as ValuesEntry]),
      ];
    },
    read: (values) =>
      [withoutMirror(values, REPOSITORY), textAt(values, TAG)]
        .filter((part) => part !== '')
        .join(':'),
  }),
  row({
    setting: runnerImage,
    in: '0.5.66',
    paths: [TASK_IMAGE],
    write: (reference, scope) => [[TASK_IMAGE, mirrored(scope, reference)]],
    read: (values) => withoutMirror(values, TASK_IMAGE) || undefined,
    partly: () =>
      'In 0.5.66, the runner image is set on the workers only; in 0.5.67 and later, on the controller too.',
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
      getAt(values, TASK_IMAGE_MODE) === 'golden'
        ? withoutMirror(values, TASK_IMAGE) || undefined
        : undefined,
  }),
  ...telemetryVariables('extraEnv'),
  key(shutdownMode, 'agent.worker_on_stop_action', {as: asStopAction}),
  stopPeriod({
    grace: 'terminationGracePeriodSeconds',
    drain: 'agent.worker_drain_timeout',
    stop: 'agent.grace_shutdown_timeout',
  }),
  key(schedulingTimeout, 'agent.container_task_scheduling_timeout'),
  key(acquireTimeout, 'agent.container_task_acquire_timeout'),
  extraVariables([{path: 'extraEnv'}], {
    partly: () => 'agent-k8s sets extra variables on the controller and workers, not on run pods.',
  }),
];

/** Reasons for unsupported settings in agent-k8s. */
export const refusals: readonly Refusal[] = [
  {
    settings: [cloud],
    reason: 'GKE Autopilot forbids hostPath volumes, which the chart requires for its data',
  },
  {
    settings: [cache, ...CLAIM_SETTINGS],
    reason: 'the cache is always in the data directory, on the node or on EFS',
  },
  {
    settings: [cachePath],
    reason: 'cache and data share one directory',
    use: [{setting: dataHome}],
  },
  {settings: [dataSize], reason: 'the data directory on the node has no size limit'},
  {settings: [providerCache], reason: 'the provider cache cannot be disabled'},
  {settings: [moduleCache, moduleCacheLimit], reason: 'the chart has no module cache'},
  {
    settings: [affinity, controllerAffinity],
    reason: 'the chart has no key for it',
    use: [{setting: nodeSelector}, {setting: toleration}],
  },
  {
    settings: [mount, sidecar],
    reason: 'the agent creates run pods, and the chart has no key for their volumes and containers',
  },
  {
    settings: Object.values(workerSize),
    reason: 'workers have the requests and limits of the controller',
    use: Object.values(controllerSize).map((setting) => ({setting})),
  },
  {
    settings: [caSecret],
    reason: 'the chart does not mount certificate Secrets',
    use: [{setting: caFile}],
  },
  {settings: [clientCertSecret], reason: 'the chart does not mount certificate Secrets'},
  {
    settings: [runnerImage],
    in: '<=0.5.65',
    reason: 'runs use one image per tool in this version',
  },
  {settings: [controllerReplicas], reason: 'the chart always has one controller'},
  {settings: [jobTtl], reason: 'runs execute in pods, not in Jobs'},
  {
    settings: [writableRoot],
    reason: 'the agent creates run pods, and the chart has no key for their security context',
  },
  ...sharedRefusals,
];
