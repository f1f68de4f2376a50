import {kindAndName} from '../../../cluster/kubernetes/object-refs.ts';
import {mapsIn} from '../../../cluster/kubernetes/pod-specs.ts';
import {changing, type Remedy} from '../../../ground/finding.ts';
import {getAt, type Tree, type Values} from '../../../ground/tree.ts';
import {cacheSize} from '../../../settings/cache.ts';
import {milliOf} from '../../../settings/kinds/quantities.ts';
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
  /** The containers that it is about. */
  isOf(container: Values): boolean;
}

/** https://kubernetes.io/docs/concepts/policy/limit-range/ */
const BOUND =
  /(?:max|min)imum (\S+) usage per \w+ is ([^\s,]+?)(?:, but (limit|request) is ([^\s,\]]+)|\.\s+No (limit|request) is specified)/g;
const RATIO = /max limit to request ratio per \w+ is/;
const OF_QUOTA = 'failed quota: ';
const MISSING = /\b(?:(requests|limits)\.)?(cpu|memory) for: ([^;\s]+)/g;

/** A LimitRange rejects it, or a quota that demands amounts. */
export const isOfAmounts = (rejection: string): boolean =>
  rejection.search(BOUND) >= 0 || RATIO.test(rejection) || rejection.includes(OF_QUOTA);

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
      : {...options, text: `Use ${options.text}. Or ${otherwise}`},
  ];
}

function demandsIn(rejection: string): Demand[] {
  const bounds = [...rejection.matchAll(BOUND)].map(
    ([, resource = '', bound, given, amount, missing]): Demand => {
      const of = (given ?? missing) === 'limit' ? 'limits' : 'requests';
      const rejected = amount === undefined ? undefined : milliOf(amount);
      return {of, resource, bound, isOf: (each) => amountOf(each, of, resource) === rejected};
    },
  );
  const missing = [...rejection.matchAll(MISSING)].map(
    ([, of, resource = '', names = '']): Demand => ({
      of: of === 'limits' ? 'limits' : 'requests',
      resource,
      isOf: ({name}) => names.split(',').includes(String(name)),
    }),
  );
  return [...bounds, ...missing];
}

function amountsOf(
  container: Values,
  resource: string,
): Partial<Record<Demand['of'], bigint | undefined>> {
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
  {of, resource, bound, isOf}: Demand,
  {object, owner}: RejectedTrial,
  chart: PreflightContext['target']['chart'],
): Remedy[] {
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
      const any = amountOf(container, 'requests', resource) ?? USUAL[resource];
      const milli = bound === undefined ? any : milliOf(bound);
      if (milli === undefined) return [];
      const sides = [of, ...conflictingSides(of, milli, amountsOf(container, resource))];
      const name = String(container['name']);
      return sides.flatMap(
        (side) => resourceOption(chart, pods, {container: name, of: side, resource, milli}) ?? [],
      );
    });
}

/** A request must not exceed its limit. */
function conflictingSides(
  of: Demand['of'],
  milli: bigint,
  {requests, limits}: ReturnType<typeof amountsOf>,
): Demand['of'][] {
  if (of === 'limits') return requests !== undefined && requests > milli ? ['requests'] : [];
  return limits !== undefined && limits < milli ? ['limits'] : [];
}

/** One core, and one gibibyte. */
const USUAL: Readonly<Record<string, bigint>> = {
  cpu: MILLI_PER_UNIT,
  memory: 1024n ** 3n * MILLI_PER_UNIT,
};

/** The option that sets the size of a PVC that the chart creates. */
function sizeOption(claim: string, size = ''): Remedy[] {
  if (claim.endsWith('-cache')) return [changing(cacheSize, `--cache-size ${size}`)];
  return claim.endsWith('-data') ? [changing(dataSize, `--data-size ${size}`)] : [];
}
