import {cloud} from '../../settings/cluster.ts';
import {gracePeriod} from '../../settings/lifecycle.ts';
import {metadataService} from '../../settings/network.ts';
import {milliOf} from '../../settings/quantity.ts';
import {cache, cacheAccessMode, cacheSize, moduleCache, providerCache} from '../../settings/storage.ts';
import type {ChartRule, Scope} from '../define.ts';
import {fixedUserOnOpenShift} from '../shared-rules.ts';
import {at, getAt} from '../tree.ts';

/** Soft limits that one volume has to hold: `agent.<name>.sizeLimit` of the release (R15). */
function softLimits({get, defaults}: Scope): bigint {
  const used = [get(providerCache) && 'providerCache', get(moduleCache) && 'moduleCache', 'binaryCache'];
  return used.reduce((sum, name) => sum + (milliOf(String(getAt(defaults, at(`agent.${name}.sizeLimit`)) ?? '')) ?? 0n), 0n);
}

/** Rules of agent-job beside the shared ones. */
export const rules: readonly ChartRule[] = [
  {
    id: 'R13',
    severity: 'error',
    test: (get) =>
      get(cache) === 'pvc' && get(cacheAccessMode) !== 'ReadWriteMany'
        ? {
            setting: cacheAccessMode,
            message: `the controller and the pods of all runs mount the cache, which a ${get(cacheAccessMode)} claim does not allow`,
            suggestion: 'Use --cache-access-mode ReadWriteMany, or --cache hostpath or ephemeral',
          }
        : undefined,
  },
  {
    id: 'R13-EXISTING',
    severity: 'warning',
    test: (get) =>
      get(cache) === 'existing-pvc'
        ? {setting: cache, message: 'The pods of all runs mount the existing claim: it has to be ReadWriteMany.'}
        : undefined,
  },
  {
    id: 'R15',
    in: '>=0.5.64',
    severity: 'warning',
    test: (get, scope) => {
      const isShared = get(cache) === 'pvc' || ((get(cache) ?? 'ephemeral') === 'ephemeral' && (get(providerCache) || get(moduleCache)));
      const room = milliOf(get(cacheSize) ?? '');
      const needed = softLimits({...scope, get});
      if (!isShared || room === undefined || needed <= room) return undefined;
      return {
        setting: cacheSize,
        message: `The caches may grow to ${needed / 1000n / 1024n ** 3n}Gi together and their volume holds ${get(cacheSize)}: when it is full, runs fail. Raise --cache-size or lower the limits with --set agent.providerCache.sizeLimit=… and agent.moduleCache.sizeLimit=….`,
      };
    },
  },
  {
    id: 'R19',
    severity: 'error',
    test: (get) =>
      get(cache) === 'hostpath' && get(cloud) === 'gke-autopilot'
        ? {setting: cache, message: 'GKE Autopilot forbids hostPath volumes', suggestion: 'Use --cache pvc or --cache ephemeral'}
        : undefined,
  },
  {
    id: 'R21',
    severity: 'warning',
    test: (get) =>
      get(cache) === 'hostpath'
        ? {
            setting: cache,
            message:
              'The kubelet creates the directory for root, and runs work as uid 1000: prepare it on every node, writable for 1000 and mounted with exec.',
          }
        : undefined,
  },
  {
    id: 'R8',
    severity: 'warning',
    test: (get) =>
      (get(gracePeriod) ?? 360) < 120
        ? {setting: gracePeriod, message: 'A run that is stopped has this long to push its state; less than two minutes risks losing it.'}
        : undefined,
  },
  {
    id: 'R31',
    in: '0.5.64 - 0.5.68',
    severity: 'warning',
    test: (get) =>
      get(metadataService) === 'block'
        ? {
            setting: metadataService,
            message: 'The policy of this version has no DNS rule, so where it is enforced it can cut DNS as well; 0.5.69 mends that.',
          }
        : undefined,
  },
  {
    id: 'T44',
    in: '>=0.5.69',
    severity: 'warning',
    test: () => ({
      setting: cloud,
      message: 'This version needs Kubernetes 1.35 or newer on the control plane and on every node (image volumes).',
    }),
  },
  {
    id: 'EGRESS',
    in: '0.5.67 - 0.5.68',
    severity: 'warning',
    test: () => ({
      setting: cloud,
      message: 'This version downloads its entrypoint from storage.googleapis.com at every run: open that egress.',
    }),
  },
  fixedUserOnOpenShift,
];
