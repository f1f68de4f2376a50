import {isSelected, selectorOf, untolerated} from '../../../cluster/kubernetes/scheduling.ts';
import type {NodeCapacity} from '../../../cluster/platform/capacity.ts';
import {kubectlCommand} from '../../../ground/command-line.ts';
import {changing, joined, remedyText} from '../../../ground/finding.ts';
import {count, few} from '../../../ground/text.ts';
import {getAt, type Values} from '../../../ground/tree.ts';
import {
  controllerNodeSelector,
  controllerToleration,
  nodeSelector,
  toleration,
} from '../../../settings/placement.ts';
import {withValue} from '../../../settings/spelling.ts';
import {
  type ChartPods,
  chartPods,
  isAvailable,
  isLinux,
  NO_NODE_FOR_RUNS,
} from '../facts/chart-pods.ts';
import type {PreflightContext} from '../facts/context.ts';
import {type Check, check} from './check.ts';
import {type CheckResult, ifKnown, notChecked, pass, worstOf} from './check-result.ts';
import {noNodeFits} from './no-node-fits.ts';

type PodRole = ChartPods['role'];

export const NODE_SELECTOR = {runs: nodeSelector, controller: controllerNodeSelector};
const TOLERATION = {runs: toleration, controller: controllerToleration};

const placement = (id: string, role: PodRole, title: string): Check =>
  check('Nodes', id, title, {
    ref: 'https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/',
    run: (context) => {
      if (role === 'controller' && context.target.chart === 'agent-local') return undefined;
      return ifKnown(chartPods(context), 'render the chart', (pods) =>
        ifKnown(context.facts.nodes, 'list nodes', (nodes) => {
          // The check ready-nodes reports a cluster without nodes.
          if (nodes.length === 0) return notChecked(NO_NODE_FOR_RUNS);
          const linux = nodes.filter(isLinux);
          const resultOf = (desired: PodRole): CheckResult | undefined =>
            worstOf(
              pods
                .filter((each) => each.role === desired)
                .map((each) => placementOf(each, linux, context)),
            );
          const result = resultOf(role);
          // The remedy for runs helps the controller too.
          const isReported = role === 'controller' && hasRemedyOf(result, resultOf('runs'));
          return isReported ? notChecked(NO_NODE_FOR_RUNS) : result;
        }),
      );
    },
  });

function hasRemedyOf(result: CheckResult | undefined, other: CheckResult | undefined): boolean {
  if (result === undefined || other === undefined || result.remedies.length === 0) return false;
  return remedyText(result) === remedyText(other);
}

export const runNodes = placement('run-nodes', 'runs', 'Nodes for runs');
export const controllerNodes = placement(
  'controller-nodes',
  'controller',
  'Nodes for the controller',
);

const selectorTexts = (spec: Values): string[] =>
  selectorOf(spec).map(([key, value]) => `${key}=${value}`);

/** ` with pool=agents`; empty without a selector. */
function selectorText(spec: Values): string {
  const selector = selectorTexts(spec);
  return selector.length === 0 ? '' : ` with ${selector.join(', ')}`;
}

/** Where the pods can be scheduled; `nodes` are the Linux nodes. */
function placementOf(
  pods: ChartPods,
  nodes: readonly NodeCapacity[],
  context: PreflightContext,
): CheckResult {
  if (nodes.length === 0)
    return noNodeFits(context, 'The cluster has no Linux nodes', 'Add a node pool of Linux nodes');
  const {owner, spec} = pods;
  const selected = nodes.filter((node) => isSelected(spec, node));
  if (selected.length === 0) return noneSelected(pods, nodes, context);
  const tolerated = selected.filter((node) => untolerated(spec, node).length === 0);
  if (tolerated.length === 0) return allTainted(pods, selected, context);
  const available = tolerated.filter(isAvailable);
  if (available.length === 0) return noneAvailable(pods, tolerated, context);
  const found = `${available.length} of ${count(nodes.length, 'Linux node')}${selectorText(spec)}: ${few(available.map(({name}) => name))}`;
  return getAt(spec, REQUIRED_AFFINITY)
    ? notChecked(`Cannot evaluate the node affinity of ${owner}; without it ${found}`)
    : pass(found);
}

const REQUIRED_AFFINITY = [
  'affinity',
  'nodeAffinity',
  'requiredDuringSchedulingIgnoredDuringExecution',
];

function noneSelected(
  {owner, role, spec}: ChartPods,
  nodes: readonly NodeCapacity[],
  context: PreflightContext,
): CheckResult {
  const setting = NODE_SELECTOR[role];
  const selector = selectorTexts(spec);
  const labels = selectorOf(spec).flatMap(([key]) =>
    nodes
      .filter((node) => node.labels[key] !== undefined)
      .map((node) => `${key}=${node.labels[key]}`),
  );
  const {name} = nodes[0] as NodeCapacity;
  const label = kubectlCommand(context.name.kubeTarget, 'label', 'node', name, ...selector);
  return noNodeFits(
    context,
    `${owner} requires nodes with ${selector.join(', ')}, but none of ${count(nodes.length, 'Linux node')} matches`,
    labels.length > 0
      ? changing`Use an existing label (${few([...new Set(labels)])}) with ${setting}`
      : changing`Label a node: ${label}; or remove ${setting}`,
  );
}

function allTainted(
  {owner, role, spec}: ChartPods,
  nodes: readonly NodeCapacity[],
  context: PreflightContext,
): CheckResult {
  const all = nodes
    .flatMap((node) => untolerated(spec, node))
    .map(({key, value, effect}) => `${key}${value === undefined ? '' : `=${value}`}:${effect}`);
  const taints = [...new Set(all)];
  return noNodeFits(
    context,
    `${owner} does not tolerate the taints of ${few(nodes.map(({name}) => name))}: ${taints.join(', ')}`,
    changing`Add ${joined(
      taints.map((taint) => changing`${withValue(TOLERATION[role], taint)}`),
      ' or ',
    )} if the agent may use these nodes`,
  );
}

function noneAvailable(
  {owner, spec}: ChartPods,
  nodes: readonly NodeCapacity[],
  context: PreflightContext,
): CheckResult {
  const {kubeTarget} = context.name;
  const closed = nodes.map(
    ({name, isSchedulable}) => `${name} is ${isSchedulable ? 'not ready' : 'cordoned'}`,
  );
  const [first] = nodes as [NodeCapacity];
  return noNodeFits(
    context,
    `No node${selectorText(spec)} is available for ${owner}: ${few(closed)}`,
    first.isSchedulable
      ? `Show the reason: ${kubectlCommand(kubeTarget, 'describe', 'node', first.name)}`
      : `Allow scheduling: ${kubectlCommand(kubeTarget, 'uncordon', first.name)}`,
  );
}
