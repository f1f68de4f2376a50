import {serviceAccountAnnotation, serviceAccountName} from '../../settings/identity.ts';
import {gracePeriod, shutdownMode} from '../../settings/lifecycle.ts';
import {workloadIdentity} from '../../settings/network.ts';
import {concurrency} from '../../settings/purpose.ts';
import {cache, cacheAccessMode, dataHome} from '../../settings/storage.ts';
import type {ChartRule} from '../define.ts';
import {fixedUserOnOpenShift, policyWithoutDns, shortestGrace} from '../shared-rules.ts';

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
  {
    id: 'R11',
    code: 'CLAIM_NOT_SHARED',
    severity: 'error',
    test: (get) => {
      const mode = get(cacheAccessMode);
      const isOwn = mode === 'ReadWriteOnce' || mode === 'ReadWriteOncePod';
      return ['pvc', 'existing-pvc'].includes(get(cache) ?? '') && (get(concurrency) ?? 1) > 1 && isOwn
        ? {
            setting: cacheAccessMode,
            message: `${get(concurrency)} agents cannot share a ${mode} claim`,
            suggestion: 'Use --cache-access-mode ReadWriteMany, --cache ephemeral or --concurrency 1',
          }
        : undefined;
    },
  },
  {
    id: 'R11',
    code: 'CLAIM_HAS_TO_BE_SHARED',
    severity: 'warning',
    test: (get, {isExplicit}) =>
      get(cache) === 'existing-pvc' && (get(concurrency) ?? 1) > 1 && !isExplicit(cacheAccessMode)
        ? {setting: cache, message: `${get(concurrency)} agents share the existing claim: it has to be ReadWriteMany.`}
        : undefined,
  },
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
