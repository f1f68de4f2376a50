import {at, getAt, isOn, textAt, type Values} from '../../ground/tree.ts';
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
import {claimCache, inMebibytes} from '../shared/cache-rows.ts';
import {asEnum, asGibibytes, asMirrors, asOnOff, asReferences} from '../shared/codecs.ts';
import {extraVariables} from '../shared/extra-variables.ts';
import {MIRRORS} from '../shared/ignored-keys.ts';
import {proxyKeys, proxyVariables} from '../shared/network-rows.ts';
import {mountRow, noRunLimit, podLabels, resourceRows, serviceAccount} from '../shared/pod-rows.ts';
import type {Row, ValuesEntry} from '../shared/row.ts';
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
import {FLAT, MUTUAL_TLS, NESTED} from './versions.ts';

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

const CACHE_DIRECTORY = at('persistence.cache.hostPath.path');
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

const hasHostPath = (values: Values): boolean =>
  isOn(values, 'persistence.cache.enabled') && textAt(values, CACHE_DIRECTORY) !== '';

/** Values keys of each setting in agent-job. */
export const rows: readonly Row[] = [
  key(url, 'agent.url'),
  fixedValue(purpose, 'runs'),
  notWritten(isolation),
  noRunLimit('agent-job', 'Job'),
  notWritten(cloud),
  notWritten(nodeOs),
  key(clientCertSecret, 'global.tls.clientCertSecret.name', {
    in: MUTUAL_TLS,
    partly: () =>
      'agent-job mounts the client certificate in the controller and worker, not in the runner container, where Terraform runs.',
  }),
  key(cachePath, 'persistence.cache.hostPath.path', {in: '>=0.6.2'}),
  key(dataHome, 'agent.dataDir'),
  key(moduleCache, 'agent.moduleCache.enabled', {in: '>=0.5.65'}),
  key(moduleCacheLimit, 'agent.moduleCache.sizeLimit', {...cacheLimit, in: '>=0.5.65'}),
  key(providerMirror, 'agent.providerNetworkMirrors', {as: asMirrors, in: MIRRORS}),
  podLabels('task.podLabels', {
    in: '0.5.64 - 0.5.67',
    partly: () =>
      'In this version, controller labels cannot be rendered, so the labels are set on run pods only. Fixed in 0.5.68.',
  }),
  podLabels('global.podLabels', {in: '>=0.5.68'}),
  key(gracePeriod, 'task.terminationGracePeriodSeconds', {
    in: '0.5.64 - 0.5.68',
    accepts: (period) => period >= 360,
    partly: () =>
      'Up to 0.5.68, the worker stops a run after 360 s regardless of the grace period. Fixed in 0.5.69.',
  }),
  key(gracePeriod, 'task.terminationGracePeriodSeconds', {in: '>=0.5.69'}),
  ...onlyIn(FLAT, [
    key(tokenSecret, 'agent.tokenExistingSecret'),
    key(tokenSecretKey, 'agent.tokenExistingSecretKey'),
    variable(debug, {
      map: 'extraEnv',
      name: 'SCALR_AGENT_DEBUG',
      as: asOnOff('1', '0'),
      ...controllerOnly,
    }),
    variable(logFormat, {map: 'extraEnv', name: 'SCALR_AGENT_LOG_FORMAT', ...controllerOnly}),
    ...proxyVariables('extraEnv', controllerOnly),
    key(metadataService, 'restrictMetadataService', {as: asEnum({block: true, allow: false})}),
    notWritten(workloadIdentity, {accepts: (kind) => kind !== 'azure'}),
    ...caExtraVariable(controllerOnly),
    ...flatCache(),
    ...resourceRows(controllerSize, 'resources'),
    key(controllerNodeSelector, 'controllerNodeSelector'),
    key(controllerToleration, 'controllerTolerations'),
    key(podAnnotation, 'podAnnotations', {
      partly: () =>
        'Up to 0.5.63, agent-job annotates the controller only, not run pods. Fixed in 0.5.64.',
    }),
    ...serviceAccount({partly: ownAccount}),
    keys(imagePullPolicy, [
      'controller.image.pullPolicy',
      'worker.image.pullPolicy',
      'worker.runner.image.pullPolicy',
    ]),
    key(imagePullSecret, 'imagePullSecrets', {as: asReferences}),
    image(agentImage, 'controller.image', 'worker.image'),
    image(runnerImage, 'worker.runner.image'),
    extraVariables([{path: 'extraEnv'}], controllerOnly),
  ]),
  ...onlyIn(NESTED, [
    key(tokenSecret, 'agent.tokenExistingSecret.name'),
    key(tokenSecretKey, 'agent.tokenExistingSecret.key'),
    key(debug, 'agent.debug', {as: asOnOff('1', '0')}),
    key(logFormat, 'agent.logFormat'),
    ...proxyKeys('global.proxy'),
    key(metadataService, 'task.allowMetadataService', {as: asEnum({block: false, allow: true})}),
    row({
      setting: workloadIdentity,
      paths: [at('task.podLabels')],
      write: (kind) => (kind === 'azure' ? [[AZURE_LABEL, 'true']] : []),
      read: (values) => (getAt(values, AZURE_LABEL) === 'true' ? 'azure' : undefined),
    }),
    ...caBundleRows('global.tls'),
    ...hostPathCache(
      claimCache({volume: 'persistence.cache', limit: 'persistence.cache.emptyDir.sizeLimit'}),
    ),
    key(dataSize, 'persistence.data.emptyDir.sizeLimit'),
    key(providerCache, 'agent.providerCache.enabled'),
    key(providerCacheLimit, 'agent.providerCache.sizeLimit', cacheLimit),
    key(affinity, 'task.affinity'),
    key(controllerAffinity, 'agent.affinity'),
    mountRow('task.extraVolumes', 'task.runner.extraVolumeMounts'),
    key(sidecar, 'task.sidecars'),
    ...resourceRows(workerSize, 'task.worker.resources'),
    ...resourceRows(runSize, 'task.runner.resources'),
    key(controllerReplicas, 'agent.replicaCount'),
    ...resourceRows(controllerSize, 'agent.resources'),
    key(nodeSelector, 'task.nodeSelector'),
    key(controllerNodeSelector, 'agent.nodeSelector'),
    key(toleration, 'task.tolerations'),
    key(controllerToleration, 'agent.tolerations'),
    key(podAnnotation, 'global.podAnnotations'),
    ...serviceAccount(),
    key(imageRegistry, 'global.imageRegistry'),
    keys(imagePullPolicy, ['agent.image.pullPolicy', 'task.runner.image.pullPolicy']),
    key(imagePullSecret, 'global.imagePullSecrets', {as: asReferences}),
    image(agentImage, 'agent.image'),
    image(runnerImage, 'task.runner.image'),
    ...behindSwitch('otel.enabled', [
      key(otelEndpoint, 'otel.endpoint'),
      key(otelMetrics, 'otel.metricsEnabled'),
      key(otelTraces, 'otel.tracesEnabled'),
    ]),
    key(jobTtl, 'task.job.ttlSecondsAfterFinished'),
    switched(writableRoot, {
      'task.runner.securityContext.readOnlyRootFilesystem': {on: false, off: true},
      'task.runner.securityContext.runAsNonRoot': {on: false, off: true},
      'task.runner.securityContext.runAsUser': {on: 0, off: undefined},
      'task.runner.securityContext.runAsGroup': {on: 0, off: undefined},
    }),
    extraVariables([
      {path: 'agent.extraEnv'},
      {path: 'task.runner.extraEnv', takes: (name) => !name.startsWith('SCALR_AGENT_')},
    ]),
  ]),
];

/** Up to 0.5.63: a claim, or EFS objects that no pod mounts unless the claim is named (templates/worker.yaml). */
function flatCache(): Row[] {
  const [plain, ...others] = claimCache({
    volume: 'persistence',
    // templates/pvc.yaml reads secret.annotations, which values.yaml lacks, and crashes without it.
    withClaim: {
      paths: [at('secret.annotations')],
      write: ({get}) =>
        get(cache) === 'pvc'
          ? [[at('secret.annotations'), {}, 'The PVC template fails without this key']]
          : [],
    },
  }) as [Row<string>, ...Row[]];
  const claim = at('persistence.persistentVolumeClaim.claimName');
  const isEfs = (values: Values): boolean => textAt(values, 'efsVolumeHandle') !== '';
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
    key(efsHandle, 'efsVolumeHandle', {
      partly: () => 'Only one release per cluster can use EFS with this chart version.',
    }),
    key(efsMountOption, 'efsMountOptions'),
    ...others,
  ];
}

/** Since 0.6.2, the cache can be a directory of the node. */
function hostPathCache([plain, ...others]: readonly Row[]): Row[] {
  const base = plain as Row<string>;
  return [
    row({
      ...base,
      accepts: (kind, scope) =>
        kind === 'hostpath'
          ? getAt(scope.defaults, CACHE_DIRECTORY) !== undefined
          : (base.accepts?.(kind, scope) ?? true),
      read: (values, scope) => (hasHostPath(values) ? 'hostpath' : base.read(values, scope)),
    }),
    ...others,
  ];
}
