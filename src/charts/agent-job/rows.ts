import {at, getAt, isOn, textAt, type Values} from '../../ground/tree.ts';
import {splitImage} from '../../settings/addresses.ts';
import {
  debug,
  isolation,
  logFormat,
  otelEndpoint,
  otelMetrics,
  otelTraces,
  purpose,
  tokenSecret,
  tokenSecretKey,
  url,
} from '../../settings/agent.ts';
import type {Setting} from '../../settings/define.ts';
import {metadataService, providerMirror, workloadIdentity} from '../../settings/network.ts';
import * as pods from '../../settings/pods.ts';
import {cloud, nodeOs} from '../../settings/release.ts';
import * as storage from '../../settings/storage.ts';
import {clientCertSecret} from '../../settings/tls.ts';
import type {Row, ValuesEntry} from '../define.ts';
import {
  asEnum,
  asGibibytes,
  asMirrors,
  asOnOff,
  asReferences,
  behindSwitch,
  fixedValue,
  key,
  keys,
  noRunLimit,
  notWritten,
  onlyIn,
  row,
  switched,
  variable,
} from '../row-kinds.ts';
import {
  CONTROLLER_SIZES,
  caBundleRows,
  caExtraVariable,
  claimCache,
  extraVariables,
  inMebibytes,
  mountRow,
  podLabels,
  proxyKeys,
  proxyVariables,
  RUN_SIZES,
  resourceRows,
  serviceAccount,
  WORKER_SIZES,
} from '../shared-rows.ts';
import {MIRRORS} from '../shared-versions.ts';
import {FLAT, MUTUAL_TLS, NESTED} from './versions.ts';

const controllerOnly = {partly: () => 'Up to 0.5.63, agent-job sets variables on the controller only, not on run pods. Fixed in 0.5.64.'};

/** Up to 0.5.63, templates/role.yaml requires the service account of the chart. */
const ownAccount: NonNullable<Row<string>['partly']> = (_, {get}) =>
  get(pods.serviceAccountAnnotation) === undefined
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

const hasHostPath = (values: Values): boolean => isOn(values, 'persistence.cache.enabled') && textAt(values, CACHE_DIRECTORY) !== '';

/** Values keys of each setting in agent-job. */
export const rows: readonly Row[] = [
  key(url, 'agent.url'),
  key(tokenSecret, 'agent.tokenExistingSecret', {in: FLAT}),
  key(tokenSecretKey, 'agent.tokenExistingSecretKey', {in: FLAT}),
  key(tokenSecret, 'agent.tokenExistingSecret.name', {in: NESTED}),
  key(tokenSecretKey, 'agent.tokenExistingSecret.key', {in: NESTED}),
  variable(debug, {map: 'extraEnv', name: 'SCALR_AGENT_DEBUG', as: asOnOff('1', '0'), in: FLAT, ...controllerOnly}),
  variable(logFormat, {map: 'extraEnv', name: 'SCALR_AGENT_LOG_FORMAT', in: FLAT, ...controllerOnly}),
  key(debug, 'agent.debug', {as: asOnOff('1', '0'), in: NESTED}),
  key(logFormat, 'agent.logFormat', {in: NESTED}),
  fixedValue(purpose, 'runs'),
  notWritten(isolation),
  noRunLimit('agent-job', 'Job'),
  notWritten(cloud),
  notWritten(nodeOs),
  ...onlyIn(FLAT, proxyVariables('extraEnv', controllerOnly)),
  ...onlyIn(NESTED, proxyKeys('global.proxy')),
  key(metadataService, 'restrictMetadataService', {as: asEnum({block: true, allow: false}), in: FLAT}),
  key(metadataService, 'task.allowMetadataService', {as: asEnum({block: false, allow: true}), in: NESTED}),
  notWritten(workloadIdentity, {in: FLAT, accepts: (kind) => kind !== 'azure'}),
  row({
    setting: workloadIdentity,
    in: NESTED,
    paths: [at('task.podLabels')],
    write: (kind) => (kind === 'azure' ? [[AZURE_LABEL, 'true']] : []),
    read: (values) => (getAt(values, AZURE_LABEL) === 'true' ? 'azure' : undefined),
  }),
  ...onlyIn(NESTED, caBundleRows('global.tls')),
  ...onlyIn(FLAT, caExtraVariable(controllerOnly)),
  key(clientCertSecret, 'global.tls.clientCertSecret.name', {
    in: MUTUAL_TLS,
    partly: () =>
      'agent-job mounts the client certificate in the controller and worker, not in the runner container, where Terraform runs.',
  }),
  ...flatCache(),
  ...hostPathCache(claimCache({volume: 'persistence.cache', limit: 'persistence.cache.emptyDir.sizeLimit', in: NESTED})),
  key(storage.cachePath, 'persistence.cache.hostPath.path', {in: '>=0.6.2'}),
  key(storage.dataHome, 'agent.dataDir'),
  key(storage.dataSize, 'persistence.data.emptyDir.sizeLimit', {in: NESTED}),
  key(storage.providerCache, 'agent.providerCache.enabled', {in: NESTED}),
  key(storage.providerCacheLimit, 'agent.providerCache.sizeLimit', {...cacheLimit, in: NESTED}),
  key(storage.moduleCache, 'agent.moduleCache.enabled', {in: '>=0.5.65'}),
  key(storage.moduleCacheLimit, 'agent.moduleCache.sizeLimit', {...cacheLimit, in: '>=0.5.65'}),
  key(providerMirror, 'agent.providerNetworkMirrors', {as: asMirrors, in: MIRRORS}),
  key(pods.affinity, 'task.affinity', {in: NESTED}),
  key(pods.controllerAffinity, 'agent.affinity', {in: NESTED}),
  mountRow('task.extraVolumes', 'task.runner.extraVolumeMounts', {in: NESTED}),
  key(pods.sidecar, 'task.sidecars', {in: NESTED}),
  ...onlyIn(NESTED, resourceRows(WORKER_SIZES, 'task.worker.resources')),
  ...onlyIn(NESTED, resourceRows(RUN_SIZES, 'task.runner.resources')),
  key(pods.controllerReplicas, 'agent.replicaCount', {in: NESTED}),
  ...onlyIn(FLAT, resourceRows(CONTROLLER_SIZES, 'resources')),
  ...onlyIn(NESTED, resourceRows(CONTROLLER_SIZES, 'agent.resources')),
  key(pods.nodeSelector, 'task.nodeSelector', {in: NESTED}),
  key(pods.controllerNodeSelector, 'controllerNodeSelector', {in: FLAT}),
  key(pods.controllerNodeSelector, 'agent.nodeSelector', {in: NESTED}),
  key(pods.toleration, 'task.tolerations', {in: NESTED}),
  key(pods.controllerToleration, 'controllerTolerations', {in: FLAT}),
  key(pods.controllerToleration, 'agent.tolerations', {in: NESTED}),
  podLabels('task.podLabels', {
    in: '0.5.64 - 0.5.67',
    partly: () => 'In this version, controller labels cannot be rendered, so the labels are set on run pods only. Fixed in 0.5.68.',
  }),
  podLabels('global.podLabels', {in: '>=0.5.68'}),
  key(pods.podAnnotation, 'podAnnotations', {
    in: FLAT,
    partly: () => 'Up to 0.5.63, agent-job annotates the controller only, not run pods. Fixed in 0.5.64.',
  }),
  key(pods.podAnnotation, 'global.podAnnotations', {in: NESTED}),
  ...onlyIn(FLAT, serviceAccount({partly: ownAccount})),
  ...onlyIn(NESTED, serviceAccount()),
  key(pods.imageRegistry, 'global.imageRegistry', {in: NESTED}),
  keys(pods.imagePullPolicy, ['controller.image.pullPolicy', 'worker.image.pullPolicy', 'worker.runner.image.pullPolicy'], {
    in: FLAT,
  }),
  keys(pods.imagePullPolicy, ['agent.image.pullPolicy', 'task.runner.image.pullPolicy'], {in: NESTED}),
  key(pods.imagePullSecret, 'imagePullSecrets', {as: asReferences, in: FLAT}),
  key(pods.imagePullSecret, 'global.imagePullSecrets', {as: asReferences, in: NESTED}),
  ...onlyIn(FLAT, [image(pods.agentImage, 'controller.image', 'worker.image'), image(pods.runnerImage, 'worker.runner.image')]),
  ...onlyIn(NESTED, [image(pods.agentImage, 'agent.image'), image(pods.runnerImage, 'task.runner.image')]),
  ...onlyIn(
    NESTED,
    behindSwitch('otel.enabled', [
      key(otelEndpoint, 'otel.endpoint'),
      key(otelMetrics, 'otel.metricsEnabled'),
      key(otelTraces, 'otel.tracesEnabled'),
    ]),
  ),
  key(pods.gracePeriod, 'task.terminationGracePeriodSeconds', {
    in: '0.5.64 - 0.5.68',
    accepts: (period) => period >= 360,
    partly: () => 'Up to 0.5.68, the worker stops a run after 360 s regardless of the grace period. Fixed in 0.5.69.',
  }),
  key(pods.gracePeriod, 'task.terminationGracePeriodSeconds', {in: '>=0.5.69'}),
  key(pods.jobTtl, 'task.job.ttlSecondsAfterFinished', {in: NESTED}),
  switched(
    pods.writableRoot,
    {
      'task.runner.securityContext.readOnlyRootFilesystem': {on: false, off: true},
      'task.runner.securityContext.runAsNonRoot': {on: false, off: true},
      'task.runner.securityContext.runAsUser': {on: 0, off: undefined},
      'task.runner.securityContext.runAsGroup': {on: 0, off: undefined},
    },
    {in: NESTED},
  ),
  ...onlyIn(FLAT, [extraVariables([{path: 'extraEnv'}], controllerOnly)]),
  ...onlyIn(NESTED, [
    extraVariables([{path: 'agent.extraEnv'}, {path: 'task.runner.extraEnv', takes: (name) => !name.startsWith('SCALR_AGENT_')}]),
  ]),
];

/** Up to 0.5.63: a claim, or EFS objects that no pod mounts unless the claim is named (templates/worker.yaml). */
function flatCache(): Row[] {
  const [plain, ...others] = claimCache({
    volume: 'persistence',
    in: FLAT,
    // templates/pvc.yaml reads secret.annotations, which values.yaml lacks, and crashes without it.
    withClaim: {
      paths: [at('secret.annotations')],
      write: ({get}) => (get(storage.cache) === 'pvc' ? [[at('secret.annotations'), {}, 'The PVC template fails without this key']] : []),
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
    key(storage.efsHandle, 'efsVolumeHandle', {
      in: FLAT,
      partly: () => 'Only one release per cluster can use EFS with this chart version.',
    }),
    key(storage.efsMountOption, 'efsMountOptions', {in: FLAT}),
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
        kind === 'hostpath' ? getAt(scope.defaults, CACHE_DIRECTORY) !== undefined : (base.accepts?.(kind, scope) ?? true),
      read: (values, scope) => (hasHostPath(values) ? 'hostpath' : base.read(values, scope)),
    }),
    ...others,
  ];
}
