import {at, getAt, isOn, type Tree, textAt, type Values} from '../../ground/tree.ts';
import {cache, cachePath, cacheSize, isPersistent} from '../../settings/cache.ts';
import {set} from '../../settings/chart-values.ts';
import {cloud} from '../../settings/cluster.ts';
import {MEBIBYTE, milliOf} from '../../settings/kinds/quantities.ts';
import {gracePeriod} from '../../settings/lifecycle.ts';
import {concurrency} from '../../settings/purpose.ts';
import {chart} from '../../settings/release.ts';
import {controllerReplicas, runSize} from '../../settings/size.ts';
import {
  moduleCache,
  moduleCacheLimit,
  providerCache,
  providerCacheLimit,
} from '../../settings/storage.ts';
import {isAtLeast, olderThan} from '../releases/versions.ts';
import {isCos, isExecOnCos} from '../shared/clouds.ts';
import type {DerivedKeys, ValuesEntry} from '../shared/row.ts';
import type {ChartRule, RuleFacts} from '../shared/rule.ts';
import {
  breaksTemplates,
  isDash,
  isFilledMap,
  settingError,
  settingWarning,
  useOneOf,
} from '../shared/setting-rule.ts';
import {fixedUserOnOpenShift, policyWithoutDns, sharedClaim} from '../shared/setting-rules.ts';
import {
  ENTRYPOINT_DOWNLOAD,
  NESTED,
  NO_CONTROLLER_BUDGET,
  NO_CONTROLLER_LABELS,
  NO_GLOBAL_LABELS,
} from './ranges.ts';
import {
  AGENT_BUDGET,
  boundsOf,
  controllersOf,
  isForControllers,
  isUnset,
  TASK_BUDGET,
} from './values-rules.ts';

interface Cache {
  name: string;
  /** Its share of a volume that is too small for the chart defaults, in quarters. */
  quarters: bigint;
  isUsed(values: Values): boolean;
}

/** The caches that share the volume: docs/charts/agent-job.md, "Cache". */
const CACHES: readonly Cache[] = [
  {
    name: 'providerCache',
    quarters: 2n,
    isUsed: (values) => isOn(values, 'agent.providerCache.enabled'),
  },
  {
    name: 'moduleCache',
    quarters: 1n,
    isUsed: (values) => isOn(values, 'agent.moduleCache.enabled'),
  },
  {name: 'binaryCache', quarters: 1n, isUsed: () => true},
];

const limitOf = ({name}: Cache): string => `agent.${name}.sizeLimit`;

const GIBIBYTE = 1024n;

/** The quantity at a key in mebibytes, or zero. */
const mebibytesAt = (values: Values, path: string): bigint =>
  (milliOf(String(getAt(values, at(path)) ?? '')) ?? 0n) / MEBIBYTE;

const together = (values: Values, caches: readonly Cache[]): bigint =>
  caches
    .filter((each) => each.isUsed(values))
    .reduce((sum, each) => sum + mebibytesAt(values, limitOf(each)), 0n);

/** The sum of the limits of all caches in use, in mebibytes. */
const softLimits = (values: Values): bigint => together(values, CACHES);

/** Rounds down to gibibytes from 4Gi. */
const spelled = (mebibytes: bigint): string =>
  mebibytes >= 4n * GIBIBYTE ? `${mebibytes / GIBIBYTE}Gi` : `${mebibytes}Mi`;

const CLAIM = 'persistence.cache.persistentVolumeClaim';

const makesClaim = (values: Values): boolean =>
  isOn(values, 'persistence.cache.enabled') &&
  textAt(values, `${CLAIM}.claimName`) === '' &&
  textAt(values, 'persistence.cache.hostPath.path') === '';

/** Cache limits that fit a new PersistentVolumeClaim, if the chart defaults do not. */
export const cacheLimits: DerivedKeys = {
  in: '>=0.5.65',
  setting: cacheSize,
  paths: CACHES.map((each) => at(limitOf(each))),
  write: (values, isWritten) => {
    const size = mebibytesAt(values, `${CLAIM}.storage`);
    if (!makesClaim(values) || softLimits(values) <= size) return [];
    const isOpen = (each: Cache): boolean =>
      !isWritten(at(limitOf(each))) && mebibytesAt(values, limitOf(each)) > 0n;
    const open = CACHES.filter(isOpen);
    const left =
      size -
      together(
        values,
        CACHES.filter((each) => !isOpen(each)),
      );
    const quarters = open.reduce((sum, each) => sum + each.quarters, 0n);
    return open.flatMap((each): ValuesEntry[] => {
      const share = (left * each.quarters) / quarters;
      const isSmaller =
        each.isUsed(values) && share > 0n && share < mebibytesAt(values, limitOf(each));
      return isSmaller
        ? [[at(limitOf(each)), spelled(share), 'Cache limits that together fit the volume']]
        : [];
    });
  },
};

/** Cache keys that may cause the finding. */
const CACHE_KEYS = ['sizeLimit', 'enabled'].flatMap((key) =>
  ['providerCache', 'moduleCache', 'binaryCache'].map((name) => `agent.${name}.${key}`),
);

/** docs/charts/agent-job.md, "Disruption budgets". */
const oneBound = (
  path: string,
  isWrong: (values: Values, bounds: [least: Tree, most: Tree]) => boolean,
): ChartRule =>
  settingError('TWO_DISRUPTION_BOUNDS', {
    setting: set,
    path,
    isWrong: (_, {values}) => isWrong(values, boundsOf(values, path)),
    message: `${path} sets both minAvailable and maxUnavailable, but Kubernetes accepts only one`,
    suggestion: 'Remove one of the two',
  });

const lowerLimits = ({spell}: RuleFacts): string =>
  `lower the limits with ${spell(providerCacheLimit)} and ${spell(moduleCacheLimit)}`;

/** Rules of agent-job, in addition to the shared rules. */
export const rules: readonly ChartRule[] = [
  ...sharedClaim({
    sharers: () => 'all run pods',
  }),
  settingWarning('CACHES_LARGER_THAN_VOLUME', {
    // In 0.5.64, runs use another cache directory: docs/charts/agent-job.md, "Cache".
    in: '>=0.5.65',
    setting: cacheSize,
    paths: CACHE_KEYS,
    isWrong: (get, facts) => {
      const isCaching = get(providerCache) || get(moduleCache);
      const isBounded =
        get(cache) === 'pvc' || ((get(cache) ?? 'ephemeral') === 'ephemeral' && isCaching);
      const size = get(cacheSize);
      // Without a size, a PVC has a separate finding, and other volumes have no limit.
      return (
        Boolean(isBounded) &&
        size !== undefined &&
        softLimits(facts.values) > (milliOf(size) ?? 0n) / MEBIBYTE
      );
    },
    message: (get, facts) =>
      `The cache limits add up to ${softLimits(facts.values) / 1024n}Gi, but the volume size is ${get(cacheSize)}. Runs fail when the volume is full. Increase ${facts.spell(cacheSize)}, or ${lowerLimits(facts)}.`,
  }),
  settingWarning('CACHES_NEED_SPACE', {
    in: '>=0.5.65',
    isReminder: true,
    setting: cache,
    isWrong: (get) =>
      ['existing-pvc', 'hostpath'].includes(get(cache) ?? '') &&
      Boolean(get(providerCache) || get(moduleCache)),
    message: (get, facts) =>
      `The cache limits add up to ${softLimits(facts.values) / 1024n}Gi. Make sure that ${get(cache) === 'hostpath' ? 'the disk of every node' : 'the existing PVC'} is large enough, or ${lowerLimits(facts)}.`,
  }),
  settingWarning('CACHES_OFF', {
    in: '>=0.5.65',
    setting: cache,
    isWrong: (get) => isPersistent(get(cache)) && !get(providerCache) && !get(moduleCache),
    message: (_, {spell}) =>
      `The provider cache and the module cache are disabled, so the persistent cache contains only binaries. Enable them with ${spell(providerCache)} and ${spell(moduleCache)}.`,
  }),
  settingError('HOSTPATH_FORBIDDEN', {
    setting: cache,
    isWrong: (get) => get(cache) === 'hostpath' && get(cloud) === 'gke-autopilot',
    message: 'GKE Autopilot forbids hostPath volumes',
    suggestion: useOneOf({setting: cache, value: 'pvc'}, {setting: cache, value: 'ephemeral'}),
  }),
  settingWarning('PREPARE_DIRECTORY', {
    isReminder: true,
    setting: cache,
    isWrong: (get) => get(cache) === 'hostpath',
    message:
      'The kubelet creates the cache directory for root, but runs use uid 1000. Create it on every node, writable for uid 1000 and on a mount that allows exec.',
  }),
  settingWarning('NOEXEC_DIRECTORY', {
    setting: cachePath,
    isWrong: (get) => get(cache) === 'hostpath' && isCos(get) && !isExecOnCos(get(cachePath) ?? ''),
    message: (get) =>
      `On Container-Optimized OS, ${get(cachePath) ?? ''} is probably mounted noexec or a small tmpfs. Use /home/kubernetes/bin/scalr-agent-cache or a directory on a local SSD (/mnt/disks/ssd0/…).`,
  }),
  settingWarning('SHORT_GRACE_PERIOD', {
    setting: gracePeriod,
    isWrong: (get) => (get(gracePeriod) ?? 360) < 120,
    message:
      'A stopped run must push its state within the grace period. With less than two minutes, state can be lost.',
  }),
  ...['agent.podLabels', 'global.podLabels'].map((path) =>
    breaksTemplates({
      in: NO_CONTROLLER_LABELS,
      path,
      breaks: isFilledMap,
      suggestion: 'Use 0.5.68 or later, or remove the labels',
    }),
  ),
  breaksTemplates({
    in: NO_GLOBAL_LABELS,
    path: 'global.labels',
    breaks: isFilledMap,
    suggestion: 'Use 0.6.1 or later, or remove the labels',
  }),
  breaksTemplates({
    in: '>=0.5.64 <=0.6.1',
    path: 'persistence.cache.persistentVolumeClaim.storageClassName',
    breaks: isDash,
    suggestion: 'Use 0.6.2 or later',
  }),
  breaksTemplates({
    in: '>=0.5.67',
    path: 'task.runner.image.tag',
    breaks: (tag) => tag === '',
    suggestion: 'Set a tag for the runner image',
  }),
  oneBound(
    TASK_BUDGET,
    (values, [least, most]) =>
      isOn(values, `${TASK_BUDGET}.enabled`) && !isUnset(least) && most !== null,
  ),
  oneBound(AGENT_BUDGET, (values, bounds) => isForControllers(values) && !bounds.some(isUnset)),
  settingWarning('PDB_NOT_RENDERED', {
    in: NO_CONTROLLER_BUDGET,
    setting: controllerReplicas,
    isWrong: (_, {values}) => controllersOf(values) > 1,
    message:
      'With several controllers, this version does not render their PodDisruptionBudget. Fixed in 0.6.4.',
  }),
  settingWarning('SHARED_WORKSPACE', {
    in: NESTED,
    setting: set,
    path: 'persistence.data.enabled',
    isWrong: (get, {values}) => isOn(values, 'persistence.data.enabled') && get(concurrency) !== 1,
    message:
      'persistence.data shares one PVC between all runs, and concurrent runs overwrite their workspaces. Remove it, unless the agent pool assigns one run at a time.',
  }),
  policyWithoutDns({in: '0.5.64 - 0.5.68', fixedIn: '0.5.69'}),
  settingWarning('NEEDS_KUBERNETES_1_35', {
    in: '>=0.5.69',
    isReminder: true,
    setting: chart,
    isWrong: (_, {kubernetes}) => !isAtLeast('1.35', kubernetes),
    message: (_, {kubernetes, spell}) => {
      const older = olderThan('1.35', kubernetes);
      return older === ''
        ? 'Not verified: this version requires Kubernetes 1.35 or newer on the control plane and on all nodes (image volumes).'
        : `This version requires Kubernetes 1.35 or newer on the control plane and on all nodes (image volumes). Older: ${older}. Upgrade them, or use ${spell(chart, 'agent-local')}.`;
    },
  }),
  settingWarning('NEEDS_EGRESS', {
    in: ENTRYPOINT_DOWNLOAD,
    setting: cloud,
    isWrong: () => true,
    message:
      'This version downloads its entrypoint from storage.googleapis.com in every run: allow egress to this host.',
  }),
  settingWarning('RUNS_WITHOUT_MEMORY', {
    in: '0.5.63',
    setting: runSize.memoryLimit,
    isWrong: () => true,
    message:
      'This version ignores the memory settings and kills runs that exceed 30Mi. Use 0.5.62 or 0.5.64.',
  }),
  fixedUserOnOpenShift,
];
