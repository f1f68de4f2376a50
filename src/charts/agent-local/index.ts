import {at, getAt, isOn, textAt, type Values} from '../../ground/tree.ts';
import {cache, cacheAccessMode} from '../../settings/cache.ts';
import {set} from '../../settings/chart-values.ts';
import {serviceAccountAnnotation, serviceAccountName} from '../../settings/identity.ts';
import {canonicalQuantity, MEBIBYTE, milliOf} from '../../settings/kinds/quantities.ts';
import {gracePeriod, shutdownMode} from '../../settings/lifecycle.ts';
import {metadataService, workloadIdentity} from '../../settings/network.ts';
import {concurrency} from '../../settings/purpose.ts';
import {dataHome} from '../../settings/storage.ts';
import type {Chart} from '../shared/chart.ts';
import {keyError, keyWarning} from '../shared/key-rule.ts';
import {
  httpsMirrors,
  requiresSwitch,
  sharedValuesRules,
  unquotedInTemplate,
  zeroDisables,
} from '../shared/key-rules.ts';
import type {ChartDefault} from '../shared/row.ts';
import type {ChartRule, ValuesRule} from '../shared/rule.ts';
import {certificateRules, keyOfSecret} from '../shared/secret-rules.ts';
import {breaksTemplates, isDash, settingError, settingWarning} from '../shared/setting-rule.ts';
import {
  fixedUserOnOpenShift,
  pinnedAgent,
  policyWithoutDns,
  sharedClaim,
  sharedRules,
  shortestGrace,
} from '../shared/setting-rules.ts';
import {
  directories,
  requiresClaimSize,
  requiresVolumes,
  separateDirectories,
} from '../shared/volume-rules.ts';
import {METADATA_BELOW_AGENT, MUTUAL_TLS, SPLIT_PERSISTENCE} from './ranges.ts';
import {refusals, rows} from './rows.ts';
import {
  formerKeys,
  ignoredKeys,
  images,
  kubernetesFloors,
  ownVariables,
  usesOldPersistence,
} from './versions.ts';

/** Rules of agent-local, in addition to the shared rules. */
export const rules: readonly ChartRule[] = [
  shortestGrace({usual: 'graceful', seconds: {graceful: 30, drain: 120, force: 10}}),
  settingWarning('SHORT_DRAIN', {
    setting: shutdownMode,
    isWrong: (get) => get(shutdownMode) === 'drain' && (get(gracePeriod) ?? 0) < 3600,
    message: (get, {spell}) =>
      `With drain, a run has the grace period minus 70 s to finish (${(get(gracePeriod) ?? 0) - 70} s). Set ${spell(gracePeriod)} to the duration of your longest run.`,
  }),
  ...sharedClaim({
    sharers: (get) => ((get(concurrency) ?? 1) > 1 ? `${get(concurrency)} agents` : undefined),
    instead: [{setting: concurrency, value: 1}],
  }),
  settingError('SHARED_WORKSPACE', {
    setting: concurrency,
    path: 'persistence.data.enabled',
    isWrong: (get, {values}) =>
      isOn(values, 'persistence.data.enabled') && (get(concurrency) ?? 1) > 1,
    message: (get) =>
      `persistence.data shares one PVC between ${get(concurrency)} agents, whose workspaces overwrite each other`,
    suggestion: (_, {spell}) => `Remove persistence.data, or use ${spell(concurrency, 1)}`,
  }),
  settingWarning('ROLLING_UPDATE_BLOCKED', {
    setting: cache,
    isWrong: (get, {values}) =>
      get(cache) === 'pvc' &&
      get(cacheAccessMode) === 'ReadWriteOnce' &&
      textAt(values, 'strategy.type') === 'RollingUpdate',
    message: 'A rolling update waits for the volume that the old pod still uses.',
    suggestion: 'strategy.type: Recreate',
  }),
  settingError('LEGACY_KEY_PRECEDENCE', {
    in: SPLIT_PERSISTENCE,
    setting: set,
    path: 'persistence.cache',
    isWrong: (_, {values}) =>
      usesOldPersistence(values) && isOn(values, 'persistence.cache.enabled'),
    message:
      'persistence.cache is ignored, because persistence.enabled or its claimName takes precedence',
    suggestion: (_, {spell}) => `Use ${spell(cache)} only, or remove persistence.cache`,
  }),
  ...[
    'persistence.persistentVolumeClaim.storageClassName',
    'persistence.cache.persistentVolumeClaim.storageClassName',
  ].map((path) =>
    breaksTemplates({in: '<=0.6.1', path, breaks: isDash, suggestion: 'Use 0.6.2 or later'}),
  ),
  settingError('DIRECTORIES_COLLIDE', {
    setting: dataHome,
    isWrong: (get, {values}) =>
      get(dataHome) !== undefined && get(dataHome) === textAt(values, 'agent.cacheDir'),
    message: (get) => `${get(dataHome)} is already the mount path of the cache`,
    suggestion: (_, {spell}) => `Use another ${spell(dataHome)}`,
  }),
  policyWithoutDns({in: METADATA_BELOW_AGENT, fixedIn: '0.5.67'}),
  settingWarning('METADATA_BLOCKED', {
    in: METADATA_BELOW_AGENT,
    setting: metadataService,
    isWrong: (get, {isExplicit}) =>
      get(metadataService) === 'block' && !isExplicit(metadataService),
    message:
      'This version ignores allowMetadataService and blocks the metadata service unless agent.allowMetadataService is true: runs cannot get node credentials. Fixed in 0.5.67.',
  }),
  settingWarning('DEFAULT_SERVICE_ACCOUNT', {
    setting: workloadIdentity,
    isWrong: (get) =>
      get(workloadIdentity) === 'eks-pod-identity' &&
      get(serviceAccountName) === undefined &&
      get(serviceAccountAnnotation) === undefined,
    message: (_, {spell}) =>
      `agent-local uses the default service account of the namespace. Associate it with the identity, or set ${spell(serviceAccountName)}.`,
  }),
  fixedUserOnOpenShift,
];

const OLD = 'persistence.persistentVolumeClaim';
const CACHE = 'persistence.cache.persistentVolumeClaim';
const DATA = 'persistence.data.persistentVolumeClaim';

/** Rules between keys of agent-local. */
export const valuesRules: readonly ValuesRule[] = [
  separateDirectories,
  keyWarning('DEFAULT_SERVICE_ACCOUNT', {
    keys: ['serviceAccount.create'],
    isWrong: (values, key) =>
      getAt(values, at(key)) === false && textAt(values, 'serviceAccount.name') === '',
    message:
      'Without a name, pods use the service account "default" of the namespace, and not one with a cloud identity.',
    suggestion: 'Set serviceAccount.name to the existing service account',
  }),
  ...certificateRules({tls: 'agent.tls', bundles: '>=0.6.1', mutualTls: MUTUAL_TLS}),
  requiresVolumes({
    in: '>=0.6.1',
    volumes: 'extraVolumes',
    mounts: ['extraVolumeMounts'],
    own: ['data-dir', 'cache-dir', 'client-cert', 'ca-bundle'],
  }),
  requiresSwitch({key: `${OLD}.claimName`, on: 'persistence.enabled'}),
  ...['data', 'cache'].map((name) =>
    requiresSwitch({
      in: SPLIT_PERSISTENCE,
      key: `persistence.${name}.persistentVolumeClaim.claimName`,
      on: `persistence.${name}.enabled`,
    }),
  ),
  unquotedInTemplate({
    keys: [
      'nameOverride',
      'fullnameOverride',
      'serviceAccount.name',
      'agent.dataDir',
      'agent.cacheDir',
      `${OLD}.claimName`,
      `${OLD}.subPath`,
    ],
  }),
  unquotedInTemplate({
    in: SPLIT_PERSISTENCE,
    keys: [`${CACHE}.claimName`, `${CACHE}.subPath`, `${DATA}.claimName`, `${DATA}.subPath`],
  }),
  unquotedInTemplate({
    in: '<=0.6.1',
    keys: [`${OLD}.storageClassName`, `${CACHE}.storageClassName`, `${DATA}.storageClassName`],
  }),
  requiresClaimSize({volumes: ['persistence']}),
  requiresClaimSize({in: SPLIT_PERSISTENCE, volumes: ['persistence.cache', 'persistence.data']}),
  keyOfSecret({
    secrets: ['agent.tokenExistingSecret.name'],
    keys: ['agent.tokenExistingSecret.key'],
  }),
  keyError('ABSOLUTE_SUB_PATH', {
    keys: [OLD, CACHE, DATA].map((claim) => `${claim}.subPath`),
    isWrong: (values, key) => textAt(values, key).startsWith('/'),
    message: 'A subPath must not start with a slash.',
    suggestion: (values, key) => JSON.stringify(textAt(values, key).replace(/^\/+/, '')),
  }),
  keyError('STRING_NOT_NUMBER', {
    keys: ['terminationGracePeriodSeconds'],
    isWrong: (values, key) => textAt(values, key) !== '',
    message: 'The value must be a number without quotes (chart schema).',
  }),
  keyError('INVALID_ROLLING_UPDATE', {
    keys: ['strategy.rollingUpdate.maxSurge', 'strategy.rollingUpdate.maxUnavailable'],
    isWrong: (values) =>
      textAt(values, 'strategy.type') === 'RollingUpdate' &&
      ['maxSurge', 'maxUnavailable'].every((key) =>
        /^0+%?$/.test(String(getAt(values, at(`strategy.rollingUpdate.${key}`)))),
      ),
    message: 'Either maxSurge or maxUnavailable must be greater than zero.',
  }),
  directories({keys: ['agent.dataDir']}),
  directories({in: '>=0.5.64', keys: ['agent.cacheDir']}),
  httpsMirrors,
  zeroDisables({keys: ['replicaCount'], message: 'With zero replicas, no agent runs.'}),
  {
    code: 'CACHES_LARGER_THAN_VOLUME',
    in: '>=0.5.64',
    verdict: 'warning',
    test: (values) => {
      const limits = LIMITS.map((name) => ({
        name,
        mebibytes: Number(getAt(values, ['extraEnv', name]) ?? 0),
      }));
      const total = limits.reduce(
        (sum, {mebibytes}) => sum + BigInt(Number.isFinite(mebibytes) ? Math.trunc(mebibytes) : 0),
        0n,
      );
      const size = sizeOfCache(values);
      const written = limits.find(({mebibytes}) => mebibytes > 0);
      if (
        written === undefined ||
        size === undefined ||
        total * MEBIBYTE <= (milliOf(size) ?? total * MEBIBYTE)
      )
        return [];
      const message = `The cache limits add up to ${canonicalQuantity(`${total}Mi`)}, but the volume size is ${size}. Runs fail when the volume is full.`;
      return [
        {
          path: ['extraEnv', written.name],
          message,
          suggestion: 'Lower the limits, or increase the size of the volume',
        },
      ];
    },
  },
];

const LIMITS = ['PROVIDER', 'MODULE', 'BINARY'].map(
  (name) => `SCALR_AGENT_${name}_CACHE_SIZE_LIMIT_MB`,
);

/** The size of the cache volume, if the values contain it. */
function sizeOfCache(values: Values): string | undefined {
  const isOld = usesOldPersistence(values);
  const cache =
    isOld || !isOn(values, 'persistence.cache.enabled') ? 'persistence' : 'persistence.cache';
  const isClaim = isOn(values, `${cache}.enabled`);
  const claim = `${cache}.persistentVolumeClaim`;
  if (isClaim && textAt(values, `${claim}.claimName`) !== '') return undefined;
  return (
    textAt(values, isClaim ? `${claim}.storage` : 'persistence.cache.emptyDir.sizeLimit') ||
    undefined
  );
}

/** Defaults that depend on other settings. */
const defaults: readonly ChartDefault[] = [
  {
    setting: cacheAccessMode,
    value: (get) =>
      get(cache) === 'pvc' && (get(concurrency) ?? 1) > 1
        ? {
            value: 'ReadWriteMany',
            because: 'several agents share the cache and can run on different nodes',
          }
        : undefined,
  },
  {
    setting: metadataService,
    in: METADATA_BELOW_AGENT,
    value: (get) =>
      get(workloadIdentity) === 'gke'
        ? {
            value: 'allow',
            because:
              'GKE Workload Identity requires 169.254.169.254, which this version always blocks',
          }
        : undefined,
  },
];

/** One kind of pod that executes runs in its only container, one run at a time. */
export const agentLocal: Chart = {
  name: 'agent-local',
  character: 'runs share pods that are always running',
  rows,
  refusals,
  defaults,
  rules: [...sharedRules, pinnedAgent('agent-local', images), ...rules],
  valuesRules: [...sharedValuesRules, ...valuesRules],
  ownVariables,
  containers: [{name: 'agent', extraEnv: ['extraEnv']}],
  images,
  ignoredKeys,
  formerKeys,
  kubernetesFloors,
};
