import {hasKey} from '../../../charts/support.ts';
import {isSelected, selectorOf, untolerated} from '../../../cluster/kubernetes/scheduling.ts';
import type {NodeCapacity} from '../../../cluster/platform/capacity.ts';
import {kubectlCommand} from '../../../ground/command-line.ts';
import {count, few} from '../../../ground/text.ts';
import {getAt} from '../../../ground/tree.ts';
import {concurrency} from '../../../settings/agent.ts';
import {canonicalQuantity, MEBIBYTE} from '../../../settings/kinds.ts';
import {runCpuRequest, runMemoryRequest} from '../../../settings/pods.ts';
import {
  type Amounts,
  admitted,
  amountsOf,
  MILLI_PER_UNIT,
  maximum,
  podTotal,
} from '../pod-resources.ts';
import {
  type Check,
  type CheckResult,
  check,
  ifKnown,
  type PreflightContext,
  pass,
  skip,
  worstOf,
} from '../preflight-context.ts';
import {
  type ChartPods,
  chartPods,
  isAvailable,
  isLinux,
  NO_NODE_FOR_RUNS,
  nodesForRuns,
  noNodeFits,
} from './available-nodes.ts';

/** What the flags of that role begin with. */
export const FLAG: Readonly<Record<ChartPods['role'], string>> = {
  runs: '--',
  controller: '--controller-',
};

const placement = (id: string, role: ChartPods['role'], title: string): Check =>
  check('Nodes', id, title, {
    ref: 'https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/',
    run: (context) => {
      if (role === 'controller' && context.target.chart === 'agent-local') return undefined;
      return ifKnown(chartPods(context), 'render the chart', (pods) =>
        ifKnown(context.facts.nodes, 'list nodes', (nodes) => {
          // The check ready-nodes reports a cluster without nodes.
          if (nodes.length === 0) return skip(NO_NODE_FOR_RUNS);
          const resultOf = (desired: ChartPods['role']): CheckResult | undefined =>
            worstOf(
              pods
                .filter((each) => each.role === desired)
                .map((each) => placeOf(context, each, nodes.filter(isLinux))),
            );
          const result = resultOf(role);
          // The remedy for runs helps the controller too.
          const isReported =
            role === 'controller' &&
            result?.remedy !== undefined &&
            result.remedy === resultOf('runs')?.remedy;
          return isReported ? skip(NO_NODE_FOR_RUNS) : result;
        }),
      );
    },
  });

function placeOf(
  context: PreflightContext,
  {owner, role, spec}: ChartPods,
  nodes: readonly NodeCapacity[],
): CheckResult {
  if (nodes.length === 0)
    return noNodeFits(context, 'The cluster has no Linux nodes', 'Add a node pool of Linux nodes');
  const {kubeTarget} = context.name;
  const selected = nodes.filter((node) => isSelected(spec, node));
  const tolerated = selected.filter((node) => untolerated(spec, node).length === 0);
  const available = tolerated.filter(isAvailable);
  const selector = selectorOf(spec).map(([key, value]) => `${key}=${value}`);
  const selectorText = selector.length === 0 ? '' : ` with ${selector.join(', ')}`;
  const total = count(nodes.length, 'Linux node');
  if (available.length > 0) {
    const affinity = getAt(spec, [
      'affinity',
      'nodeAffinity',
      'requiredDuringSchedulingIgnoredDuringExecution',
    ]);
    const found = `${available.length} of ${total}${selectorText}: ${few(available.map(({name}) => name))}`;
    return affinity
      ? skip(`Cannot evaluate the node affinity of ${owner}; without it ${found}`)
      : pass(found);
  }
  if (selected.length === 0) {
    const message = `${owner} requires nodes with ${selector.join(', ')}, but none of ${total} matches`;
    const labels = selectorOf(spec).flatMap(([key]) =>
      nodes.flatMap((node) =>
        node.labels[key] === undefined ? [] : [`${key}=${node.labels[key]}`],
      ),
    );
    const flag = `${FLAG[role]}node-selector`;
    const remedy =
      labels.length > 0
        ? `Use an existing label (${few([...new Set(labels)])}) with ${flag}`
        : `Label a node: ${kubectlCommand(kubeTarget, 'label', 'node', (nodes[0] as NodeCapacity).name, ...selector)}; or remove ${flag}`;
    return noNodeFits(context, message, remedy);
  }
  if (tolerated.length === 0) {
    const untoleratedTaints = selected.flatMap((node) => untolerated(spec, node));
    const taints = [
      ...new Set(
        untoleratedTaints.map(
          ({key, value, effect}) => `${key}${value === undefined ? '' : `=${value}`}:${effect}`,
        ),
      ),
    ];
    return noNodeFits(
      context,
      `${owner} does not tolerate the taints of ${few(selected.map(({name}) => name))}: ${taints.join(', ')}`,
      `Add ${taints.map((taint) => `${FLAG[role]}toleration ${taint}`).join(' or ')} if the agent may use these nodes`,
    );
  }
  const closed = tolerated.map(
    ({name, isSchedulable}) => `${name} is ${isSchedulable ? 'not ready' : 'cordoned'}`,
  );
  const [first] = tolerated as [NodeCapacity];
  return noNodeFits(
    context,
    `No node${selectorText} is available for ${owner}: ${few(closed)}`,
    first.isSchedulable
      ? `Show the reason: ${kubectlCommand(kubeTarget, 'describe', 'node', first.name)}`
      : `Allow scheduling: ${kubectlCommand(kubeTarget, 'uncordon', first.name)}`,
  );
}

export const runNodes = placement('run-nodes', 'runs', 'Nodes for runs');
export const controllerNodes = placement(
  'controller-nodes',
  'controller',
  'Nodes for the controller',
);

/** Other resources have no option. */
const RESOURCES = ['cpu', 'memory'];

const amountIn = (amounts: Amounts, resource: string): bigint => amounts[resource] ?? 0n;

const allocatableOf = ({allocatable}: NodeCapacity): Amounts => amountsOf(allocatable);

const spell = (amounts: Amounts): string => {
  const mebibytes = (amountIn(amounts, 'memory') + MEBIBYTE - 1n) / MEBIBYTE;
  return `${canonicalQuantity(`${amountIn(amounts, 'cpu')}m`)} CPU and ${canonicalQuantity(`${mebibytes}Mi`)} memory`;
};

/** What one run requests: its pod, or with agent-k8s the pod that the agent creates from the settings. */
const requestOfRun = ({target, get}: PreflightContext, pods: readonly ChartPods[]): Amounts =>
  target.chart === 'agent-k8s'
    ? amountsOf({cpu: get(runCpuRequest), memory: get(runMemoryRequest)})
    : pods
        .filter(({role}) => role === 'runs')
        .map(({spec}) => podTotal(admitted(spec, [])).requests)
        .reduce(maximum, {});

/** The result that follows from the request of one run and the nodes that take runs now. */
const withAllocatable = (
  context: PreflightContext,
  conclude: (request: Amounts, nodes: readonly NodeCapacity[]) => CheckResult,
): CheckResult =>
  ifKnown(chartPods(context), 'render the chart', (pods) =>
    ifKnown(nodesForRuns(context), 'list nodes', (all) => {
      const nodes = all.filter(isAvailable);
      if (nodes.length === 0) return skip(NO_NODE_FOR_RUNS);
      const areReported = nodes.every((node) =>
        RESOURCES.every((resource) => allocatableOf(node)[resource] !== undefined),
      );
      if (!areReported) return skip('Some nodes do not report their allocatable resources');
      return conclude(requestOfRun(context, pods), nodes);
    }),
  );

const REMEDY = 'Reduce --run-cpu-request and --run-memory-request, or add larger nodes';
const REF =
  'https://kubernetes.io/docs/concepts/scheduling-eviction/kube-scheduler/; requests of other pods are not counted';

export const capacityForRun = check('Nodes', 'run-capacity', 'Node capacity for one run', {
  ref: REF,
  run: (context) =>
    withAllocatable(context, (request, nodes) => {
      const able = nodes.filter((node) =>
        RESOURCES.every((each) => amountIn(request, each) <= amountIn(allocatableOf(node), each)),
      );
      if (able.length > 0)
        return pass(
          `A run requests ${spell(request)}; ${able.length} of ${count(nodes.length, 'node')} for runs ${able.length === 1 ? 'is' : 'are'} large enough`,
        );
      const largest = nodes.map(allocatableOf).reduce(maximum);
      return noNodeFits(
        context,
        `A run requests ${spell(request)}, but no node for runs has more than ${spell(largest)}`,
        REMEDY,
      );
    }),
});

/** How many runs fit on one node if nothing else runs there. */
function holds(request: Amounts, node: NodeCapacity): bigint {
  const room = {pods: 110_000n, ...allocatableOf(node)};
  return ['pods', ...RESOURCES]
    .map((resource) => ({
      room: amountIn(room, resource),
      each: amountIn({...request, pods: MILLI_PER_UNIT}, resource),
    }))
    .flatMap(({room, each}) => (each === 0n ? [] : [room / each]))
    .reduce((one, other) => (one < other ? one : other));
}

/** Only a chart with a key for it limits concurrent runs. */
export const fewerRuns = ({target}: PreflightContext, runs: bigint): string =>
  hasKey(target, concurrency)
    ? `Use --concurrency ${runs}`
    : 'Assign fewer workspaces to the agent pool';

export const capacityForAllRuns = check(
  'Nodes',
  'total-capacity',
  'Node capacity for all concurrent runs',
  {
    ref: REF,
    run: (context) => {
      const runs = context.get(concurrency) ?? 1;
      if (runs < 2) return undefined;
      return withAllocatable(context, (request, nodes) => {
        const room = nodes
          .map((node) => holds(request, node))
          .reduce((sum, each) => sum + each, 0n);
        const text = `${count(nodes.length, 'node')} for runs ${nodes.length === 1 ? 'has' : 'have'} room for ${count(room, 'concurrent run')} with ${spell(request)}`;
        // The check run-room reports it.
        if (room === 0n) return skip('No node is large enough for a single run');
        if (room >= BigInt(runs)) return pass(`${text}; required: ${runs}`);
        return noNodeFits(
          context,
          `${text}; required: ${runs}`,
          `${fewerRuns(context, room)}, add nodes, or reduce --run-cpu-request and --run-memory-request`,
        );
      });
    },
  },
);
