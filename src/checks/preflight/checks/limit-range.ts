import type {KubernetesObject} from '../../../cluster/kubernetes/objects.ts';
import {changing, type Remedy} from '../../../findings/finding.ts';
import {count} from '../../../ground/text.ts';
import {cacheSize} from '../../../settings/cache.ts';
import {dataSize} from '../../../settings/storage.ts';
import {
  type AdmittedContainer,
  admitted,
  itemsOf,
  podTotal,
  type Resources,
} from '../facts/admitted.ts';
import {type Amounts, amountsOf, spellAmount} from '../facts/amounts.ts';
import type {PreflightContext} from '../facts/context.ts';
import {claimRequests, newClaims} from '../facts/live-objects.ts';
import type {LimitRange, LimitRangeItem} from '../facts/namespace-limits.ts';
import {distinctOptions, type PodGroup, podGroups, resourceOption} from '../facts/pod-groups.ts';
import {check} from './check.ts';
import {type CheckResult, fail, ifKnown, pass} from './check-result.ts';

/** What a LimitRange rejects, and the options that fix it. */
interface Refusal {
  message: string;
  options: readonly Remedy[];
}

/** The option that sets another amount; undefined if there is none. */
type OptionFor = (of: keyof Resources, resource: string, milli: bigint) => Remedy | undefined;

/** A container, a pod or a PVC. */
interface LimitedObject {
  /** Container agent of Deployment scalr-agent */
  title: string;
  resources: Resources;
  optionFor: OptionFor;
}

function refusal(
  {title}: LimitedObject,
  message: string,
  ...options: readonly (Remedy | undefined)[]
): Refusal {
  return {
    message: `${title} ${message}`,
    options: options.filter((each) => each !== undefined),
  };
}

/** What an item rejects: https://kubernetes.io/docs/concepts/policy/limit-range/ */
const refusals = (item: LimitRangeItem, object: LimitedObject): Refusal[] => [
  ...aboveMaximum(item, object),
  ...belowMinimum(item, object),
  ...aboveRatio(item, object),
];

function aboveMaximum({type, max}: LimitRangeItem, object: LimitedObject): Refusal[] {
  const {resources, optionFor} = object;
  return Object.entries(amountsOf(max)).flatMap(([resource, most]) => {
    const bound = `(${type} max: ${spellAmount(resource, most)})`;
    const request = resources.requests[resource] ?? 0n;
    const limit = resources.limits[resource];
    const lowerRequest = request > most ? optionFor('requests', resource, most) : undefined;
    const lowerLimit = optionFor('limits', resource, most);
    if (limit === undefined && type !== 'PersistentVolumeClaim')
      return [refusal(object, `has no ${resource} limit ${bound}`, lowerLimit, lowerRequest)];
    if (limit !== undefined && limit > most) {
      const message = `has the ${resource} limit ${spellAmount(resource, limit)} ${bound}`;
      return [refusal(object, message, lowerLimit, lowerRequest)];
    }
    if (request <= most) return [];
    const message = `requests ${spellAmount(resource, request)} ${resource} ${bound}`;
    return [refusal(object, message, lowerRequest)];
  });
}

function belowMinimum({type, min}: LimitRangeItem, object: LimitedObject): Refusal[] {
  const {resources, optionFor} = object;
  return Object.entries(amountsOf(min)).flatMap(([resource, least]) => {
    const bound = `(${type} min: ${spellAmount(resource, least)})`;
    const request = resources.requests[resource];
    const limit = resources.limits[resource] ?? least;
    const higherRequest = optionFor('requests', resource, least);
    if (request === undefined)
      return [refusal(object, `has no ${resource} request ${bound}`, higherRequest)];
    if (request >= least) return [];
    const message = `requests ${spellAmount(resource, request)} ${resource} ${bound}`;
    const higherLimit = limit < least ? optionFor('limits', resource, least) : undefined;
    return [refusal(object, message, higherRequest, higherLimit)];
  });
}

function aboveRatio(
  {type, maxLimitRequestRatio}: LimitRangeItem,
  object: LimitedObject,
): Refusal[] {
  const {resources, optionFor} = object;
  return Object.entries(amountsOf(maxLimitRequestRatio)).flatMap(([resource, ratio]) => {
    const {[resource]: request = 0n} = resources.requests;
    const {[resource]: limit} = resources.limits;
    const bound = `the limit must be at most ${Number(ratio) / 1000} times the request (maxLimitRequestRatio of ${type})`;
    if (limit === undefined || request === 0n)
      return [
        refusal(
          object,
          `has no ${resource} ${limit === undefined ? 'limit' : 'request'}; ${bound}`,
        ),
      ];
    if (limit * 1000n <= request * ratio) return [];
    const message = `has the ${resource} limit ${spellAmount(resource, limit)} and request ${spellAmount(resource, request)}; ${bound}`;
    return [refusal(object, message, optionFor('limits', resource, (request * ratio) / 1000n))];
  });
}

/** The default limit of a LimitRange may be below what the container requests. */
const aboveDefault = (object: LimitedObject): Refusal[] =>
  Object.entries(object.resources.requests).flatMap(([resource, request]) => {
    const limit = object.resources.limits[resource];
    if (limit === undefined || request <= limit) return [];
    const message = `requests ${spellAmount(resource, request)} ${resource} but gets the default limit ${spellAmount(resource, limit)}`;
    return [refusal(object, message, object.optionFor('limits', resource, request))];
  });

function refusedPods(
  ranges: readonly LimitRange[],
  group: PodGroup,
  {target}: PreflightContext,
): Refusal[] {
  const containers = admitted(group.spec, ranges);
  const optionsOf =
    ({name: container}: AdmittedContainer): OptionFor =>
    (of, resource, milli) =>
      resourceOption(target.chart, group, {container, of, resource, milli});
  const limited = containers.map((container) => ({
    title: `Container ${container.name} of ${group.owner}`,
    resources: container,
    optionFor: optionsOf(container),
  }));
  // With several containers, the user decides which one to change.
  const [only, ...others] = containers;
  const pod = {
    title: `Pod of ${group.owner}`,
    resources: podTotal(containers),
    optionFor: only === undefined || others.length > 0 ? () => undefined : optionsOf(only),
  };
  const containerItems = itemsOf(ranges, 'Container');
  return [
    ...limited.flatMap((each) => [
      ...containerItems.flatMap((item) => refusals(item, each)),
      ...aboveDefault(each),
    ]),
    ...itemsOf(ranges, 'Pod').flatMap((item) => refusals(item, pod)),
  ];
}

const NO_AMOUNTS: Amounts = {};

function refusedClaim(ranges: readonly LimitRange[], claim: KubernetesObject): Refusal[] {
  const object = {
    title: `PVC ${claim.metadata.name}`,
    resources: {requests: claimRequests(claim), limits: NO_AMOUNTS},
    optionFor: (_: unknown, resource: string, milli: bigint) =>
      sizeOption(claim, spellAmount(resource, milli)),
  };
  return itemsOf(ranges, 'PersistentVolumeClaim').flatMap((item) => refusals(item, object));
}

/** The option that sets the size of a PVC that the chart creates. */
function sizeOption({metadata}: KubernetesObject, size: string): Remedy | undefined {
  if (metadata.name.endsWith('-cache')) return changing(cacheSize, `--cache-size ${size}`);
  return metadata.name.endsWith('-data') ? changing(dataSize, `--data-size ${size}`) : undefined;
}

export const limitRange = check('Namespace', 'limit-range', 'LimitRange', {
  ref: 'https://kubernetes.io/docs/concepts/policy/limit-range/',
  run: (context) =>
    ifKnown(context.live.limitRanges, 'list LimitRanges', (ranges): CheckResult => {
      const {namespace} = context.name.kubeTarget;
      if (ranges.length === 0) return pass(`${namespace} has no LimitRange`);
      const names = ranges.map(({metadata}) => metadata.name).join(', ');
      return ifKnown(podGroups(context), 'render the chart', (groups) =>
        ifKnown(context.manifest, 'render the chart', (objects) => {
          const refused = [
            ...groups.flatMap((group) => refusedPods(ranges, group, context)),
            ...newClaims(objects, context).flatMap((claim) => refusedClaim(ranges, claim)),
          ];
          if (refused.length === 0) return pass(`${names} in ${namespace}`);
          const options = distinctOptions(refused.flatMap((each) => each.options));
          return fail(
            `LimitRange ${names} rejects ${count(refused.length, 'value')}: ${refused.map(({message}) => message).join('; ')}`,
            options === undefined
              ? `Set requests and limits within the LimitRange ${names}, or change it`
              : {...options, text: `Use ${options.text}. Or change the LimitRange ${names}`},
          );
        }),
      );
    }),
});
