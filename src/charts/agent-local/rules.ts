import {set} from '../../settings/escape-hatch.ts';
import {metadataService, workloadIdentity} from '../../settings/network.ts';
import {gracePeriod, serviceAccountAnnotation, serviceAccountName, shutdownMode} from '../../settings/pods.ts';
import {concurrency} from '../../settings/purpose.ts';
import {cache, cacheAccessMode, dataHome} from '../../settings/storage.ts';
import type {ChartRule} from '../define.ts';
import {breaksTemplates, fixedUserOnOpenShift, isDash, policyWithoutDns, sharedClaim, shortestGrace} from '../shared-rules.ts';
import {at, getAt} from '../tree.ts';

/** Rules of agent-local beside the shared ones. */
export const rules: readonly ChartRule[] = [
  shortestGrace('R4', 'graceful', {graceful: 30, drain: 120, force: 10}),
  {
    id: 'R5',
    code: 'SHORT_DRAIN',
    severity: 'warning',
    test: (get) => {
      const period = get(gracePeriod) ?? 0;
      return get(shutdownMode) === 'drain' && period < 3600
        ? {
            setting: shutdownMode,
            message: `With drain a run gets the grace period less 70 s to finish, here ${period - 70} s. Set --grace-period to your longest run.`,
          }
        : undefined;
    },
  },
  ...sharedClaim(
    'R11',
    (get) => ((get(concurrency) ?? 1) > 1 ? `${get(concurrency)} agents` : undefined),
    'Use --cache-access-mode ReadWriteMany, --cache ephemeral or --concurrency 1',
  ),
  {
    id: 'R11',
    code: 'SHARED_WORKSPACE',
    severity: 'error',
    test: (get, {values}) =>
      getAt(values, at('persistence.data.enabled')) === true && (get(concurrency) ?? 1) > 1
        ? {
            setting: concurrency,
            path: 'persistence.data.enabled',
            message: `persistence.data puts the workspaces of ${get(concurrency)} agents into one claim, where they overwrite one another`,
            suggestion: 'Leave persistence.data out, or use --concurrency 1',
          }
        : undefined,
  },
  {
    id: 'R12',
    code: 'ROLLING_UPDATE_BLOCKED',
    severity: 'warning',
    test: (get, {values}) =>
      get(cache) === 'pvc' && get(cacheAccessMode) === 'ReadWriteOnce' && getAt(values, at('strategy.type')) === 'RollingUpdate'
        ? {
            setting: cache,
            message: 'A rolling update waits for the volume that the old pod still holds: strategy.type has to be Recreate.',
          }
        : undefined,
  },
  {
    id: 'T18',
    code: 'OLD_KEYS_WIN',
    in: '0.5.74 || >=0.6.1',
    severity: 'error',
    test: (_, {values}) => {
      const isOld =
        getAt(values, at('persistence.enabled')) === true || getAt(values, at('persistence.persistentVolumeClaim.claimName')) !== '';
      return isOld && getAt(values, at('persistence.cache.enabled')) === true
        ? {
            setting: set,
            path: 'persistence.cache',
            message: 'persistence.enabled and its claim win over persistence.cache, which is dropped without a word',
            suggestion: 'Use --cache alone, or leave persistence.cache out',
          }
        : undefined;
    },
  },
  ...['persistence.persistentVolumeClaim.storageClassName', 'persistence.cache.persistentVolumeClaim.storageClassName'].map((path) =>
    breaksTemplates('T33', '<=0.6.1', path, isDash, 'Take 0.6.2 or later'),
  ),
  {
    id: 'R22',
    code: 'DIRECTORIES_COLLIDE',
    severity: 'error',
    test: (get, {values}) =>
      get(dataHome) !== undefined && get(dataHome) === (values['agent'] as {cacheDir?: string} | undefined)?.cacheDir
        ? {setting: dataHome, message: `${get(dataHome)} is where the cache is mounted`, suggestion: 'Choose another --data-home'}
        : undefined,
  },
  policyWithoutDns('0.5.65 - 0.5.66', '0.5.67'),
  {
    id: 'T6',
    code: 'METADATA_BLOCKED',
    in: '0.5.65 - 0.5.66',
    severity: 'warning',
    test: (get, {isExplicit}) =>
      get(metadataService) === 'block' && !isExplicit(metadataService)
        ? {
            setting: metadataService,
            message:
              'This version blocks the metadata service unless agent.allowMetadataService is true, whatever allowMetadataService says: runs get no credentials of the node. 0.5.67 mends that.',
          }
        : undefined,
  },
  {
    id: 'R42',
    code: 'DEFAULT_SERVICE_ACCOUNT',
    severity: 'warning',
    test: (get) =>
      get(workloadIdentity) === 'eks-pod-identity' && get(serviceAccountName) === undefined && get(serviceAccountAnnotation) === undefined
        ? {
            setting: workloadIdentity,
            message:
              'agent-local runs under the default service account of the namespace here: associate that one, or name another with --service-account-name.',
          }
        : undefined,
  },
  fixedUserOnOpenShift,
];
