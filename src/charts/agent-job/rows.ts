import {splitImage} from '../../settings/addresses.ts';
import {debug, logFormat, otelEndpoint, otelMetrics, otelTraces, tokenSecret, tokenSecretKey, url} from '../../settings/agent.ts';
import {cloud, nodeOs} from '../../settings/cluster.ts';
import type {Setting} from '../../settings/define.ts';
import {metadataService, workloadIdentity} from '../../settings/network.ts';
import {
  agentImage,
  controllerNodeSelector,
  controllerToleration,
  gracePeriod,
  imagePullSecret,
  imageRegistry,
  nodeSelector,
  runCpuLimit,
  runCpuRequest,
  runMemoryLimit,
  runMemoryRequest,
  runnerImage,
  serviceAccountAnnotation,
  shutdownMode,
  toleration,
} from '../../settings/pods.ts';
import {concurrency, isolation, purpose} from '../../settings/purpose.ts';
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
  moduleCache,
  providerCache,
} from '../../settings/storage.ts';
import {caFile, caScope, caSecret, clientCertSecret} from '../../settings/tls.ts';
import type {Entry, Refusal, Row} from '../define.ts';
import {
  always,
  asBoolean,
  asChoice,
  asNumber,
  asQuantity,
  asReferences,
  asSwitch,
  asTextMap,
  asTolerations,
  asWord,
  behindSwitch,
  key,
  only,
  row,
  unwritten,
  variable,
} from '../row-kinds.ts';
import {
  caBundle,
  caExtraVariable,
  claimCache,
  extraVariables,
  proxyKeys,
  proxyVariables,
  runResources,
  serviceAccount,
} from '../shared-rows.ts';
import {at, getAt, isOn, textAt, type Values} from '../tree.ts';
import {FLAT, MUTUAL_TLS, NESTED} from './versions.ts';

const controllerOnly = {
  partly: () => 'agent-job up to 0.5.63 hands variables to the controller only; the pods of runs do not get this one. 0.5.64 mends that.',
};

/** Up to 0.5.63 templates/role.yaml is tied to the account of the chart. */
const ownAccount: NonNullable<Row<string>['partly']> = (_, {get}) =>
  get(serviceAccountAnnotation) === undefined
    ? 'With an account of your own the chart makes no Role: bind jobs, pods, pods/status, pods/log, pods/exec, configmaps and secrets to it, and agentworkers.scalr.io in the cluster.'
    : undefined;

const CACHE_DIRECTORY = at('persistence.cache.hostPath.path');
const AZURE_LABEL = [...at('task.podLabels'), 'azure.workload.identity/use'];

const image = (setting: Setting<string>, ...paths: readonly string[]): Row =>
  row({
    setting,
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
        .map((part) => textAt(values, `${paths[0]}.${part}`))
        .filter((text) => text !== '')
        .join(':'),
  });

const hasHostPath = (values: Values): boolean => isOn(values, 'persistence.cache.enabled') && textAt(values, CACHE_DIRECTORY) !== '';

/** Where each setting lies in the values of agent-job. */
export const rows: readonly Row[] = [
  key(url, 'agent.url'),
  key(tokenSecret, 'agent.tokenExistingSecret', {in: FLAT}),
  key(tokenSecretKey, 'agent.tokenExistingSecretKey', {in: FLAT}),
  key(tokenSecret, 'agent.tokenExistingSecret.name', {in: NESTED}),
  key(tokenSecretKey, 'agent.tokenExistingSecret.key', {in: NESTED}),
  variable(debug, {map: 'extraEnv', name: 'SCALR_AGENT_DEBUG', as: asSwitch('1', '0'), in: FLAT, ...controllerOnly}),
  variable(logFormat, {map: 'extraEnv', name: 'SCALR_AGENT_LOG_FORMAT', as: asChoice(logFormat), in: FLAT, ...controllerOnly}),
  key(debug, 'agent.debug', {as: asSwitch('1', '0'), in: NESTED}),
  key(logFormat, 'agent.logFormat', {as: asChoice(logFormat), in: NESTED}),
  always(purpose, 'runs'),
  unwritten(isolation),
  unwritten(concurrency, {
    partly: (value) =>
      `agent-job starts a Job for every run the pool hands out and has no limit of its own. ${value} at a time need room on the nodes for ${value} of them.`,
  }),
  unwritten(cloud),
  unwritten(nodeOs),
  ...only(FLAT, proxyVariables('extraEnv', controllerOnly)),
  ...only(NESTED, proxyKeys('global.proxy')),
  key(metadataService, 'restrictMetadataService', {
    as: asWord({block: true, allow: false}),
    in: FLAT,
    partly: (value) =>
      value === 'block'
        ? 'The policy of agent-job up to 0.5.63 covers the controller only, not the pods of runs, and has no DNS rule. 0.5.69 mends both.'
        : undefined,
  }),
  key(metadataService, 'task.allowMetadataService', {as: asWord({block: false, allow: true}), in: NESTED}),
  unwritten(workloadIdentity, {in: FLAT, accepts: (kind) => kind !== 'azure'}),
  row({
    setting: workloadIdentity,
    in: NESTED,
    paths: [at('task.podLabels')],
    write: (kind) => (kind === 'azure' ? [[AZURE_LABEL, 'true']] : []),
    read: (values) => (getAt(values, AZURE_LABEL) === 'true' ? 'azure' : undefined),
  }),
  ...only(NESTED, caBundle('global.tls')),
  ...only(FLAT, caExtraVariable(controllerOnly)),
  key(clientCertSecret, 'global.tls.clientCertSecret.name', {
    in: MUTUAL_TLS,
    partly: () => 'agent-job gives the client certificate to controller and worker, not to the runner container that Terraform runs in.',
  }),
  ...flatCache(),
  always(cache, 'ephemeral', {in: '0.5.64'}),
  key(cacheSize, 'persistence.cache.emptyDir.sizeLimit', {as: asQuantity, in: '0.5.64'}),
  ...hostPathCache(claimCache({volume: 'persistence.cache', limit: 'persistence.cache.emptyDir.sizeLimit', in: '>=0.5.65'})),
  key(cachePath, 'persistence.cache.hostPath.path', {in: '>=0.6.2'}),
  key(dataHome, 'agent.dataDir'),
  key(dataSize, 'persistence.data.emptyDir.sizeLimit', {as: asQuantity, in: NESTED}),
  key(providerCache, 'agent.providerCache.enabled', {as: asBoolean, in: NESTED}),
  key(moduleCache, 'agent.moduleCache.enabled', {as: asBoolean, in: '>=0.5.65'}),
  ...only(NESTED, runResources('task.runner.resources')),
  key(nodeSelector, 'task.nodeSelector', {as: asTextMap, in: NESTED}),
  key(controllerNodeSelector, 'controllerNodeSelector', {as: asTextMap, in: FLAT}),
  key(controllerNodeSelector, 'agent.nodeSelector', {as: asTextMap, in: NESTED}),
  key(toleration, 'task.tolerations', {as: asTolerations, in: NESTED}),
  key(controllerToleration, 'controllerTolerations', {as: asTolerations, in: FLAT}),
  key(controllerToleration, 'agent.tolerations', {as: asTolerations, in: NESTED}),
  ...only(FLAT, serviceAccount({partly: ownAccount})),
  ...only(NESTED, serviceAccount()),
  key(imageRegistry, 'global.imageRegistry', {in: NESTED}),
  key(imagePullSecret, 'imagePullSecrets', {as: asReferences, in: FLAT}),
  key(imagePullSecret, 'global.imagePullSecrets', {as: asReferences, in: NESTED}),
  ...only(FLAT, [image(agentImage, 'controller.image', 'worker.image'), image(runnerImage, 'worker.runner.image')]),
  ...only(NESTED, [image(agentImage, 'agent.image'), image(runnerImage, 'task.runner.image')]),
  ...only(
    NESTED,
    behindSwitch('otel.enabled', [
      key(otelEndpoint, 'otel.endpoint'),
      key(otelMetrics, 'otel.metricsEnabled', {as: asBoolean}),
      key(otelTraces, 'otel.tracesEnabled', {as: asBoolean}),
    ]),
  ),
  key(gracePeriod, 'task.terminationGracePeriodSeconds', {
    as: asNumber,
    in: '0.5.64 - 0.5.68',
    accepts: (period) => period >= 360,
    partly: () => 'Up to 0.5.68 the worker stops its run after 360 s whatever the grace period; 0.5.69 mends that.',
  }),
  key(gracePeriod, 'task.terminationGracePeriodSeconds', {as: asNumber, in: '>=0.5.69'}),
  ...only(FLAT, [extraVariables([{path: 'extraEnv'}], controllerOnly)]),
  ...only(NESTED, [
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
      write: ({get}) =>
        get(cache) === 'pvc' ? [[at('secret.annotations'), {}, 'The template of the claim reads this key and crashes without it']] : [],
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
    key(efsHandle, 'efsVolumeHandle', {in: FLAT, partly: () => 'Only one release per cluster can use EFS in this way.'}),
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

/** Why agent-job has no place for a setting. */
export const refusals: readonly Refusal[] = [
  ...[cache, cacheClaim, cacheStorageClass, cacheAccessMode, cacheSubPath].map((setting) => ({
    setting,
    in: '0.5.64',
    reason: 'its runs look for a cache on a claim in other directories than its workers write to',
  })),
  {setting: gracePeriod, in: '0.5.64 - 0.5.68', reason: 'its worker takes 360 s to stop a run, so a shorter period kills it half-way'},
  {setting: cache, in: FLAT, reason: 'its cache lives on a claim or on EFS'},
  {setting: cacheStorageClass, of: '-', reason: '"-" breaks its templates before 0.6.2'},
  {setting: providerCache, in: FLAT, reason: 'it has no switch for it'},
  {setting: moduleCache, in: '<=0.5.64', reason: 'it has no module cache'},
  {setting: otelEndpoint, in: FLAT, reason: 'it has no keys for it'},
  {setting: clientCertSecret, reason: 'it has no keys for it'},
  {setting: cachePath, in: '<=0.6.1', reason: 'it mounts no directory of the node'},
  ...[runCpuRequest, runCpuLimit, runMemoryRequest, runMemoryLimit].map((setting) => ({
    setting,
    in: FLAT,
    reason: 'it has no keys for the container that runs execute in',
  })),
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
];
