import {cloud} from '../../settings/cluster.ts';
import {set} from '../../settings/escape-hatch.ts';
import {controllerReplicas, gracePeriod, runMemoryLimit} from '../../settings/pods.ts';
import {concurrency} from '../../settings/purpose.ts';
import {milliOf} from '../../settings/quantity.ts';
import {cache, cachePath, cacheSize, isPersistent, moduleCache, providerCache} from '../../settings/storage.ts';
import {isCos, isExecOnCos} from '../clouds.ts';
import type {ChartRule, DerivedKeys, Entry, RuleFacts} from '../define.ts';
import {breaksTemplates, fixedUserOnOpenShift, isDash, isFilledMap, policyWithoutDns, settingRule, sharedClaim} from '../shared-rules.ts';
import {at, getAt, isOn, type Tree, textAt, type Values} from '../tree.ts';
import {NESTED} from './versions.ts';

const MEBIBYTE = 1000n * 1024n ** 2n;

interface Cache {
  name: string;
  /** Its part of a volume that is too small for the limits of the chart, in quarters. */
  quarters: bigint;
  isUsed(values: Values): boolean;
}

/** What shares the volume of the cache: docs/charts/agent-job.md, "Cache". */
const CACHES: readonly Cache[] = [
  {name: 'providerCache', quarters: 2n, isUsed: (values) => isOn(values, 'agent.providerCache.enabled')},
  {name: 'moduleCache', quarters: 1n, isUsed: (values) => isOn(values, 'agent.moduleCache.enabled')},
  {name: 'binaryCache', quarters: 1n, isUsed: () => true},
];

const limitOf = ({name}: Cache): string => `agent.${name}.sizeLimit`;

const GIBIBYTE = 1024n;

/** The quantity at a key in mebibytes; zero where there is none. */
const mebibytesAt = (values: Values, path: string): bigint => (milliOf(String(getAt(values, at(path)) ?? '')) ?? 0n) / MEBIBYTE;

const together = (values: Values, caches: readonly Cache[]): bigint =>
  caches.filter((each) => each.isUsed(values)).reduce((sum, each) => sum + mebibytesAt(values, limitOf(each)), 0n);

/** What the caches in use may grow to together, in mebibytes. */
const softLimits = (values: Values): bigint => together(values, CACHES);

/** Whole gibibytes where that costs little. */
const spelt = (mebibytes: bigint): string => (mebibytes >= 4n * GIBIBYTE ? `${mebibytes / GIBIBYTE}Gi` : `${mebibytes}Mi`);

const CLAIM = 'persistence.cache.persistentVolumeClaim';

const makesClaim = (values: Values): boolean =>
  isOn(values, 'persistence.cache.enabled') &&
  textAt(values, `${CLAIM}.claimName`) === '' &&
  textAt(values, 'persistence.cache.hostPath.path') === '';

/** Limits of the caches that fit a new claim together, where those of the chart do not. */
export const cacheLimits: DerivedKeys = {
  in: '>=0.5.65',
  setting: cacheSize,
  paths: CACHES.map((each) => at(limitOf(each))),
  write: (values, isWritten) => {
    const size = mebibytesAt(values, `${CLAIM}.storage`);
    if (!makesClaim(values) || softLimits(values) <= size) return [];
    const isOpen = (each: Cache): boolean => !isWritten(at(limitOf(each))) && mebibytesAt(values, limitOf(each)) > 0n;
    const open = CACHES.filter(isOpen);
    const left =
      size -
      together(
        values,
        CACHES.filter((each) => !isOpen(each)),
      );
    const quarters = open.reduce((sum, each) => sum + each.quarters, 0n);
    return open.flatMap((each): Entry[] => {
      const share = (left * each.quarters) / quarters;
      const isSmaller = each.isUsed(values) && share > 0n && share < mebibytesAt(values, limitOf(each));
      return isSmaller ? [[at(limitOf(each)), spelt(share), 'Limits of the caches that fit the volume together']] : [];
    });
  },
};

/** What a file may have written of the limits of caches, before the size of their volume. */
const CACHE_KEYS = ['sizeLimit', 'enabled'].flatMap((key) =>
  ['providerCache', 'moduleCache', 'binaryCache'].map((name) => `agent.${name}.${key}`),
);

const hasSeveralControllers = ({values}: RuleFacts): boolean => Number(getAt(values, at('agent.replicaCount'))) > 1;

const isTrue = (value: Tree): boolean => value !== null && value !== 0 && value !== '';

interface Budget {
  path: string;
  isRendered(facts: RuleFacts): boolean;
  /** Whether this maxUnavailable counts as set. */
  isMostSet(most: Tree): boolean;
}

/** docs/charts/agent-job.md, "Disruption budgets". */
const oneBound = ({path, isRendered, isMostSet}: Budget): ChartRule =>
  settingRule({
    code: 'TWO_DISRUPTION_BOUNDS',
    severity: 'error',
    setting: set,
    path,
    isWrong: (_, facts) => {
      const [least, most] = ['minAvailable', 'maxUnavailable'].map((key) => getAt(facts.values, at(`${path}.${key}`)) ?? null) as [
        Tree,
        Tree,
      ];
      return isOn(facts.values, `${path}.enabled`) && isTrue(least) && isMostSet(most) && isRendered(facts);
    },
    message: `${path} has minAvailable and maxUnavailable, and Kubernetes takes one of them`,
    suggestion: 'Leave out one of the two',
  });

/** Rules of agent-job beside the shared ones. */
export const rules: readonly ChartRule[] = [
  ...sharedClaim({sharers: () => 'the pods of all runs', suggestion: 'Use --cache-access-mode ReadWriteMany or --cache ephemeral'}),
  settingRule({
    code: 'CACHES_LARGER_THAN_VOLUME',
    // In 0.5.64 runs look for the cache elsewhere: docs/charts/agent-job.md, "Cache".
    in: '>=0.5.65',
    severity: 'warning',
    setting: cacheSize,
    paths: CACHE_KEYS,
    isWrong: (get, facts) => {
      const isCaching = get(providerCache) || get(moduleCache);
      const isBounded = get(cache) === 'pvc' || ((get(cache) ?? 'ephemeral') === 'ephemeral' && isCaching);
      const size = get(cacheSize);
      // Without a size a claim has a finding of its own, and another volume no limit.
      return Boolean(isBounded) && size !== undefined && softLimits(facts.values) > (milliOf(size) ?? 0n) / MEBIBYTE;
    },
    message: (get, facts) =>
      `The caches may grow to ${softLimits(facts.values) / 1024n}Gi together and their volume holds ${get(cacheSize)}: when it is full, runs fail. Raise --cache-size, or lower the limits with --set agent.<cache>.sizeLimit=….`,
  }),
  settingRule({
    code: 'CACHES_NEED_SPACE',
    in: '>=0.5.65',
    severity: 'warning',
    isReminder: true,
    setting: cache,
    isWrong: (get) => ['existing-pvc', 'hostpath'].includes(get(cache) ?? '') && Boolean(get(providerCache) || get(moduleCache)),
    message: (get, {values}) =>
      `The caches may grow to ${softLimits(values) / 1024n}Gi together. ${get(cache) === 'hostpath' ? 'The disk of every node' : 'The existing claim'} must have room for them, or lower the limits with --set agent.<cache>.sizeLimit=….`,
  }),
  settingRule({
    code: 'CACHES_OFF',
    in: '>=0.5.65',
    severity: 'warning',
    setting: cache,
    isWrong: (get) => isPersistent(get(cache)) && !get(providerCache) && !get(moduleCache),
    message:
      'The provider cache and the module cache are off, so the persistent cache holds only binaries. Enable them with --provider-cache and --module-cache.',
  }),
  settingRule({
    code: 'HOSTPATH_FORBIDDEN',
    severity: 'error',
    setting: cache,
    isWrong: (get) => get(cache) === 'hostpath' && get(cloud) === 'gke-autopilot',
    message: 'GKE Autopilot forbids hostPath volumes',
    suggestion: 'Use --cache pvc or --cache ephemeral',
  }),
  settingRule({
    code: 'PREPARE_DIRECTORY',
    severity: 'warning',
    isReminder: true,
    setting: cache,
    isWrong: (get) => get(cache) === 'hostpath',
    message:
      'The kubelet creates the directory for root, and runs work as uid 1000: prepare it on every node, writable for 1000 and mounted with exec.',
  }),
  settingRule({
    code: 'NOEXEC_DIRECTORY',
    severity: 'warning',
    setting: cachePath,
    isWrong: (get) => get(cache) === 'hostpath' && isCos(get) && !isExecOnCos(get(cachePath) ?? ''),
    message: (get) =>
      `On Container-Optimized OS ${get(cachePath) ?? ''} is probably noexec or a tiny tmpfs; /home/kubernetes/bin/scalr-agent-cache and a directory of a local SSD (/mnt/disks/ssd0/…) are not.`,
  }),
  settingRule({
    code: 'SHORT_GRACE_PERIOD',
    severity: 'warning',
    setting: gracePeriod,
    isWrong: (get) => (get(gracePeriod) ?? 360) < 120,
    message: 'A run that is stopped has this long to push its state; less than two minutes risks losing it.',
  }),
  ...['agent.podLabels', 'global.podLabels'].map((path) =>
    breaksTemplates({
      in: '0.5.64 - 0.5.67',
      path,
      breaks: isFilledMap,
      suggestion: 'Take 0.5.68 or later, or leave the labels out',
    }),
  ),
  breaksTemplates({
    in: '0.5.68 - 0.5.76 || 0.5.78 - 0.5.79',
    path: 'global.labels',
    breaks: isFilledMap,
    suggestion: 'Take 0.6.1 or later, or leave the labels out',
  }),
  breaksTemplates({
    in: '>=0.5.64 <=0.6.1',
    path: 'persistence.cache.persistentVolumeClaim.storageClassName',
    breaks: isDash,
    suggestion: 'Take 0.6.2 or later',
  }),
  breaksTemplates({
    in: '>=0.5.67',
    path: 'task.runner.image.tag',
    breaks: (tag) => tag === '',
    suggestion: 'Give the runner image a tag',
  }),
  oneBound({path: 'task.podDisruptionBudget', isRendered: () => true, isMostSet: (most) => most !== null}),
  oneBound({path: 'agent.podDisruptionBudget', isRendered: hasSeveralControllers, isMostSet: isTrue}),
  settingRule({
    code: 'BUDGET_LOST',
    in: '0.6.1 - 0.6.3',
    severity: 'warning',
    setting: controllerReplicas,
    isWrong: (_, facts) => hasSeveralControllers(facts),
    message: 'With several controllers this version loses their disruption budget; 0.6.4 mends that.',
  }),
  settingRule({
    code: 'SHARED_WORKSPACE',
    in: NESTED,
    severity: 'error',
    setting: set,
    path: 'persistence.data.enabled',
    isWrong: (get, {values}) => isOn(values, 'persistence.data.enabled') && get(concurrency) !== 1,
    message: 'persistence.data puts the workspaces of all runs into the same directories of one claim, where they overwrite one another',
    suggestion: 'Leave it out; or add --concurrency 1 if the pool hands out one run at a time',
  }),
  policyWithoutDns({in: '0.5.64 - 0.5.68', mended: '0.5.69'}),
  settingRule({
    code: 'NEEDS_KUBERNETES_1_35',
    in: '>=0.5.69',
    severity: 'warning',
    isReminder: true,
    setting: cloud,
    isWrong: () => true,
    message: 'This version needs Kubernetes 1.35 or newer on the control plane and on every node (image volumes).',
  }),
  settingRule({
    code: 'NEEDS_EGRESS',
    in: '0.5.67 - 0.5.68',
    severity: 'warning',
    setting: cloud,
    isWrong: () => true,
    message: 'This version downloads its entrypoint from storage.googleapis.com at every run: open that egress.',
  }),
  settingRule({
    code: 'RUNS_WITHOUT_MEMORY',
    in: '0.5.63',
    severity: 'warning',
    setting: runMemoryLimit,
    isWrong: () => true,
    message: 'This version gives every run 30Mi of memory, whatever the values say, and kills it beyond that: take 0.5.62 or 0.5.64.',
  }),
  fixedUserOnOpenShift,
];
