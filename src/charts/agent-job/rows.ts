import {at, getAt, isOn, textAt} from '../../ground/tree.ts';
import {debug, logFormat, tokenSecret, tokenSecretKey, url} from '../../settings/agent.ts';
import {cache, cachePath, efsHandle, efsMountOption} from '../../settings/cache.ts';
import {cloud, nodeOs} from '../../settings/cluster.ts';
import type {Setting} from '../../settings/define.ts';
import {serviceAccountAnnotation} from '../../settings/identity.ts';
import {
  agentImage,
  imagePullPolicy,
  imagePullSecret,
  imageRegistry,
  runnerImage,
} from '../../settings/images.ts';
import {splitImage} from '../../settings/kinds/images.ts';
import {gracePeriod, jobTtl, writableRoot} from '../../settings/lifecycle.ts';
import {metadataService, providerMirror, workloadIdentity} from '../../settings/network.ts';
import {otelEndpoint, otelMetrics, otelTraces} from '../../settings/observability.ts';
import {
  affinity,
  controllerAffinity,
  controllerNodeSelector,
  controllerToleration,
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

import {clientCertSecret} from '../../settings/tls.ts';
import {caBundleRows, caExtraVariable} from '../shared/ca-rows.ts';
import {claimCache, ephemeralLimit, inMebibytes} from '../shared/cache-rows.ts';
import {asEnum, asGibibytes, asMirrors, asOnOff, asReferences} from '../shared/codecs.ts';
import {extraVariables} from '../shared/extra-variables.ts';
import {proxyKeys, proxyVariables} from '../shared/network-rows.ts';
import {mountRow, noRunLimit, podLabels, resourceRows, serviceAccount} from '../shared/pod-rows.ts';
import type {Row, Scope, ValuesEntry} from '../shared/row.ts';
import {
  behindSwitch,
  fixedValue,
  key,
  keys,
  notWritten,
  onlyIn,
  row,
  switched,
  variable,
} from '../shared/row-kinds.ts';
import {FIXED_SHUTDOWN, FLAT, NESTED, NO_CONTROLLER_LABELS} from './ranges.ts';

const controllerOnly = {
  partly: () =>
    'Up to 0.5.63, agent-job sets variables on the controller only, not on run pods. Fixed in 0.5.64.',
};

/** Up to 0.5.63, templates/role.yaml requires the service account of the chart. */
const ownAccount: NonNullable<Row<string>['partly']> = (_, {get}) =>
  get(serviceAccountAnnotation) === undefined
    ? 'With an existing service account, the chart creates no Role. Grant it access to jobs, pods, pods/status, pods/log, pods/exec, configmaps and secrets, and cluster-wide access to agentworkers.scalr.io.'
    : undefined;

const cacheLimit = {as: asGibibytes, partly: inMebibytes('agent-job requires the cache limit')};

const AZURE_LABEL = [...at('task.podLabels'), 'azure.workload.identity/use'];

const image = (setting: Setting<string>, ...paths: readonly string[]): Row =>
  row({
    setting,
    paths: paths.flatMap((path) => [at(`${path}.repository`), at(`${path}.tag`)]),
    write: (reference) => {
      const {repository, tag} = splitImage(reference);
      return paths.flatMap((path): ValuesEntry[] => [
        [at(`${path}.repository`), repository],
        ...(tag === undefined ? [] : [[at(`${path}.tag`), tag] as ValuesEntry]),
      ]);
    },
    read: (values) =>
      ['repository', 'tag']
        .map((part) => textAt(values, `${paths[0]}.${part}`))
        .filter((text) => text !== '')
        .join(':'),
  });

const CLAIM = 'persistence.persistentVolumeClaim.claimName';

/** EFS objects that no pod mounts unless their claim is named (templates/worker.yaml). */
const efsCache: Row = row({
  setting: cache,
  accepts: (kind) => kind === 'efs',
  paths: [at('persistence.enabled'), at(CLAIM)],
  write: () => [
    [at('persistence.enabled'), true],
    [at(CLAIM), 'agent-job-efs-claim'],
  ],
  read: (values) => (textAt(values, 'efsVolumeHandle') === '' ? undefined : 'efs'),
});

const CACHE_ENABLED = at('persistence.cache.enabled');
const CACHE_DIRECTORY = 'persistence.cache.hostPath.path';

const hostPathCache: Row = row({
  setting: cache,
  accepts: (kind) => kind === 'hostpath',
  paths: [CACHE_ENABLED],
  from: [at(CACHE_DIRECTORY)],
  write: () => [[CACHE_ENABLED, true]],
  read: (values) =>
    isOn(values, 'persistence.cache.enabled') && textAt(values, CACHE_DIRECTORY) !== ''
      ? 'hostpath'
      : undefined,
});

/** templates/pvc.yaml reads secret.annotations, which values.yaml lacks, and crashes without it. */
const withClaim = {
  paths: [at('secret.annotations')],
  write: ({get}: Scope): ValuesEntry[] =>
    get(cache) === 'pvc'
      ? [[at('secret.annotations'), {}, 'The PVC template fails without this key']]
      : [],
};

/**
 * Values keys of each setting in agent-job. 0.5.64 gave almost every key another name: both are listed, and each row applies to the
 * versions that have its keys.
 */
export const rows: readonly Row[] = [
  key(url, 'agent.url'),
  key(tokenSecret, 'agent.tokenExistingSecret'),
  key(tokenSecret, 'agent.tokenExistingSecret.name'),
  key(tokenSecretKey, 'agent.tokenExistingSecretKey'),
  key(tokenSecretKey, 'agent.tokenExistingSecret.key'),
  variable(debug, {
    map: 'extraEnv',
    as: asOnOff('1', '0'),
    ...controllerOnly,
  }),
  key(debug, 'agent.debug', {as: asOnOff('1', '0')}),
  variable(logFormat, {map: 'extraEnv', ...controllerOnly}),
  key(logFormat, 'agent.logFormat'),

  fixedValue(purpose, 'runs'),
  notWritten(isolation),
  noRunLimit('agent-job', 'Job'),
  notWritten(cloud),
  notWritten(nodeOs),

  ...proxyVariables('extraEnv', controllerOnly),
  ...proxyKeys('global.proxy'),
  key(providerMirror, 'agent.providerNetworkMirrors', {as: asMirrors}),
  key(metadataService, 'restrictMetadataService', {as: asEnum({block: true, allow: false})}),
  key(metadataService, 'task.allowMetadataService', {as: asEnum({block: false, allow: true})}),
  notWritten(workloadIdentity, {in: FLAT, accepts: (kind) => kind !== 'azure'}),
  row({
    setting: workloadIdentity,
    paths: [at('task.podLabels')],
    write: (kind) => (kind === 'azure' ? [[AZURE_LABEL, 'true']] : []),
    read: (values) => (getAt(values, AZURE_LABEL) === 'true' ? 'azure' : undefined),
  }),
  ...caExtraVariable(controllerOnly),
  ...caBundleRows('global.tls'),
  key(clientCertSecret, 'global.tls.clientCertSecret.name', {
    partly: () =>
      'agent-job mounts the client certificate in the controller and worker, not in the runner container, where Terraform runs.',
  }),

  efsCache,
  key(efsHandle, 'efsVolumeHandle', {
    code: 'CAUTION',
    partly: () => 'Only one release per cluster can use EFS with this chart version.',
  }),
  key(efsMountOption, 'efsMountOptions'),
  ...claimCache({volume: 'persistence', withClaim}),
  hostPathCache,
  key(cachePath, CACHE_DIRECTORY),
  ...claimCache({volume: 'persistence.cache'}),
  ephemeralLimit('persistence.cache.emptyDir.sizeLimit'),
  key(dataHome, 'agent.dataDir'),
  key(dataSize, 'persistence.data.emptyDir.sizeLimit'),
  key(providerCache, 'agent.providerCache.enabled'),
  key(providerCacheLimit, 'agent.providerCache.sizeLimit', cacheLimit),
  key(moduleCache, 'agent.moduleCache.enabled'),
  key(moduleCacheLimit, 'agent.moduleCache.sizeLimit', cacheLimit),

  ...resourceRows(workerSize, 'task.worker.resources'),
  ...resourceRows(runSize, 'task.runner.resources'),
  key(controllerReplicas, 'agent.replicaCount'),
  ...resourceRows(controllerSize, 'resources'),
  ...resourceRows(controllerSize, 'agent.resources'),
  key(nodeSelector, 'task.nodeSelector'),
  key(controllerNodeSelector, 'controllerNodeSelector'),
  key(controllerNodeSelector, 'agent.nodeSelector'),
  key(toleration, 'task.tolerations'),
  key(controllerToleration, 'controllerTolerations'),
  key(controllerToleration, 'agent.tolerations'),
  key(affinity, 'task.affinity'),
  key(controllerAffinity, 'agent.affinity'),
  mountRow('task.extraVolumes', 'task.runner.extraVolumeMounts'),
  key(sidecar, 'task.sidecars'),
  podLabels('task.podLabels', {
    in: NO_CONTROLLER_LABELS,
    partly: () =>
      'In this version, controller labels cannot be rendered, so the labels are set on run pods only. Fixed in 0.5.68.',
  }),
  podLabels('global.podLabels', {in: '>=0.5.68'}),
  key(podAnnotation, 'podAnnotations', {
    partly: () =>
      'Up to 0.5.63, agent-job annotates the controller only, not run pods. Fixed in 0.5.64.',
  }),
  key(podAnnotation, 'global.podAnnotations'),
  ...onlyIn(FLAT, serviceAccount({partly: ownAccount})),
  ...onlyIn(NESTED, serviceAccount()),

  key(imageRegistry, 'global.imageRegistry'),
  keys(imagePullPolicy, [
    'controller.image.pullPolicy',
    'worker.image.pullPolicy',
    'worker.runner.image.pullPolicy',
  ]),
  keys(imagePullPolicy, ['agent.image.pullPolicy', 'task.runner.image.pullPolicy']),
  key(imagePullSecret, 'imagePullSecrets', {as: asReferences}),
  key(imagePullSecret, 'global.imagePullSecrets', {as: asReferences}),
  image(agentImage, 'controller.image', 'worker.image'),
  image(agentImage, 'agent.image'),
  image(runnerImage, 'worker.runner.image'),
  image(runnerImage, 'task.runner.image'),

  ...behindSwitch('otel.enabled', [
    key(otelEndpoint, 'otel.endpoint'),
    key(otelMetrics, 'otel.metricsEnabled'),
    key(otelTraces, 'otel.tracesEnabled'),
  ]),
  key(gracePeriod, 'task.terminationGracePeriodSeconds', {
    in: FIXED_SHUTDOWN,
    accepts: (period) => period >= 360,
    partly: () =>
      'Up to 0.5.68, the worker stops a run after 360 s regardless of the grace period. Fixed in 0.5.69.',
  }),
  key(gracePeriod, 'task.terminationGracePeriodSeconds', {in: '>=0.5.69'}),
  key(jobTtl, 'task.job.ttlSecondsAfterFinished'),
  switched(writableRoot, {
    'task.runner.securityContext.readOnlyRootFilesystem': {on: false, off: true},
    'task.runner.securityContext.runAsNonRoot': {on: false, off: true},
    'task.runner.securityContext.runAsUser': {on: 0, off: undefined},
    'task.runner.securityContext.runAsGroup': {on: 0, off: undefined},
  }),
  extraVariables([{path: 'extraEnv'}], controllerOnly),
  extraVariables([
    {path: 'agent.extraEnv'},
    {path: 'task.runner.extraEnv', takes: (name) => !name.startsWith('SCALR_AGENT_')},
  ]),
];
