import {set} from '../../settings/escape-hatch.ts';
import {metadataService, workloadIdentity} from '../../settings/network.ts';
import {gracePeriod, serviceAccountAnnotation, serviceAccountName, shutdownMode} from '../../settings/pods.ts';
import {concurrency} from '../../settings/purpose.ts';
import {milliOf} from '../../settings/quantity.ts';
import {cache, cacheAccessMode, dataHome} from '../../settings/storage.ts';
import {secureMirrors} from '../address-rules.ts';
import type {ChartRule, ValuesRule} from '../define.ts';
import {breaksTemplates, fixedUserOnOpenShift, isDash, policyWithoutDns, settingRule, sharedClaim, shortestGrace} from '../shared-rules.ts';
import {
  aboveZero,
  certificateRules,
  directories,
  keyOfSecret,
  keyRule,
  mountsOfVolumes,
  needsSwitch,
  printedBare,
  relativeSubPaths,
  separateDirectories,
  sizedClaims,
} from '../shared-values-rules.ts';
import {at, getAt, isOn, textAt, type Values} from '../tree.ts';
import {MUTUAL_TLS, SPLIT_PERSISTENCE, usesOldPersistence} from './versions.ts';

/** Rules of agent-local beside the shared ones. */
export const rules: readonly ChartRule[] = [
  shortestGrace({usual: 'graceful', seconds: {graceful: 30, drain: 120, force: 10}}),
  settingRule({
    code: 'SHORT_DRAIN',
    severity: 'warning',
    setting: shutdownMode,
    isWrong: (get) => get(shutdownMode) === 'drain' && (get(gracePeriod) ?? 0) < 3600,
    message: (get) =>
      `With drain a run gets the grace period less 70 s to finish, here ${(get(gracePeriod) ?? 0) - 70} s. Set --grace-period to your longest run.`,
  }),
  ...sharedClaim({
    sharers: (get) => ((get(concurrency) ?? 1) > 1 ? `${get(concurrency)} agents` : undefined),
    suggestion: 'Use --cache-access-mode ReadWriteMany, --cache ephemeral or --concurrency 1',
  }),
  settingRule({
    code: 'SHARED_WORKSPACE',
    severity: 'error',
    setting: concurrency,
    path: 'persistence.data.enabled',
    isWrong: (get, {values}) => isOn(values, 'persistence.data.enabled') && (get(concurrency) ?? 1) > 1,
    message: (get) => `persistence.data puts the workspaces of ${get(concurrency)} agents into one claim, where they overwrite one another`,
    suggestion: 'Leave persistence.data out, or use --concurrency 1',
  }),
  settingRule({
    code: 'ROLLING_UPDATE_BLOCKED',
    severity: 'warning',
    setting: cache,
    isWrong: (get, {values}) =>
      get(cache) === 'pvc' && get(cacheAccessMode) === 'ReadWriteOnce' && textAt(values, 'strategy.type') === 'RollingUpdate',
    message: 'A rolling update waits for the volume that the old pod still holds: strategy.type has to be Recreate.',
  }),
  settingRule({
    code: 'OLD_KEYS_WIN',
    in: SPLIT_PERSISTENCE,
    severity: 'error',
    setting: set,
    path: 'persistence.cache',
    isWrong: (_, {values}) => usesOldPersistence(values) && isOn(values, 'persistence.cache.enabled'),
    message: 'persistence.enabled and its claim win over persistence.cache, which is dropped without a word',
    suggestion: 'Use --cache alone, or leave persistence.cache out',
  }),
  ...['persistence.persistentVolumeClaim.storageClassName', 'persistence.cache.persistentVolumeClaim.storageClassName'].map((path) =>
    breaksTemplates({in: '<=0.6.1', path, breaks: isDash, suggestion: 'Take 0.6.2 or later'}),
  ),
  settingRule({
    code: 'DIRECTORIES_COLLIDE',
    severity: 'error',
    setting: dataHome,
    isWrong: (get, {values}) => get(dataHome) !== undefined && get(dataHome) === textAt(values, 'agent.cacheDir'),
    message: (get) => `${get(dataHome)} is where the cache is mounted`,
    suggestion: 'Choose another --data-home',
  }),
  policyWithoutDns({in: '0.5.65 - 0.5.66', mended: '0.5.67'}),
  settingRule({
    code: 'METADATA_BLOCKED',
    in: '0.5.65 - 0.5.66',
    severity: 'warning',
    setting: metadataService,
    isWrong: (get, {isExplicit}) => get(metadataService) === 'block' && !isExplicit(metadataService),
    message:
      'This version blocks the metadata service unless agent.allowMetadataService is true, whatever allowMetadataService says: runs get no credentials of the node. 0.5.67 mends that.',
  }),
  settingRule({
    code: 'DEFAULT_SERVICE_ACCOUNT',
    severity: 'warning',
    setting: workloadIdentity,
    isWrong: (get) =>
      get(workloadIdentity) === 'eks-pod-identity' && get(serviceAccountName) === undefined && get(serviceAccountAnnotation) === undefined,
    message:
      'agent-local runs under the default service account of the namespace here: associate that one, or name another with --service-account-name.',
  }),
  fixedUserOnOpenShift,
];

const OLD = 'persistence.persistentVolumeClaim';
const CACHE = 'persistence.cache.persistentVolumeClaim';
const DATA = 'persistence.data.persistentVolumeClaim';

/** Rules between keys of agent-local. */
export const valuesRules: readonly ValuesRule[] = [
  separateDirectories,
  ...certificateRules({tls: 'agent.tls', bundles: '>=0.6.1', mutualTls: MUTUAL_TLS}),
  mountsOfVolumes({
    in: '>=0.6.1',
    volumes: 'extraVolumes',
    mounts: ['extraVolumeMounts'],
    own: ['data-dir', 'cache-dir', 'client-cert', 'ca-bundle'],
  }),
  needsSwitch({key: `${OLD}.claimName`, on: 'persistence.enabled'}),
  ...['data', 'cache'].map((name) =>
    needsSwitch({
      in: SPLIT_PERSISTENCE,
      key: `persistence.${name}.persistentVolumeClaim.claimName`,
      on: `persistence.${name}.enabled`,
    }),
  ),
  printedBare({
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
  printedBare({in: SPLIT_PERSISTENCE, keys: [`${CACHE}.claimName`, `${CACHE}.subPath`, `${DATA}.claimName`, `${DATA}.subPath`]}),
  printedBare({in: '<=0.6.1', keys: [`${OLD}.storageClassName`, `${CACHE}.storageClassName`, `${DATA}.storageClassName`]}),
  sizedClaims({volumes: ['persistence']}),
  sizedClaims({in: SPLIT_PERSISTENCE, volumes: ['persistence.cache', 'persistence.data']}),
  keyOfSecret({secrets: ['agent.tokenExistingSecret.name'], keys: ['agent.tokenExistingSecret.key']}),
  relativeSubPaths([OLD, CACHE, DATA].map((claim) => `${claim}.subPath`)),
  keyRule({
    code: 'TEXT_FOR_NUMBER',
    severity: 'error',
    keys: ['terminationGracePeriodSeconds'],
    isWrong: (values, key) => textAt(values, key) !== '',
    message: 'The schema of the chart wants a number here, without quotes.',
  }),
  keyRule({
    code: 'NOTHING_TO_ROLL',
    severity: 'error',
    keys: ['strategy.rollingUpdate.maxSurge', 'strategy.rollingUpdate.maxUnavailable'],
    isWrong: (values) =>
      textAt(values, 'strategy.type') === 'RollingUpdate' &&
      ['maxSurge', 'maxUnavailable'].every((key) => /^0+%?$/.test(String(getAt(values, at(`strategy.rollingUpdate.${key}`))))),
    message: 'One of maxSurge and maxUnavailable has to be above zero.',
  }),
  directories({keys: ['agent.dataDir']}),
  directories({in: '>=0.5.64', keys: ['agent.cacheDir']}),
  secureMirrors,
  aboveZero({keys: ['replicaCount'], what: 'replicas run no agent'}),
  {
    code: 'CACHES_LARGER_THAN_VOLUME',
    in: '>=0.5.64',
    severity: 'warning',
    test: (values) => {
      const limits = LIMITS.map((name) => ({name, megabytes: Number(getAt(values, ['extraEnv', name]) ?? 0)}));
      const total = limits.reduce((sum, {megabytes}) => sum + BigInt(Number.isFinite(megabytes) ? Math.trunc(megabytes) : 0), 0n);
      const size = sizeOfCache(values);
      const written = limits.find(({megabytes}) => megabytes > 0);
      if (written === undefined || size === undefined || total * MEBIBYTE <= (milliOf(size) ?? total * MEBIBYTE)) return [];
      const message = `The caches may grow to ${total} MB together and their volume holds ${size}: when it is full, runs fail.`;
      return [{path: ['extraEnv', written.name], message, suggestion: 'Lower the limits, or raise the size of the volume'}];
    },
  },
];

const LIMITS = ['PROVIDER', 'MODULE', 'BINARY'].map((name) => `SCALR_AGENT_${name}_CACHE_SIZE_LIMIT_MB`);
const MEBIBYTE = 1000n * 1024n * 1024n;

/** The size of the volume of the cache where the chart knows it. */
function sizeOfCache(values: Values): string | undefined {
  const isOld = usesOldPersistence(values);
  const cache = isOld || !isOn(values, 'persistence.cache.enabled') ? 'persistence' : 'persistence.cache';
  const isClaim = isOn(values, `${cache}.enabled`);
  const claim = `${cache}.persistentVolumeClaim`;
  if (isClaim && textAt(values, `${claim}.claimName`) !== '') return undefined;
  return textAt(values, isClaim ? `${claim}.storage` : 'persistence.cache.emptyDir.sizeLimit') || undefined;
}
