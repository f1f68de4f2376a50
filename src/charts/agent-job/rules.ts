import {cloud} from '../../settings/cluster.ts';
import {set} from '../../settings/escape-hatch.ts';
import {gracePeriod, runMemoryLimit} from '../../settings/pods.ts';
import {concurrency} from '../../settings/purpose.ts';
import {milliOf} from '../../settings/quantity.ts';
import {cache, cachePath, cacheSize, moduleCache, providerCache} from '../../settings/storage.ts';
import {isCos, isExecOnCos} from '../clouds.ts';
import type {ChartRule, RuleFacts} from '../define.ts';
import {breaksTemplates, fixedUserOnOpenShift, isDash, isFilledMap, policyWithoutDns, sharedClaim} from '../shared-rules.ts';
import {at, getAt, type Tree} from '../tree.ts';
import {NESTED} from './versions.ts';

/** What the caches may grow to together, in bytes: `agent.<name>.sizeLimit` of those that are on. */
function softLimits({get, values}: RuleFacts): bigint {
  const used = [get(providerCache) && 'providerCache', get(moduleCache) && 'moduleCache', 'binaryCache'];
  const milli = used.reduce((sum, name) => sum + (milliOf(String(getAt(values, at(`agent.${name}.sizeLimit`)) ?? '')) ?? 0n), 0n);
  return milli / 1000n;
}

const GIB = 1024n ** 3n;

const hasSeveralControllers = ({values}: Pick<RuleFacts, 'values'>): boolean => Number(getAt(values, at('agent.replicaCount'))) > 1;

const isTrue = (value: Tree): boolean => value !== null && value !== 0 && value !== '';

/**
 * Kubernetes takes one bound of a disruption budget, and the chart fills the other one by default. Zero counts as absent
 * except for maxUnavailable of the tasks (templates/poddisruptionbudget.yaml).
 */
const oneBound = (path: string, isRendered: (facts: RuleFacts) => boolean, isMostSet: (most: Tree) => boolean): ChartRule => ({
  id: 'R9',
  code: 'TWO_DISRUPTION_BOUNDS',
  severity: 'error',
  test: (_, facts) => {
    const [isEnabled, least, most] = ['enabled', 'minAvailable', 'maxUnavailable'].map(
      (key) => getAt(facts.values, at(`${path}.${key}`)) ?? null,
    );
    return isEnabled === true && isTrue(least ?? null) && isMostSet(most ?? null) && isRendered(facts)
      ? {
          setting: set,
          path,
          message: `${path} has minAvailable and maxUnavailable, and Kubernetes takes one of them`,
          suggestion: 'Leave out one of the two',
        }
      : undefined;
  },
});

/** Rules of agent-job beside the shared ones. */
export const rules: readonly ChartRule[] = [
  ...sharedClaim('R13', () => 'the pods of all runs', 'Use --cache-access-mode ReadWriteMany or --cache ephemeral'),
  {
    id: 'R15',
    code: 'CACHES_LARGER_THAN_VOLUME',
    in: NESTED,
    severity: 'warning',
    test: (get, facts) => {
      const isCaching = get(providerCache) || get(moduleCache);
      const isBounded = get(cache) === 'pvc' || ((get(cache) ?? 'ephemeral') === 'ephemeral' && isCaching);
      const size = get(cacheSize);
      // Without a size a claim has a finding of its own, and another volume no limit.
      if (!isBounded || size === undefined) return undefined;
      const room = (milliOf(size) ?? 0n) / 1000n;
      const needed = softLimits(facts);
      if (needed <= room) return undefined;
      return {
        setting: cacheSize,
        message: `The caches may grow to ${needed / GIB}Gi together and their volume holds ${size}: when it is full, runs fail. Raise --cache-size, or lower the limits with --set agent.<cache>.sizeLimit=….`,
      };
    },
  },
  {
    id: 'R19',
    code: 'HOSTPATH_FORBIDDEN',
    severity: 'error',
    test: (get) =>
      get(cache) === 'hostpath' && get(cloud) === 'gke-autopilot'
        ? {setting: cache, message: 'GKE Autopilot forbids hostPath volumes', suggestion: 'Use --cache pvc or --cache ephemeral'}
        : undefined,
  },
  {
    id: 'R21',
    code: 'PREPARE_DIRECTORY',
    severity: 'warning',
    isReminder: true,
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
    id: 'R21',
    code: 'NOEXEC_DIRECTORY',
    severity: 'warning',
    test: (get) => {
      const path = get(cachePath) ?? '';
      if (get(cache) !== 'hostpath' || !isCos(get) || isExecOnCos(path)) return undefined;
      return {
        setting: cachePath,
        message: `On Container-Optimized OS ${path} is probably noexec or a tiny tmpfs; /home/kubernetes/bin/scalr-agent-cache and a directory of a local SSD (/mnt/disks/ssd0/…) are not.`,
      };
    },
  },
  {
    id: 'R8',
    code: 'SHORT_GRACE_PERIOD',
    severity: 'warning',
    test: (get) =>
      (get(gracePeriod) ?? 360) < 120
        ? {setting: gracePeriod, message: 'A run that is stopped has this long to push its state; less than two minutes risks losing it.'}
        : undefined,
  },
  ...['agent.podLabels', 'global.podLabels'].map((path) =>
    breaksTemplates('T30', '0.5.64 - 0.5.67', path, isFilledMap, 'Take 0.5.68 or later, or leave the labels out'),
  ),
  breaksTemplates(
    'T31',
    '0.5.68 - 0.5.76 || 0.5.78 - 0.5.79',
    'global.labels',
    isFilledMap,
    'Take 0.6.1 or later, or leave the labels out',
  ),
  breaksTemplates('T33', '>=0.5.64 <=0.6.1', 'persistence.cache.persistentVolumeClaim.storageClassName', isDash, 'Take 0.6.2 or later'),
  breaksTemplates('R37', '>=0.5.67', 'task.runner.image.tag', (tag) => tag === '', 'Give the runner image a tag'),
  oneBound(
    'task.podDisruptionBudget',
    () => true,
    (most) => most !== null,
  ),
  oneBound('agent.podDisruptionBudget', hasSeveralControllers, isTrue),
  {
    id: 'R10',
    code: 'BUDGET_LOST',
    in: '0.6.1 - 0.6.3',
    severity: 'warning',
    test: (_, {values}) =>
      hasSeveralControllers({values})
        ? {
            setting: set,
            path: 'agent.replicaCount',
            message: 'With several controllers this version loses their disruption budget; 0.6.4 mends that.',
          }
        : undefined,
  },
  {
    id: 'R14',
    code: 'SHARED_WORKSPACE',
    in: NESTED,
    severity: 'error',
    test: (get, {values}) =>
      getAt(values, at('persistence.data.enabled')) === true && get(concurrency) !== 1
        ? {
            setting: set,
            path: 'persistence.data.enabled',
            message:
              'persistence.data puts the workspaces of all runs into the same directories of one claim, where they overwrite one another',
            suggestion: 'Leave it out; or add --concurrency 1 if the pool hands out one run at a time',
          }
        : undefined,
  },
  policyWithoutDns('0.5.64 - 0.5.68', '0.5.69'),
  {
    id: 'T44',
    code: 'NEEDS_KUBERNETES_1_35',
    in: '>=0.5.69',
    severity: 'warning',
    isReminder: true,
    test: () => ({
      setting: cloud,
      message: 'This version needs Kubernetes 1.35 or newer on the control plane and on every node (image volumes).',
    }),
  },
  {
    id: 'R37',
    code: 'NEEDS_EGRESS',
    in: '0.5.67 - 0.5.68',
    severity: 'warning',
    test: () => ({
      setting: cloud,
      message: 'This version downloads its entrypoint from storage.googleapis.com at every run: open that egress.',
    }),
  },
  {
    id: 'T24',
    code: 'RUNS_WITHOUT_MEMORY',
    in: '0.5.63',
    severity: 'warning',
    test: () => ({
      setting: runMemoryLimit,
      message: 'This version gives every run 30Mi of memory, whatever the values say, and kills it beyond that: take 0.5.62 or 0.5.64.',
    }),
  },
  fixedUserOnOpenShift,
];
