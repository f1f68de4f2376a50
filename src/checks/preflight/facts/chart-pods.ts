import {kindAndName} from '../../../cluster/kubernetes/object-refs.ts';
import type {KubernetesObject} from '../../../cluster/kubernetes/objects.ts';
import {podSpecs} from '../../../cluster/kubernetes/pod-specs.ts';
import {mayRun} from '../../../cluster/kubernetes/scheduling.ts';
import type {NodeCapacity} from '../../../cluster/platform/capacity.ts';
import {type Fact, knownValue, mapped} from '../../../ground/fact.ts';
import type {Tree, Values} from '../../../ground/tree.ts';
import {nodeSelector, toleration} from '../../../settings/placement.ts';
import type {PreflightContext} from './context.ts';

/** Pods that the chart creates, or that its agent creates from a template of the chart. */
export interface ChartPods {
  /** Deployment scalr-agent */
  owner: string;
  /** `runs` for pods that run Terraform: agent-k8s schedules runs like the workers of its DaemonSet. */
  role: 'runs' | 'controller';
  spec: Values;
}

export const chartPods = ({
  manifest,
  target: {chart},
}: PreflightContext): Fact<readonly ChartPods[]> =>
  mapped(manifest, (objects) => objects.flatMap((object) => podsIn(object, chart)));

export const podsIn = (object: KubernetesObject, chart: string): ChartPods[] =>
  podSpecs(object).map((spec) => ({
    owner: kindAndName(object),
    role: podRole(object, chart),
    spec,
  }));

export const podRole = ({kind}: KubernetesObject, chart: string): ChartPods['role'] =>
  kind === 'Deployment' && chart !== 'agent-local' ? 'controller' : 'runs';

export const isLinux = ({os}: NodeCapacity): boolean => os === 'linux' || os === '';

/** Nodes that accept pods now. */
export const isAvailable = ({isReady, isSchedulable}: NodeCapacity): boolean =>
  isReady && isSchedulable;

/** For checks without a node to check; the placement check reports why. */
export const NO_NODE_FOR_RUNS = 'No node is available for runs';

/** Linux nodes that may get a run by node selector and taints: those of the rendered chart, else of the settings. */
export function nodesForRuns(context: PreflightContext): Fact<readonly NodeCapacity[]> {
  const {facts, get} = context;
  const pods = knownValue(chartPods(context))?.filter(({role}) => role === 'runs');
  const specs = pods?.map(({spec}) => spec) ?? [
    {
      nodeSelector: get(nodeSelector) ?? {},
      tolerations: (get(toleration) ?? []) as unknown as Tree[],
    },
  ];
  const mayTakeRuns = (node: NodeCapacity): boolean =>
    isLinux(node) && specs.some((spec) => mayRun(spec, node));
  return mapped(facts.nodes, (nodes) => nodes.filter(mayTakeRuns));
}
