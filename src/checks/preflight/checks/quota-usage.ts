import {resourceOf} from '../../../cluster/kubernetes/kinds.ts';
import {kindAndName} from '../../../cluster/kubernetes/object-refs.ts';
import type {KubernetesObject, Pod} from '../../../cluster/kubernetes/objects.ts';
import {hasEnded} from '../../../cluster/kubernetes/pod-specs.ts';
import {isKnown, knownValue} from '../../../ground/fact.ts';
import {getAt, type Tree, type Values} from '../../../ground/tree.ts';
import {admitted, podTotal} from '../facts/admitted.ts';
import {type Amounts, amountsOf, MILLI_PER_UNIT, sum} from '../facts/amounts.ts';
import type {PreflightContext, RequiredSecret} from '../facts/context.ts';
import {claimRequests, liveObject, newClaims} from '../facts/live-objects.ts';
import type {LimitRange, ResourceQuota} from '../facts/namespace-limits.ts';
import {maxRuns, type PodGroup} from '../facts/pod-groups.ts';

/** What an install adds to its namespace, and what is there now. */
export interface NamespaceLoad {
  objects: readonly KubernetesObject[];
  groups: readonly PodGroup[];
  pods: readonly Pod[];
  ranges: readonly LimitRange[];
}

/** One limit of a quota against the need of the install with its runs. */
export interface QuotaUsage {
  quota: ResourceQuota;
  key: string;
  hard: bigint;
  free: bigint;
  need: bigint;
  /** Parts of the need: of everything but runs, and of one run. */
  fixed: bigint;
  perRun: bigint;
  /** Of the pods that an update of a running release needs besides. */
  surge: bigint;
}

export const hardOf = ({status, spec}: ResourceQuota): Amounts =>
  amountsOf(status?.hard ?? spec?.hard);

export function quotaUsage(
  quota: ResourceQuota,
  {objects, groups, pods, ranges}: NamespaceLoad,
  context: PreflightContext,
): QuotaUsage[] {
  const {scopes = [], scopeSelector} = quota.spec ?? {};
  const isScoped = scopes.length + (scopeSelector?.matchExpressions?.length ?? 0) > 0;
  const counted = groups.filter(({spec}) => countsPod(quota, spec, ranges));
  const total = (some: readonly PodGroup[], timesOf: (group: PodGroup) => number): Amounts =>
    some.map((each) => times(timesOf(each), podAmounts(each.spec, ranges))).reduce(sum, {});
  const others = counted.filter(({isPerRun}) => !isPerRun);
  const fixed = sum(
    total(others, ({count}) => count),
    isScoped ? {} : objectAmounts(context, objects),
  );
  const runs = counted.filter(({isPerRun}) => isPerRun);
  const perRun = total(runs, () => 1);
  const surge = total(counted, (each) => surgeOf(each, objects, context));
  // What the release runs now counts as used already, and is replaced.
  const own = pods
    .filter((each) => isOfRelease(each, context))
    .map(({spec}) => spec as unknown as Values)
    .filter((spec) => countsPod(quota, spec, ranges))
    .map((spec) => podAmounts(spec, ranges))
    .reduce(sum, {});
  const used = amountsOf(quota.status?.used);
  return Object.entries(hardOf(quota)).map(([key, hard]) => ({
    quota,
    key,
    hard,
    free: hard - (used[key] ?? 0n) + (own[key] ?? 0n),
    need: (fixed[key] ?? 0n) + (perRun[key] ?? 0n) * BigInt(maxRuns(context)),
    fixed: fixed[key] ?? 0n,
    perRun: perRun[key] ?? 0n,
    surge: surge[key] ?? 0n,
  }));
}

const times = (factor: number, amounts: Amounts): Amounts =>
  Object.fromEntries(
    Object.entries(amounts).map(([key, amount]) => [key, amount * BigInt(factor)]),
  );

/** Quota usage of one pod, under every resource name: https://kubernetes.io/docs/concepts/policy/resource-quotas/ */
function podAmounts(spec: Values, ranges: readonly LimitRange[]): Amounts {
  const {requests, limits} = podTotal(admitted(spec, ranges));
  return {
    ...requests,
    ...prefixed('requests.', requests),
    ...prefixed('limits.', limits),
    pods: MILLI_PER_UNIT,
    'count/pods': MILLI_PER_UNIT,
  };
}

const prefixed = (prefix: string, amounts: Amounts): Amounts =>
  Object.fromEntries(Object.entries(amounts).map(([key, amount]) => [`${prefix}${key}`, amount]));

/** All scopes of the quota select the pod. */
export function countsPod(
  {spec = {}}: ResourceQuota,
  pod: Values,
  ranges: readonly LimitRange[],
): boolean {
  const isBestEffort = admitted(pod, ranges).every(
    ({requests, limits}) =>
      !['cpu', 'memory'].some((key) => (requests[key] ?? 0n) > 0n || (limits[key] ?? 0n) > 0n),
  );
  const isTerminating = (pod['activeDeadlineSeconds'] ?? undefined) !== undefined;
  const isSelected: Readonly<Record<string, boolean>> = {
    BestEffort: isBestEffort,
    NotBestEffort: !isBestEffort,
    Terminating: isTerminating,
    NotTerminating: !isTerminating,
    PriorityClass: priorityOf(pod) !== '',
  };
  const {scopes = [], scopeSelector} = spec;
  return (
    scopes.every((scope) => isSelected[scope]) &&
    (scopeSelector?.matchExpressions ?? []).every((expression) =>
      expression.scopeName === 'PriorityClass'
        ? selectsPriority(expression, priorityOf(pod))
        : isSelected[expression.scopeName],
    )
  );
}

const priorityOf = (pod: Values): string => String(pod['priorityClassName'] ?? '');

function selectsPriority(
  {operator, values = []}: {operator: string; values?: readonly string[]},
  priority: string,
): boolean {
  if (operator === 'In') return values.includes(priority);
  if (operator === 'NotIn') return !values.includes(priority);
  return (operator === 'Exists') === (priority !== '');
}

/** Objects and PVCs that the install adds; what the release already has is not counted. */
function objectAmounts(context: PreflightContext, objects: readonly KubernetesObject[]): Amounts {
  const served = knownValue(context.readings.resources) ?? [];
  const added = objects.filter((object) => liveObject(object, context) === undefined);
  const runs = context.target.chart === 'agent-job' ? maxRuns(context) : 0;
  const resources = [
    ...added.map((object) => resourceOf(object, objects, served)),
    ...added.filter(({kind}) => kind === 'Deployment').map(() => 'replicasets.apps'),
    ...context.wantedSecrets.filter((each) => isNewSecret(each, context)).map(() => 'secrets'),
    // Helm keeps a Secret for every revision.
    'secrets',
    ...Array.from({length: runs}, () => 'jobs.batch'),
  ];
  const claims = newClaims(objects, context);
  return [...resources.map(pieceOf), ...claims.map((claim) => claimAmounts(claim, context))].reduce(
    sum,
    {},
  );
}

/** Kinds of the core have a second spelling. */
const pieceOf = (resource: string): Amounts => ({
  [`count/${resource}`]: MILLI_PER_UNIT,
  ...(!resource.includes('.') && {[resource]: MILLI_PER_UNIT}),
});

function isNewSecret({name, isGiven}: RequiredSecret, {secrets}: PreflightContext): boolean {
  const fact = secrets.get(name);
  return isGiven && (fact === undefined || (isKnown(fact) && fact.value === undefined));
}

function claimAmounts(claim: KubernetesObject, {facts}: PreflightContext): Amounts {
  const storage = claimRequests(claim)['storage'] ?? 0n;
  const byDefault = knownValue(facts.storageClasses)?.find(({isDefault}) => isDefault);
  const className = getAt(claim as unknown as Tree, ['spec', 'storageClassName']);
  const ofClass = `${String(className ?? byDefault?.name)}.storageclass.storage.k8s.io`;
  return {
    'requests.storage': storage,
    [`${ofClass}/requests.storage`]: storage,
    [`${ofClass}/persistentvolumeclaims`]: MILLI_PER_UNIT,
  };
}

/** Additional pods of a Deployment during a rolling update; zero if it can stop a pod first. */
function surgeOf(
  {owner, count}: PodGroup,
  objects: readonly KubernetesObject[],
  context: PreflightContext,
): number {
  const deployment = objects.find(
    (each) => each.kind === 'Deployment' && kindAndName(each) === owner,
  );
  if (deployment === undefined || liveObject(deployment, context) === undefined) return 0;
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
