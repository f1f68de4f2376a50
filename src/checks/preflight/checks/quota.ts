import {resourceOf} from '../../../cluster/kubernetes/kinds.ts';
import {kindAndName} from '../../../cluster/kubernetes/object-refs.ts';
import type {KubernetesObject, Pod} from '../../../cluster/kubernetes/objects.ts';
import {hasEnded} from '../../../cluster/kubernetes/pod-specs.ts';
import {kubectlCommand} from '../../../ground/command-line.ts';
import {isKnown, knownValue} from '../../../ground/fact.ts';
import {getAt, type Tree, type Values} from '../../../ground/tree.ts';
import {concurrency} from '../../../settings/agent.ts';
import {
  type Amounts,
  admitted,
  amountsOf,
  MILLI_PER_UNIT,
  type PodGroup,
  podGroups,
  podTotal,
  resourceOption,
  spellAmount,
} from '../pod-resources.ts';
import {
  type CheckResult,
  check,
  fail,
  ifKnown,
  type LimitRange,
  type PreflightContext,
  pass,
  type ResourceQuota,
  skipUnknown,
  warn,
} from '../preflight-context.ts';
import {claimStorage, claimsToMake} from './limit-range.ts';
import {fewerRuns} from './scheduling.ts';

/** Quota usage of one pod, under every resource name: https://kubernetes.io/docs/concepts/policy/resource-quotas/ */
function podAmounts(spec: Values, ranges: readonly LimitRange[]): Amounts {
  const {requests, limits} = podTotal(admitted(spec, ranges));
  const prefixed = (prefix: string, amounts: Amounts): Amounts =>
    Object.fromEntries(Object.entries(amounts).map(([key, amount]) => [`${prefix}${key}`, amount]));
  return {
    ...requests,
    ...prefixed('requests.', requests),
    ...prefixed('limits.', limits),
    pods: MILLI_PER_UNIT,
    'count/pods': MILLI_PER_UNIT,
  };
}

function counts({spec}: ResourceQuota, pod: Values, ranges: readonly LimitRange[]): boolean {
  const isBestEffort = admitted(pod, ranges).every(
    ({requests, limits}) =>
      !['cpu', 'memory'].some((key) => (requests[key] ?? 0n) > 0n || (limits[key] ?? 0n) > 0n),
  );
  const isTerminating =
    pod['activeDeadlineSeconds'] !== undefined && pod['activeDeadlineSeconds'] !== null;
  const priority = String(pod['priorityClassName'] ?? '');
  const scopes: Readonly<Record<string, boolean>> = {
    BestEffort: isBestEffort,
    NotBestEffort: !isBestEffort,
    Terminating: isTerminating,
    NotTerminating: !isTerminating,
  };
  const matches = (scope: string, operator = 'Exists', values: readonly string[] = []): boolean => {
    if (scope !== 'PriorityClass') return scopes[scope] ?? false;
    if (operator === 'In' || operator === 'NotIn')
      return values.includes(priority) === (operator === 'In');
    return (operator === 'Exists') === (priority !== '');
  };
  return (
    (spec?.scopes ?? []).every((scope) => matches(scope)) &&
    (spec?.scopeSelector?.matchExpressions ?? []).every(({scopeName, operator, values}) =>
      matches(scopeName, operator, values),
    )
  );
}

const add = (total: Map<string, bigint>, amounts: Amounts, times = 1n): void => {
  for (const [key, amount] of Object.entries(amounts))
    total.set(key, (total.get(key) ?? 0n) + amount * times);
};

/** Objects and PVCs that the install adds; what the release already has is not counted. */
function objectAmounts(
  context: PreflightContext,
  objects: readonly KubernetesObject[],
): Map<string, bigint> {
  const {live, readings, facts, wantedSecrets, secrets, target, get} = context;
  const total = new Map<string, bigint>();
  const served = knownValue(readings.resources) ?? [];
  const piece = (resource: string, pieces = 1): void =>
    // Kinds of the core have a second spelling.
    add(
      total,
      {
        [`count/${resource}`]: MILLI_PER_UNIT,
        ...(resource.includes('.') ? {} : {[resource]: MILLI_PER_UNIT}),
      },
      BigInt(pieces),
    );
  for (const object of objects) {
    const found = live.objects.get(kindAndName(object));
    if (found !== undefined && knownValue(found) !== undefined) continue;
    piece(resourceOf(object, objects, served));
    if (object.kind === 'Deployment') piece('replicasets.apps');
  }
  const byDefault = knownValue(facts.storageClasses)?.find(({isDefault}) => isDefault);
  for (const claim of claimsToMake(context, objects)) {
    const storage = claimStorage(claim)['storage'] ?? 0n;
    const className =
      getAt(claim as unknown as Tree, ['spec', 'storageClassName']) ?? byDefault?.name;
    const ofClass = `${String(className)}.storageclass.storage.k8s.io`;
    add(total, {
      'requests.storage': storage,
      [`${ofClass}/requests.storage`]: storage,
      [`${ofClass}/persistentvolumeclaims`]: MILLI_PER_UNIT,
    });
  }
  const made = wantedSecrets.filter(({name, isGiven}) => {
    const fact = secrets.get(name);
    return isGiven && (fact === undefined || (isKnown(fact) && fact.value === undefined));
  });
  // Helm keeps a Secret for every revision.
  piece('secrets', made.length + 1);
  if (target.chart === 'agent-job') piece('jobs.batch', get(concurrency) ?? 1);
  return total;
}

const RESOURCE = /^(requests\.|limits\.)?(cpu|memory)$/;

/** Containers without a request or limit that the quota requires: Kubernetes rejects their pods. */
function silentContainers(
  quota: ResourceQuota,
  groups: readonly PodGroup[],
  context: PreflightContext,
  ranges: readonly LimitRange[],
) {
  return Object.keys(hardOf(quota)).flatMap((key) => {
    const [, prefix = 'requests.', resource = ''] = RESOURCE.exec(key) ?? [];
    if (resource === '') return [];
    const of = prefix === 'limits.' ? 'limits' : 'requests';
    return groups.flatMap((group) =>
      admitted(group.spec, ranges)
        .filter((container) => container[of][resource] === undefined)
        .map((container) => {
          const value = spellAmount(
            resource,
            container.requests[resource] ??
              (resource === 'cpu' ? MILLI_PER_UNIT : 1024n ** 3n * MILLI_PER_UNIT),
          );
          return {
            message: `Container ${container.name} of ${group.owner} has no ${resource} ${of === 'limits' ? 'limit' : 'request'}, which ResourceQuota ${quota.metadata.name} requires (${key})`,
            remedy: resourceOption(context, group, container.name, {resource, of}, value),
          };
        }),
    );
  });
}

const hardOf = ({status, spec}: ResourceQuota): Amounts => amountsOf(status?.hard ?? spec?.hard);

/** One limit of a quota against the need of the install with its runs. */
interface QuotaUsage {
  quota: ResourceQuota;
  key: string;
  hard: bigint;
  free: bigint;
  /** Of everything but runs, and of one run. */
  fixed: bigint;
  perRun: bigint;
  /** Of the pods that an update of a running release needs besides. */
  surge: bigint;
}

function usesOf(
  quota: ResourceQuota,
  groups: readonly PodGroup[],
  context: PreflightContext,
  {
    objects,
    pods,
    ranges,
  }: {objects: readonly KubernetesObject[]; pods: readonly Pod[]; ranges: readonly LimitRange[]},
): QuotaUsage[] {
  const {scopes = [], scopeSelector} = quota.spec ?? {};
  const isScoped = scopes.length + (scopeSelector?.matchExpressions?.length ?? 0) > 0;
  const fixed = isScoped ? new Map<string, bigint>() : objectAmounts(context, objects);
  const perRun = new Map<string, bigint>();
  const surge = new Map<string, bigint>();
  const own = new Map<string, bigint>();
  for (const group of groups.filter((each) => counts(quota, each.spec, ranges))) {
    const {spec, count, isPerRun} = group;
    add(isPerRun ? perRun : fixed, podAmounts(spec, ranges), isPerRun ? 1n : BigInt(count));
    add(surge, podAmounts(spec, ranges), BigInt(surgeOf(group, objects, context)));
  }
  // What the release runs now counts as used already, and is replaced.
  for (const pod of pods.filter(
    (each) => isOfRelease(each, context) && counts(quota, each.spec as unknown as Values, ranges),
  ))
    add(own, podAmounts(pod.spec as unknown as Values, ranges));
  const used = amountsOf(quota.status?.used);
  return Object.entries(hardOf(quota)).map(([key, hard]) => ({
    quota,
    key,
    hard,
    fixed: fixed.get(key) ?? 0n,
    perRun: perRun.get(key) ?? 0n,
    surge: surge.get(key) ?? 0n,
    free: hard - (used[key] ?? 0n) + (own.get(key) ?? 0n),
  }));
}

/** Additional pods of a Deployment during a rolling update; zero if it can stop a pod first. */
function surgeOf(
  {owner, count}: PodGroup,
  objects: readonly KubernetesObject[],
  {live}: PreflightContext,
): number {
  const deployment = objects.find(
    (each) => each.kind === 'Deployment' && kindAndName(each) === owner,
  );
  const running = deployment && live.objects.get(owner);
  if (running === undefined || knownValue(running) === undefined) return 0;
  const strategy = getAt(deployment as unknown as Tree, ['spec', 'strategy']);
  if (getAt(strategy, ['type']) === 'Recreate') return 0;
  const pods = (key: string): number => {
    const value = String(getAt(strategy, ['rollingUpdate', key]) ?? '25%');
    return value.endsWith('%') ? (count * Number.parseFloat(value)) / 100 : Number(value);
  };
  return Math.floor(pods('maxUnavailable')) > 0 ? 0 : Math.ceil(pods('maxSurge'));
}

const isOfRelease = (pod: Pod, {name}: PreflightContext): boolean =>
  pod.metadata.labels?.['app.kubernetes.io/instance'] === name.release && !hasEnded(pod);

function result(uses: readonly QuotaUsage[], context: PreflightContext): CheckResult {
  const runs = BigInt(context.get(concurrency) ?? 1);
  const needOf = ({fixed, perRun}: QuotaUsage): bigint => fixed + perRun * runs;
  const short = uses.filter((use) => needOf(use) > use.free && needOf(use) > 0n);
  const text = (use: QuotaUsage, need = needOf(use)): string =>
    `${use.quota.metadata.name} has ${spellAmount(use.key, use.free > 0n ? use.free : 0n)} of ${spellAmount(use.key, use.hard)} ${use.key} left, required: ${spellAmount(use.key, need)}`;
  const tight = uses.filter((use) => use.surge > 0n && needOf(use) + use.surge > use.free);
  if (short.length === 0 && tight.length > 0) {
    const isChoosable = getAt(context.values, ['strategy', 'type']) !== undefined;
    return warn(
      `A rolling update starts new pods before it stops old ones: ${tight.map((use) => text(use, needOf(use) + use.surge)).join('; ')}`,
      [
        isChoosable
          ? 'Stop old pods first with --set strategy.type=Recreate, or increase the quota:'
          : 'Increase the quota:',
        ...raised(tight, (use) => needOf(use) + use.surge, context),
      ].join('\n'),
    );
  }
  if (short.length === 0)
    return pass(
      uses
        .filter((use) => needOf(use) > 0n)
        .map((use) => text(use))
        .join('; ') || 'No ResourceQuota applies to the objects of the install',
    );
  const possible = short
    .map(({free, fixed, perRun}) => (perRun === 0n || free < fixed ? 0n : (free - fixed) / perRun))
    .reduce((one, other) => (one < other ? one : other));
  const fewer =
    possible > 0n
      ? [`${fewerRuns(context, possible)}, or increase the quota:`]
      : ['Increase the quota:'];
  const forRuns = runs > 1n ? ` for ${runs} concurrent runs` : '';
  return fail(
    `${short.map((use) => text(use)).join('; ')}${forRuns}`,
    [...fewer, ...raised(short, needOf, context)].join('\n'),
  );
}

/** Commands that increase the quotas to the required amounts. */
function raised(
  uses: readonly QuotaUsage[],
  needOf: (use: QuotaUsage) => bigint,
  {name: {kubeTarget}}: PreflightContext,
): string[] {
  const quotas = [...new Set(uses.map(({quota}) => quota))];
  return quotas.map((quota) => {
    const hard = Object.fromEntries(
      uses
        .filter((use) => use.quota === quota)
        .map((use) => [use.key, spellAmount(use.key, use.hard - use.free + needOf(use))]),
    );
    const where = [quota.metadata.name, '--namespace', kubeTarget.namespace];
    const args = [
      'patch',
      'resourcequota',
      ...where,
      '--type=merge',
      `--patch=${JSON.stringify({spec: {hard}})}`,
    ];
    return kubectlCommand(kubeTarget, ...args);
  });
}

export const quota = check('Namespace', 'quota', 'ResourceQuota', {
  ref: 'https://kubernetes.io/docs/concepts/policy/resource-quotas/',
  run: (context) =>
    ifKnown(context.live.quotas, 'list ResourceQuotas', (quotas): CheckResult => {
      const {limitRanges, pods} = context.live;
      if (quotas.length === 0)
        return pass(`${context.name.kubeTarget.namespace} has no ResourceQuota`);
      if (!isKnown(limitRanges)) return skipUnknown(limitRanges, 'list LimitRanges');
      if (!isKnown(pods)) return skipUnknown(pods, 'list pods');
      return ifKnown(podGroups(context), 'render the chart', (groups) => {
        const ranges = limitRanges.value;
        const countedBy = (each: ResourceQuota) =>
          groups.filter(({spec}) => counts(each, spec, ranges));
        const silent = quotas.flatMap((each) =>
          silentContainers(each, countedBy(each), context, ranges),
        );
        if (silent.length > 0) {
          const options = [...new Set(silent.flatMap(({remedy}) => remedy ?? []))];
          return fail(
            silent.map(({message}) => message).join('; '),
            options.length > 0
              ? `Use ${options.join(' ')}. Or set defaults for the namespace with a LimitRange`
              : 'Set defaults for the namespace with a LimitRange',
          );
        }
        const objects = knownValue(context.manifest) ?? [];
        const uses = quotas.flatMap((each) =>
          usesOf(each, groups, context, {objects, pods: pods.value, ranges}),
        );
        return result(uses, context);
      });
    }),
});
