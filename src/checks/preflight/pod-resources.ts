import type {KubernetesObject} from '../../cluster/kubernetes/objects.ts';
import {mapsIn, pairsBelow} from '../../cluster/kubernetes/pod-specs.ts';
import {mayRun} from '../../cluster/kubernetes/scheduling.ts';
import type {DesiredSecret} from '../../cluster/release/desired-release.ts';
import {claimNames} from '../../cluster/release/object-users.ts';
import {type Fact, follow, known, knownValue} from '../../ground/fact.ts';
import {getAt, isMap, type Tree, type Values} from '../../ground/tree.ts';
import {concurrency} from '../../settings/agent.ts';
import type {Get} from '../../settings/define.ts';
import {milliOf} from '../../settings/kinds.ts';
import {runCpuLimit, runCpuRequest, runMemoryLimit, runMemoryRequest} from '../../settings/pods.ts';
import {caSecret, caSecretKey} from '../../settings/tls.ts';
import {type ChartPods, isLinux, podsIn} from './checks/available-nodes.ts';
import type {
  LimitRange,
  LimitRangeItem,
  PreflightContext,
  RequiredSecret,
} from './preflight-context.ts';

/** Pods of one kind, as many as an install with all its runs has at a time. */
export interface PodGroup extends ChartPods {
  count: number;
  /** One per concurrent run, so that fewer runs need fewer. */
  isPerRun: boolean;
}

/** The pods of the release and of the maximum number of concurrent runs. */
export const podGroups = (context: PreflightContext): Fact<readonly PodGroup[]> =>
  follow(context.manifest, (objects, source) => {
    const {target, get, facts} = context;
    const runs = get(concurrency) ?? 1;
    const ofObjects = objects.flatMap((object) =>
      podsIn(object, target.chart).map((pods): PodGroup => {
        if (object.kind === 'Deployment') {
          const replicas = getAt(object as unknown as Tree, ['spec', 'replicas']);
          return {...pods, count: Number(replicas ?? 1), isPerRun: target.chart === 'agent-local'};
        }
        if (object.kind !== 'DaemonSet') return {...pods, count: runs, isPerRun: true};
        const nodes = (knownValue(facts.nodes) ?? []).filter(
          (node) => isLinux(node) && mayRun(pods.spec, node),
        );
        return {...pods, count: Math.max(nodes.length, 1), isPerRun: false};
      }),
    );
    return known(
      target.chart === 'agent-k8s' ? [...ofObjects, runsOfAgent(context, runs)] : ofObjects,
      source,
    );
  });

/** The pods that agent-k8s creates itself. */
const runsOfAgent = ({get}: PreflightContext, count: number): PodGroup => {
  const defined = (cpu: string | undefined, memory: string | undefined): Values => ({
    ...(cpu ? {cpu} : {}),
    ...(memory ? {memory} : {}),
  });
  const resources = {
    requests: defined(get(runCpuRequest), get(runMemoryRequest)),
    limits: defined(get(runCpuLimit), get(runMemoryLimit)),
  };
  return {
    owner: 'Run pod',
    role: 'runs',
    spec: {containers: [{name: 'run', resources}]},
    count,
    isPerRun: true,
  };
};

/** In thousandths of a core, a byte or a piece. */
export type Amounts = Readonly<Record<string, bigint>>;
export const MILLI_PER_UNIT = 1000n;

/** A container with the defaults that the API server and a LimitRange give it. */
export interface Resources {
  requests: Amounts;
  limits: Amounts;
}

interface AdmittedContainer extends Resources {
  name: string;
  isInit: boolean;
}

export const itemsOf = (ranges: readonly LimitRange[], type: string): LimitRangeItem[] =>
  ranges.flatMap(({spec}) => (spec?.limits ?? []).filter((each) => each.type === type));

export const amountsOf = (quantities: unknown): Amounts =>
  Object.fromEntries(
    Object.entries(isMap(quantities as Tree) ? (quantities as Values) : {}).flatMap(
      ([key, quantity]) => {
        const milli = milliOf(String(quantity));
        return milli === undefined ? [] : [[key, milli]];
      },
    ),
  );

/** Containers as admission leaves them: https://kubernetes.io/docs/concepts/policy/limit-range/ */
export function admitted(spec: Values, ranges: readonly LimitRange[]): AdmittedContainer[] {
  const items = itemsOf(ranges, 'Container');
  const defaults = (key: 'default' | 'defaultRequest'): Amounts =>
    Object.assign({}, ...items.toReversed().map((each) => amountsOf(each[key])));
  return (['containers', 'initContainers'] as const).flatMap((list) =>
    mapsIn(spec[list]).map((container) => {
      const of = (key: string): Amounts =>
        amountsOf(getAt(container, ['resources', key]) ?? undefined);
      return {
        name: String(container['name']),
        isInit: list === 'initContainers' && container['restartPolicy'] !== 'Always',
        // Kubernetes uses the limit if there is no request.
        requests: {...defaults('defaultRequest'), ...of('limits'), ...of('requests')},
        limits: {...defaults('default'), ...of('limits')},
      };
    }),
  );
}

const plus = (one: Amounts, other: Amounts): Amounts =>
  merged(one, other, (first, second) => first + second);
export const maximum = (one: Amounts, other: Amounts): Amounts =>
  merged(one, other, (first, second) => (first > second ? first : second));

const merged = (
  one: Amounts,
  other: Amounts,
  join: (first: bigint, second: bigint) => bigint,
): Amounts =>
  Object.fromEntries(
    [...new Set([...Object.keys(one), ...Object.keys(other)])].map((key) => [
      key,
      join(one[key] ?? 0n, other[key] ?? 0n),
    ]),
  );

/** What a whole pod counts for: its containers together, or its largest init container. */
export function podTotal(containers: readonly AdmittedContainer[]): Resources {
  const total = (key: 'requests' | 'limits'): Amounts =>
    containers
      .filter(({isInit}) => isInit)
      .map((each) => each[key])
      .reduce(
        maximum,
        containers
          .filter(({isInit}) => !isInit)
          .map((each) => each[key])
          .reduce(plus, {}),
      );
  return {requests: total('requests'), limits: total('limits')};
}

/** The option that sets a resource of a container; undefined if the chart has none. */
export function resourceOption(
  {target}: PreflightContext,
  {owner, role}: ChartPods,
  container: string,
  {resource, of}: {resource: string; of: 'requests' | 'limits'},
  value: string,
): string | undefined {
  const path = pathOf(target.chart, role, container, owner);
  const isRun =
    role === 'runs' &&
    (target.chart !== 'agent-job' || container === 'runner') &&
    !owner.startsWith('DaemonSet ');
  if (isRun && (resource === 'cpu' || resource === 'memory'))
    return `--run-${resource}-${of === 'requests' ? 'request' : 'limit'} ${value}`;
  return path === undefined ? undefined : `--set ${path}.${of}.${resource}=${value}`;
}

function pathOf(
  chart: string,
  role: ChartPods['role'],
  container: string,
  owner: string,
): string | undefined {
  if (chart === 'agent-local') return 'resources';
  if (chart === 'agent-k8s') return owner === 'Run pod' ? undefined : 'resources';
  return role === 'controller'
    ? 'agent.resources'
    : `task.${container === 'runner' ? 'runner' : 'worker'}.resources`;
}

/** An amount as a Kubernetes quantity: 1500m, 1Gi */
export function spellAmount(resource: string, milli: bigint): string {
  if (resource.endsWith('cpu')) return milli % 1000n === 0n ? String(milli / 1000n) : `${milli}m`;
  const whole = (milli + 999n) / 1000n;
  if (!/memory|storage/.test(resource)) return String(whole);
  const unit = (['Gi', 'Mi', 'Ki'] as const).find(
    (_, index) => whole % 1024n ** BigInt(3 - index) === 0n && whole > 0n,
  );
  return unit === undefined
    ? String(whole)
    : `${whole / 1024n ** BigInt(3 - ['Gi', 'Mi', 'Ki'].indexOf(unit))}${unit}`;
}

/** Every Secret that must exist before pods start, or that an install creates. */
export function requiredSecrets(
  made: readonly DesiredSecret[],
  get: Get,
  objects: readonly KubernetesObject[],
): RequiredSecret[] {
  const keysOf = new Map(made.map(({name, data}) => [name, new Set(Object.keys(data))]));
  const ca = get(caSecret);
  const referenced = [
    ...referencedSecrets(objects),
    ...(ca === undefined ? [] : [[ca, [get(caSecretKey) as string]] as const]),
  ];
  for (const [name, keys] of referenced)
    keysOf.set(name, new Set([...(keysOf.get(name) ?? []), ...keys]));
  return [...keysOf].map(([name, keys]) => {
    const data = made.findLast((each) => each.name === name)?.data;
    return {
      name,
      keys: [...keys],
      isGiven: keys.size > 0 && [...keys].every((key) => data?.[key] !== undefined),
    };
  });
}

/** Secrets that pods cannot start without, with the keys they read; those that the chart creates are left out. */
function referencedSecrets(objects: readonly KubernetesObject[]): [name: string, keys: string[]][] {
  const created = new Set(
    objects.filter(({kind}) => kind === 'Secret').map(({metadata}) => metadata.name),
  );
  return pairsIn(objects)
    .flatMap(([key, below]): [name: Tree | undefined, keys: (Tree | undefined)[]][] => {
      if (key === 'imagePullSecrets') return mapsIn(below).map(({name}) => [name, []]);
      if (!isMap(below) || below['optional'] === true) return [];
      if (key === 'secretKeyRef') return [[below['name'], [below['key']]]];
      if (key === 'secretRef') return [[below['name'], []]];
      if (key === 'secret')
        return [
          [below['secretName'] ?? below['name'], mapsIn(below['items']).map((each) => each['key'])],
        ];
      return [];
    })
    .flatMap(([name, keys]) =>
      typeof name === 'string' && name !== '' && !created.has(name)
        ? [[name, keys.filter((key) => typeof key === 'string')]]
        : [],
    );
}

export const referencedPullSecrets = (objects: readonly KubernetesObject[]): string[] => [
  ...new Set(
    pairsIn(objects).flatMap(([key, below]) =>
      key === 'imagePullSecrets' ? mapsIn(below).map(({name}) => String(name)) : [],
    ),
  ),
];

/** PersistentVolumeClaims that pods mount, including those that the chart creates. */
export const referencedClaims = (objects: readonly KubernetesObject[]): string[] => [
  ...new Set(objects.flatMap((object) => claimNames(object as unknown as Tree))),
];

/** All keys with their values. CRDs are skipped, because their keys are descriptions. */
const pairsIn = (objects: readonly KubernetesObject[]): [key: string, below: Tree][] =>
  objects
    .filter(({kind}) => kind !== 'CustomResourceDefinition')
    .flatMap((object) => pairsBelow(object as unknown as Tree));
