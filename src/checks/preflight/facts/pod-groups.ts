import type {KubernetesObject} from '../../../cluster/kubernetes/objects.ts';
import {mayRun} from '../../../cluster/kubernetes/scheduling.ts';
import {type Fact, knownValue, mapped} from '../../../ground/fact.ts';
import {changing, joined, type Remedy} from '../../../ground/finding.ts';
import {getAt, type Tree, type Values} from '../../../ground/tree.ts';
import {set} from '../../../settings/chart-values.ts';
import type {Get} from '../../../settings/define.ts';
import {concurrency} from '../../../settings/purpose.ts';
import {runSize} from '../../../settings/size.ts';
import {withValue} from '../../../settings/spelling.ts';
import {spellAmount} from './amounts.ts';
import {type ChartPods, isLinux, podsIn} from './chart-pods.ts';
import type {PreflightContext} from './context.ts';

/** Pods of one kind, as many as an install with all its runs has at a time. */
export interface PodGroup extends ChartPods {
  count: number;
  /** One per concurrent run, so that fewer runs need fewer. */
  isPerRun: boolean;
}

/** The pods of the release and of the maximum number of concurrent runs. */
export const podGroups = (context: PreflightContext): Fact<readonly PodGroup[]> =>
  mapped(context.manifest, (objects) => {
    const {chart} = context.target;
    const groups = objects.flatMap((object) =>
      podsIn(object, chart).map((pods) => ({...pods, ...countOf(object, pods, context)})),
    );
    return chart === 'agent-k8s' ? [...groups, runsOfAgent(context)] : groups;
  });

export const maxRuns = ({get}: PreflightContext): number => get(concurrency) ?? 1;

function countOf(
  object: KubernetesObject,
  {spec}: ChartPods,
  context: PreflightContext,
): Pick<PodGroup, 'count' | 'isPerRun'> {
  switch (object.kind) {
    case 'Deployment': {
      const replicas = getAt(object as unknown as Tree, ['spec', 'replicas']) ?? 1;
      return {count: Number(replicas), isPerRun: context.target.chart === 'agent-local'};
    }
    case 'DaemonSet': {
      const nodes = (knownValue(context.facts.nodes) ?? []).filter(isLinux);
      const {length} = nodes.filter((node) => mayRun(spec, node));
      return {count: Math.max(length, 1), isPerRun: false};
    }
    default:
      return {count: maxRuns(context), isPerRun: true};
  }
}

/** The pods that agent-k8s creates itself. */
const runsOfAgent = (context: PreflightContext): PodGroup => ({
  owner: RUN_POD,
  role: 'runs',
  spec: {containers: [runContainer(context.get)]},
  count: maxRuns(context),
  isPerRun: true,
});

export const RUN_POD = 'Run pod';

/** What is known of the container of such a pod. */
export const runContainer = (get: Get) =>
  ({
    name: 'run',
    resources: {
      requests: {cpu: get(runSize.cpuRequest), memory: get(runSize.memoryRequest)},
      limits: {cpu: get(runSize.cpuLimit), memory: get(runSize.memoryLimit)},
    },
  }) as unknown as Values;

/** An amount that a container should have. */
export interface ContainerAmount {
  container: string;
  of: 'requests' | 'limits';
  resource: string;
  milli: bigint;
}

/** The option that sets it; undefined if the chart has none. */
export function resourceOption(
  chart: string,
  pods: ChartPods,
  {container, of, resource, milli}: ContainerAmount,
): Remedy | undefined {
  const value = spellAmount(resource, milli);
  const isRun =
    pods.role === 'runs' &&
    (chart !== 'agent-job' || container === 'runner') &&
    !pods.owner.startsWith('DaemonSet ');
  if (isRun && (resource === 'cpu' || resource === 'memory')) {
    const setting = runSize[`${resource}${of === 'requests' ? 'Request' : 'Limit'}`];
    return changing`${withValue(setting, value)}`;
  }
  const path = resourcesPath(chart, pods, container);
  return path === undefined
    ? undefined
    : changing`${withValue(set, `${path}.${of}.${resource}=${value}`)}`;
}

/** The key of the chart with the resources of a container. */
function resourcesPath(
  chart: string,
  {owner, role}: ChartPods,
  container: string,
): string | undefined {
  if (chart === 'agent-k8s' && owner === RUN_POD) return undefined;
  if (chart !== 'agent-job') return 'resources';
  if (role === 'controller') return 'agent.resources';
  return container === 'runner' ? 'task.runner.resources' : 'task.worker.resources';
}

/** All options, each once, as one remedy; undefined without any. */
export function distinctOptions(options: readonly Remedy[]): Remedy | undefined {
  const distinct = new Map(options.map((each) => [each.text, each]));
  return options.length === 0 ? undefined : joined([...distinct.values()], ' ');
}
