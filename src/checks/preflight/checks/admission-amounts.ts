import {kindAndName} from '../../../cluster/kubernetes/object-refs.ts';
import {mapsIn} from '../../../cluster/kubernetes/pod-specs.ts';
import {changing, type Remedy} from '../../../ground/finding.ts';
import {getAt, type Tree, type Values} from '../../../ground/tree.ts';
import {cacheSize} from '../../../settings/cache.ts';
import {milliOf} from '../../../settings/kinds/quantities.ts';
import {withValue} from '../../../settings/spelling.ts';
import {dataSize} from '../../../settings/storage.ts';
import {MILLI_PER_UNIT} from '../facts/amounts.ts';
import {podRole} from '../facts/chart-pods.ts';
import type {PreflightContext, RejectedTrial} from '../facts/context.ts';
import {distinctOptions, RUN_POD, resourceOption} from '../facts/pod-groups.ts';

/** An amount that a LimitRange or a quota demands. */
interface Demand {
  of: 'requests' | 'limits';
  resource: string;
  /** As a quantity; undefined if any amount will do. */
  bound?: string | undefined;
  /** The limit must not exceed so many requests. */
  ratio?: bigint | undefined;
  /** The containers that it is about. */
  isOf(container: Values): boolean;
}

/** https://kubernetes.io/docs/concepts/policy/limit-range/ */
const BOUND =
  /(?:max|min)imum (\S+) usage per \w+ is ([^\s,]+?)(?:, but (limit|request) is ([^\s,\]]+)|\.\s+No (limit|request) is specified)/g;
const RATIO = /([\w./-]+) max limit to request ratio per \w+ is ([^\s,]+)/g;
const OF_QUOTA = 'failed quota: ';
const MISSING = /\b(?:(requests|limits)\.)?(cpu|memory) for: ([^;\s]+)/g;

/** A LimitRange rejects it, or a quota that demands amounts. */
export const isOfAmounts = (rejection: string): boolean =>
  rejection.search(BOUND) >= 0 || rejection.search(RATIO) >= 0 || rejection.includes(OF_QUOTA);

/** One remedy with the options for all of them. */
export function amountRemedies(
  rejected: readonly RejectedTrial[],
  {target}: PreflightContext,
): Remedy[] {
  if (rejected.length === 0) return [];
  const isOfQuota = rejected.some(({rejection}) => rejection.includes(OF_QUOTA));
  const otherwise = isOfQuota
    ? 'set defaults for the namespace with a LimitRange'
    : 'change the LimitRange of the namespace';
  const options = distinctOptions(
    rejected.flatMap((trial) =>
      demandsIn(trial.rejection).flatMap((demand) => optionsFor(demand, trial, target.chart)),
    ),
  );
  return [
    options === undefined
      ? {text: `Set requests and limits as the message demands, or ${otherwise}`}
      : changing`Use ${options}. Or ${otherwise}`,
  ];
}

function demandsIn(rejection: string): Demand[] {
  const ratios = new Map(
    [...rejection.matchAll(RATIO)].map(([, resource = '', most = '']) => [
      resource,
      milliOf(most) ?? MILLI_PER_UNIT,
    ]),
  );
  const bounds = [...rejection.matchAll(BOUND)].map(
    ([, resource = '', bound, given, amount, missing]): Demand => {
      const of = (given ?? missing) === 'limit' ? 'limits' : 'requests';
      const rejected = amount === undefined ? undefined : milliOf(amount);
      const isOf = (each: Values): boolean => amountOf(each, of, resource) === rejected;
      return {of, resource, bound, ratio: ratios.get(resource), isOf};
    },
  );
  const bounded = new Set(bounds.map(({resource}) => resource));
  const ofRatios = [...ratios]
    .filter(([resource]) => !bounded.has(resource))
    .map(([resource, ratio]): Demand => {
      const isOf = (each: Values): boolean => exceeds(amountsOf(each, resource), ratio);
      return {of: 'requests', resource, ratio, isOf};
    });
  const missing = [...rejection.matchAll(MISSING)].map(
    ([, of, resource = '', names = '']): Demand => ({
      of: of === 'limits' ? 'limits' : 'requests',
      resource,
      isOf: ({name}) => names.split(',').includes(String(name)),
    }),
  );
  return [...bounds, ...ofRatios, ...missing];
}

type Sides = Partial<Record<Demand['of'], bigint | undefined>>;

/** Kubernetes uses the limit if there is no request. */
function exceeds({requests, limits}: Sides, ratio: bigint): boolean {
  return limits === undefined || limits * MILLI_PER_UNIT > (requests ?? limits) * ratio;
}

function amountsOf(container: Values, resource: string): Sides {
  const given = (of: Demand['of']): bigint | undefined => {
    const amount = getAt(container, ['resources', of, resource]);
    return amount === undefined ? undefined : milliOf(String(amount));
  };
  return {requests: given('requests'), limits: given('limits')};
}

/** Kubernetes uses the limit if there is no request. */
function amountOf(container: Values, of: Demand['of'], resource: string): bigint | undefined {
  const {requests, limits} = amountsOf(container, resource);
  return of === 'limits' ? limits : (requests ?? limits);
}

function optionsFor(
  demand: Demand,
  {object, owner}: RejectedTrial,
  chart: PreflightContext['target']['chart'],
): Remedy[] {
  const {of, resource, bound, isOf} = demand;
  if (object.kind === 'PersistentVolumeClaim') return sizeOption(object.metadata.name, bound);
  const spec = getAt(object as unknown as Tree, ['spec']) as Values;
  const pods = {
    owner: owner === undefined ? RUN_POD : kindAndName(owner),
    role: owner === undefined ? ('runs' as const) : podRole(owner, chart),
    spec,
  };
  return mapsIn(spec['containers'])
    .filter(isOf)
    .flatMap((container) => {
      const given = amountsOf(container, resource);
      const milli = amountFor(demand, given);
      if (milli === undefined) return [];
      const sides = [of, ...conflictingSides(demand, milli, given)];
      const name = String(container['name']);
      return sides.flatMap(
        (side) => resourceOption(chart, pods, {container: name, of: side, resource, milli}) ?? [],
      );
    });
}

/** What the container must have; with a ratio, the smallest request for its limit. */
function amountFor({resource, bound, ratio}: Demand, {requests, limits}: Sides) {
  if (bound !== undefined) return milliOf(bound);
  if (ratio !== undefined && limits !== undefined)
    return (limits * MILLI_PER_UNIT + ratio - 1n) / ratio;
  return requests ?? limits ?? USUAL[resource];
}

/** A request must not exceed its limit, and the limit not its ratio to the request. */
function conflictingSides({of, ratio}: Demand, milli: bigint, given: Sides): Demand['of'][] {
  const next: Sides = {...given, [of]: milli};
  const {requests = 0n, limits = requests} = next;
  const isConflict = requests > limits || (ratio !== undefined && exceeds(next, ratio));
  const other = of === 'limits' ? 'requests' : 'limits';
  return isConflict ? [other] : [];
}

/** One core, and one gibibyte. */
const USUAL: Readonly<Record<string, bigint>> = {
  cpu: MILLI_PER_UNIT,
  memory: 1024n ** 3n * MILLI_PER_UNIT,
};

/** The option that sets the size of a PVC that the chart creates. */
function sizeOption(claim: string, size = ''): Remedy[] {
  if (claim.endsWith('-cache')) return [changing`${withValue(cacheSize, size)}`];
  return claim.endsWith('-data') ? [changing`${withValue(dataSize, size)}`] : [];
}
