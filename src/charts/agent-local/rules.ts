import type {Setting} from '../../settings/define.ts';
import {serviceAccountAnnotation, serviceAccountName} from '../../settings/identity.ts';
import {gracePeriod, shutdownMode} from '../../settings/lifecycle.ts';
import {metadataService, workloadIdentity} from '../../settings/network.ts';
import {concurrency} from '../../settings/purpose.ts';
import {cache, cacheAccessMode} from '../../settings/storage.ts';
import type {ChartRule} from '../define.ts';
import {fixedUserOnOpenShift, shortestGrace} from '../shared-rules.ts';

/** Rules of agent-local beside the shared ones. */
export const rules: readonly ChartRule[] = [
  shortestGrace('R4', 'graceful', {graceful: 30, drain: 120, force: 10}),
  {
    id: 'R5',
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
    severity: 'error',
    test: (get) =>
      get(cache) === 'pvc' && (get(concurrency) ?? 1) > 1 && get(cacheAccessMode) !== 'ReadWriteMany'
        ? {
            setting: cacheAccessMode as Setting,
            message: `${get(concurrency)} agents cannot share a ${get(cacheAccessMode)} claim`,
            suggestion: 'Use --cache-access-mode ReadWriteMany, --cache ephemeral or --concurrency 1',
          }
        : undefined,
  },
  {
    id: 'R11-EXISTING',
    severity: 'warning',
    test: (get) =>
      get(cache) === 'existing-pvc' && (get(concurrency) ?? 1) > 1
        ? {setting: cache, message: `${get(concurrency)} agents share the existing claim: it has to be ReadWriteMany.`}
        : undefined,
  },
  {
    id: 'R31',
    in: '0.5.65 - 0.5.66',
    severity: 'warning',
    test: (get) =>
      get(metadataService) === 'block'
        ? {
            setting: metadataService,
            message: 'The policy of this version has no DNS rule, so where it is enforced it can cut DNS as well; 0.5.67 mends that.',
          }
        : undefined,
  },
  {
    id: 'R42-ACCOUNT',
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
