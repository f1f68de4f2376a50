import {kindAndName} from '../../../cluster/kubernetes/object-refs.ts';
import type {KubernetesObject} from '../../../cluster/kubernetes/objects.ts';
import {knownValue} from '../../../ground/fact.ts';
import {count} from '../../../ground/text.ts';
import {getAt, type Tree} from '../../../ground/tree.ts';
import {
  type Amounts,
  admitted,
  amountsOf,
  itemsOf,
  type PodGroup,
  podGroups,
  podTotal,
  type Resources,
  resourceOption,
  spellAmount,
} from '../pod-resources.ts';
import {
  type CheckResult,
  check,
  fail,
  ifKnown,
  type LimitRange,
  type LimitRangeItem,
  type PreflightContext,
  pass,
} from '../preflight-context.ts';

/** What an item of a LimitRange rejects, and the option that fixes it. */
interface Refusal {
  message: string;
  remedy?: string | undefined;
}

/** The option for another value; `value` in thousandths. */
type Option = (of: 'requests' | 'limits', resource: string, value: bigint) => string | undefined;

/** What an item rejects in a container, a pod or a PVC: https://kubernetes.io/docs/concepts/policy/limit-range/ */
function refusals(
  item: LimitRangeItem,
  {requests, limits}: Resources,
  owner: string,
  option: Option,
): Refusal[] {
  const found: Refusal[] = [];
  const add = (message: string, ...remedies: (string | undefined)[]): void => {
    const remedy = remedies.filter((each) => each !== undefined).join(' ');
    found.push({message: `${owner} ${message}`, ...(remedy === '' ? {} : {remedy})});
  };
  const isClaim = item.type === 'PersistentVolumeClaim';
  for (const [resource, max] of Object.entries(amountsOf(item.max))) {
    const text = `(${item.type} max: ${spellAmount(resource, max)})`;
    const request = requests[resource];
    const limit = limits[resource];
    const lower =
      request !== undefined && request > max ? option('requests', resource, max) : undefined;
    if (!isClaim && limit === undefined)
      add(`has no ${resource} limit ${text}`, option('limits', resource, max), lower);
    else if (limit !== undefined && limit > max)
      add(
        `has the ${resource} limit ${spellAmount(resource, limit)} ${text}`,
        option('limits', resource, max),
        lower,
      );
    else if (request !== undefined && request > max)
      add(
        `requests ${spellAmount(resource, request)} ${resource} ${text}`,
        option('requests', resource, max),
      );
  }
  for (const [resource, min] of Object.entries(amountsOf(item.min))) {
    const text = `(${item.type} min: ${spellAmount(resource, min)})`;
    const request = requests[resource];
    const limit = limits[resource];
    if (request === undefined)
      add(`has no ${resource} request ${text}`, option('requests', resource, min));
    else if (request < min)
      add(
        `requests ${spellAmount(resource, request)} ${resource} ${text}`,
        option('requests', resource, min),
        limit !== undefined && limit < min ? option('limits', resource, min) : undefined,
      );
  }
  for (const [resource, ratio] of Object.entries(amountsOf(item.maxLimitRequestRatio))) {
    const request = requests[resource];
    const limit = limits[resource];
    const text = `at most ${Number(ratio) / 1000} times the request (maxLimitRequestRatio of ${item.type})`;
    if (request === undefined || limit === undefined || request === 0n)
      add(
        `has no ${resource} ${limit === undefined ? 'limit' : 'request'}; the limit must be ${text}`,
      );
    else if (limit * 1000n > request * ratio)
      add(
        `has the ${resource} limit ${spellAmount(resource, limit)} and request ${spellAmount(resource, request)}; the limit must be ${text}`,
        option('limits', resource, (request * ratio) / 1000n),
      );
  }
  return found;
}

function refusedPods(
  ranges: readonly LimitRange[],
  group: PodGroup,
  context: PreflightContext,
): Refusal[] {
  const containers = admitted(group.spec, ranges);
  const ofContainers = containers.flatMap((container) => {
    const owner = `Container ${container.name} of ${group.owner}`;
    const option: Option = (of, resource, value) =>
      resourceOption(context, group, container.name, {resource, of}, spellAmount(resource, value));
    return [
      ...itemsOf(ranges, 'Container').flatMap((item) => refusals(item, container, owner, option)),
      ...aboveDefault(container, owner, option),
    ];
  });
  // With several containers, the user decides which one to change.
  const [only, ...others] = containers;
  const option: Option = (of, resource, value) =>
    only === undefined || others.length > 0
      ? undefined
      : resourceOption(context, group, only.name, {resource, of}, spellAmount(resource, value));
  return [
    ...ofContainers,
    ...itemsOf(ranges, 'Pod').flatMap((item) =>
      refusals(item, podTotal(containers), `Pod of ${group.owner}`, option),
    ),
  ];
}

/** The default limit of a LimitRange may be below what the container requests. */
const aboveDefault = ({requests, limits}: Resources, owner: string, option: Option): Refusal[] =>
  Object.entries(requests).flatMap(([resource, request]) => {
    const limit = limits[resource];
    return limit === undefined || request <= limit
      ? []
      : [
          {
            message: `${owner} requests ${spellAmount(resource, request)} ${resource} but gets the default limit ${spellAmount(resource, limit)}`,
            remedy: option('limits', resource, request),
          },
        ];
  });

export const claimStorage = (claim: KubernetesObject): Amounts =>
  amountsOf(getAt(claim as unknown as Tree, ['spec', 'resources', 'requests']) ?? undefined);

/** The option that sets the size of a PVC that the chart creates. */
export const sizeOption = ({metadata}: KubernetesObject, size: string): string | undefined =>
  metadata.name.endsWith('-cache')
    ? `--cache-size ${size}`
    : metadata.name.endsWith('-data')
      ? `--data-size ${size}`
      : undefined;

/** PVCs that the install creates; LimitRanges do not apply to existing ones. */
export const claimsToMake = (
  {live}: PreflightContext,
  objects: readonly KubernetesObject[],
): KubernetesObject[] =>
  objects.filter((object) => {
    const found = live.objects.get(kindAndName(object));
    return (
      object.kind === 'PersistentVolumeClaim' &&
      (found === undefined || knownValue(found) === undefined)
    );
  });

const refusedClaim = (ranges: readonly LimitRange[], claim: KubernetesObject): Refusal[] =>
  itemsOf(ranges, 'PersistentVolumeClaim').flatMap((item) =>
    refusals(
      item,
      {requests: claimStorage(claim), limits: {}},
      `PVC ${claim.metadata.name}`,
      (_, resource, value) => sizeOption(claim, spellAmount(resource, value)),
    ),
  );

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
            ...claimsToMake(context, objects).flatMap((claim) => refusedClaim(ranges, claim)),
          ];
          if (refused.length === 0) return pass(`${names} in ${namespace}`);
          const options = [...new Set(refused.flatMap(({remedy}) => remedy ?? []))];
          return fail(
            `LimitRange ${names} rejects ${count(refused.length, 'value')}: ${refused.map(({message}) => message).join('; ')}`,
            options.length > 0
              ? `Use ${options.join(' ')}. Or change the LimitRange ${names}`
              : `Set requests and limits within the LimitRange ${names}, or change it`,
          );
        }),
      );
    }),
});
