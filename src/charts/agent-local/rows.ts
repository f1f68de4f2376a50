import {at, getAt, textAt, type Values} from '../../ground/tree.ts';
import {debug, logFormat, tokenSecret, tokenSecretKey, url} from '../../settings/agent.ts';
import {cache, cacheAccessMode, cacheSize} from '../../settings/cache.ts';
import {cloud, nodeOs} from '../../settings/cluster.ts';
import type {Get, Setting} from '../../settings/define.ts';
import {
  agentImage,
  imagePullPolicy,
  imagePullSecret,
  imageRegistry,
  runnerImage,
} from '../../settings/images.ts';
import {namesRegistry, splitImage} from '../../settings/kinds/images.ts';
import {textMapIn} from '../../settings/kinds/lists.ts';
import {
  acquireTimeout,
  gracePeriod,
  jobTtl,
  schedulingTimeout,
  shutdownMode,
  writableRoot,
} from '../../settings/lifecycle.ts';
import {metadataService, providerMirror, workloadIdentity} from '../../settings/network.ts';
import {
  affinity,
  controllerAffinity,
  controllerNodeSelector,
  controllerToleration,
  nodeSelector,
  podAnnotation,
  toleration,
} from '../../settings/placement.ts';
import {concurrency, isolation, purpose, singleRun} from '../../settings/purpose.ts';
import {controllerReplicas, controllerSize, runSize, workerSize} from '../../settings/size.ts';
import {
  dataHome,
  dataSize,
  moduleCache,
  moduleCacheLimit,
  providerCache,
  providerCacheLimit,
} from '../../settings/storage.ts';

import {caScope, clientCertSecret} from '../../settings/tls.ts';
import {caBundleRows, caExtraVariable} from '../shared/ca-rows.ts';
import {cacheLimit, claimCache, ephemeralLimit} from '../shared/cache-rows.ts';
import {asEnum, asMirrors, asOnOff, asReferences} from '../shared/codecs.ts';
import {extraVariables} from '../shared/extra-variables.ts';
import {proxyVariables, telemetryVariables} from '../shared/network-rows.ts';
import {mountRow, resourceRows, serviceAccount} from '../shared/pod-rows.ts';
import type {Refusal, Row, Scope, ValuesEntry} from '../shared/row.ts';
import {
  fixedValue,
  implied,
  key,
  notWritten,
  onlyIn,
  row,
  switched,
  variable,
} from '../shared/row-kinds.ts';
import {EFS_NEEDS_CLAIM, sharedRefusals} from '../shared/shared-refusals.ts';
import {METADATA_BELOW_AGENT, ONE_PERSISTENCE} from './ranges.ts';
import {usesOldPersistence} from './versions.ts';

/** No chart has a key for the purpose of the pool. */
export const PURPOSE_ANNOTATION = 'scalr.io/purpose';
const PURPOSE = [...at('podAnnotations'), PURPOSE_ANNOTATION];

const REPOSITORY = at('image.repository');
const TAG = at('image.tag');

/** docs/charts/agent-local.md, "Rolling updates". */
const withClaim = {
  paths: [at('strategy.type')],
  write: ({get}: Scope): ValuesEntry[] =>
    get(cacheAccessMode) === 'ReadWriteMany' || (get(concurrency) ?? 1) > 1
      ? []
      : [
          [
            at('strategy.type'),
            'Recreate',
            'A rolling update would wait for the volume that the old pod still uses',
          ],
        ],
  isForAllNodes: (values: Values): boolean =>
    textAt(values, 'strategy.type') !== 'Recreate' &&
    Number(getAt(values, at('replicaCount')) ?? 1) <= 1,
};

/** Splits the repository into mirror and original repository. */
function mirrorOf(values: Values, {defaults}: Scope): {registry?: string; repository: string} {
  const repository = textAt(values, REPOSITORY);
  const original = textAt(defaults, REPOSITORY);
  return repository.endsWith(`/${original}`) && namesRegistry(repository)
    ? {registry: repository.slice(0, -original.length - 1), repository: original}
    : {repository};
}

const extraSwitch = (setting: Setting<boolean>): Row<boolean> =>
  variable(setting, {map: 'extraEnv', as: asOnOff('true', 'false')});
const single = extraSwitch(singleRun);
const providerCacheRow = extraSwitch(providerCache);
const moduleCacheRow = extraSwitch(moduleCache);

const isolationOf = (get: Get): 'shared' | 'per-run' => (get(singleRun) ? 'per-run' : 'shared');

/** Values keys of each setting in agent-local. */
export const rows: readonly Row[] = [
  key(url, 'agent.url'),
  key(tokenSecret, 'agent.tokenExistingSecret.name'),
  key(tokenSecretKey, 'agent.tokenExistingSecret.key'),
  variable(debug, {map: 'extraEnv', as: asOnOff('1', '0')}),
  variable(logFormat, {map: 'extraEnv'}),
  row({
    setting: purpose,
    paths: [at('podAnnotations')],
    write: (value) =>
      value === 'vcs'
        ? [[PURPOSE, value, 'Marks the agent of a VCS pool, for status and other tools']]
        : [],
    read: (values) => (getAt(values, PURPOSE) === 'vcs' ? 'vcs' : 'runs'),
  }),
  row({
    ...single,
    // extraEnv of a values file overrides the defaults of the cache settings, but the caches must be disabled.
    write: (isOn, scope) => [
      ...single.write(isOn, scope),
      ...[providerCacheRow, moduleCacheRow].flatMap((cacheRow) =>
        isOn && !scope.get(cacheRow.setting) ? cacheRow.write(false, scope) : [],
      ),
    ],
    partly: (isOn) =>
      isOn
        ? 'With agent-local, each run gets a new container in the same pod; volumes and their binaries are kept. With agent-job, runs share nothing.'
        : undefined,
  }),
  implied(isolation, (_, {get}) => isolationOf(get), {
    accepts: (value, {get}) => value === isolationOf(get),
  }),
  key(concurrency, 'replicaCount'),
  notWritten(cloud),
  notWritten(nodeOs),
  ...proxyVariables('extraEnv'),
  fixedValue(metadataService, 'allow', {in: '<=0.5.64'}),
  row({
    ...key(metadataService, 'agent.allowMetadataService', {
      in: METADATA_BELOW_AGENT,
      as: asEnum({block: false, allow: true}),
    }),
    // The key is not in values.yaml; without it, the policy is created.
    read: (values) =>
      getAt(values, at('agent.allowMetadataService')) === true ? 'allow' : 'block',
  }),
  key(metadataService, 'allowMetadataService', {
    as: asEnum({block: false, allow: true}),
    in: '>=0.5.67',
  }),
  notWritten(workloadIdentity, {accepts: (kind) => kind !== 'azure'}),
  ...caBundleRows('agent.tls'),
  ...onlyIn('<0.6.0', caExtraVariable()),
  key(clientCertSecret, 'agent.tls.clientCertSecret.name'),
  ...onlyIn(ONE_PERSISTENCE, claimCache({volume: 'persistence', withClaim})),
  ...claimCache({
    volume: 'persistence.cache',
    volumeIn: (values) => (usesOldPersistence(values) ? 'persistence' : 'persistence.cache'),
    withClaim,
  }),
  ephemeralLimit('persistence.emptyDir.sizeLimit'),
  ephemeralLimit('persistence.cache.emptyDir.sizeLimit'),
  key(dataHome, 'agent.dataDir'),
  key(dataSize, 'persistence.data.emptyDir.sizeLimit'),
  providerCacheRow,
  variable(providerCacheLimit, {
    map: 'extraEnv',
    ...cacheLimit,
  }),
  moduleCacheRow,
  variable(moduleCacheLimit, {
    map: 'extraEnv',
    ...cacheLimit,
  }),
  key(providerMirror, 'agent.providerNetworkMirrors', {as: asMirrors}),
  key(affinity, 'affinity'),
  mountRow('extraVolumes', 'extraVolumeMounts'),
  ...resourceRows(runSize, 'resources'),
  key(nodeSelector, 'nodeSelector'),
  key(toleration, 'tolerations'),
  row({
    setting: podAnnotation,
    paths: [at('podAnnotations')],
    write: (given) =>
      Object.entries(given).map(
        ([name, value]) => [[...at('podAnnotations'), name], value] as const,
      ),
    read: (values) => {
      const {[PURPOSE_ANNOTATION]: _, ...others} = (getAt(values, at('podAnnotations')) ??
        {}) as Values;
      return textMapIn(others);
    },
  }),
  ...serviceAccount(),
  row({
    setting: imageRegistry,
    accepts: (_, {get, defaults}) =>
      ['', getAt(defaults, REPOSITORY)].includes(splitImage(get(agentImage) ?? '').repository),
    paths: [REPOSITORY],
    write: (registry, {defaults}) => [[REPOSITORY, `${registry}/${getAt(defaults, REPOSITORY)}`]],
    read: (values, scope) => mirrorOf(values, scope).registry,
  }),
  key(imagePullPolicy, 'image.pullPolicy'),
  key(imagePullSecret, 'imagePullSecrets', {as: asReferences}),
  row({
    setting: agentImage,
    paths: [REPOSITORY, TAG],
    write: (reference, {get}) => {
      const {repository, tag} = splitImage(reference);
      return [
        ...(get(imageRegistry) === undefined ? [[REPOSITORY, repository] as const] : []),
        ...(tag === undefined ? [] : [[TAG, tag] as const]),
      ];
    },
    read: (values, scope) => {
      return [mirrorOf(values, scope).repository, textAt(values, TAG)]
        .filter((part) => part !== '')
        .join(':');
    },
  }),
  ...telemetryVariables('extraEnv'),
  key(shutdownMode, 'agent.shutdownMode'),
  key(gracePeriod, 'terminationGracePeriodSeconds'),
  switched(writableRoot, {
    'podSecurityContext.runAsNonRoot': {on: false, off: true},
    'securityContext.runAsNonRoot': {on: false, off: true},
    'securityContext.runAsUser': {on: 0, off: 1000},
    'securityContext.runAsGroup': {on: 0, off: 1000},
  }),
  extraVariables([{path: 'extraEnv'}]),
];

/** Reasons for unsupported settings in agent-local. */
export const refusals: readonly Refusal[] = [
  {
    settings: [isolation],
    reason: 'runs share a container, which is not restarted between runs',
    use: [{setting: singleRun}],
  },
  {
    settings: [metadataService],
    in: '<=0.5.64',
    reason: 'the policy of this version does not match the agent pods',
  },
  {
    settings: [workloadIdentity],
    reason: 'Azure Workload Identity requires a pod label, and the chart has no key for pod labels',
  },
  {settings: [caScope], reason: 'runs share the agent container'},
  EFS_NEEDS_CLAIM,
  {settings: [cache], reason: 'the cache must be a PVC or an ephemeral volume'},
  {
    settings: [
      controllerNodeSelector,
      controllerAffinity,
      controllerToleration,
      ...Object.values(controllerSize),
    ],
    reason: 'the chart has no controller',
  },
  {
    settings: [controllerReplicas],
    reason: 'the chart has no controller, only agents',
    use: [{setting: concurrency}],
  },
  {
    settings: Object.values(workerSize),
    reason: 'runs execute in the agent container; use the sizes of runs',
  },
  {settings: [jobTtl], reason: 'runs execute in agent pods, not in Jobs'},
  {
    settings: [schedulingTimeout, acquireTimeout],
    reason: 'agents run permanently, so no pod is started for a run',
  },
  {
    settings: [runnerImage],
    reason: 'runs execute in the agent image',
    use: [{setting: agentImage}],
  },
  {
    settings: [imageRegistry],
    reason: 'the chart has one image, whose name includes the registry',
    use: [{setting: agentImage}],
  },
  {
    settings: [dataSize],
    in: '<=0.5.63',
    reason: 'data and cache share one volume',
    use: [{setting: cacheSize}],
  },
  ...sharedRefusals,
];
