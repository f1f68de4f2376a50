import {hasKey} from '../../../charts/support.ts';
import type {NodeCapacity} from '../../../cluster/platform/capacity.ts';
import {changing} from '../../../findings/finding.ts';
import {count} from '../../../ground/text.ts';
import {canonicalQuantity, MEBIBYTE} from '../../../settings/kinds/quantities.ts';
import {concurrency} from '../../../settings/purpose.ts';
import {runSize} from '../../../settings/size.ts';
import {admitted, podTotal} from '../facts/admitted.ts';
import {type Amounts, amountsOf, MILLI_PER_UNIT, maximum} from '../facts/amounts.ts';
import {
  type ChartPods,
  chartPods,
  isAvailable,
  NO_NODE_FOR_RUNS,
  nodesForRuns,
} from '../facts/chart-pods.ts';
import type {PreflightContext} from '../facts/context.ts';
import {maxRuns} from '../facts/pod-groups.ts';
import {noNodeFits} from './autoscalers.ts';
import {check} from './check.ts';
import {type CheckResult, ifKnown, notChecked, pass} from './check-result.ts';

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
    ? amountsOf({cpu: get(runSize.cpuRequest), memory: get(runSize.memoryRequest)})
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
      if (nodes.length === 0) return notChecked(NO_NODE_FOR_RUNS);
      const areReported = nodes.every((node) =>
        RESOURCES.every((resource) => allocatableOf(node)[resource] !== undefined),
      );
      if (!areReported) return notChecked('Some nodes do not report their allocatable resources');
      return conclude(requestOfRun(context, pods), nodes);
    }),
  );

const REMEDY = changing(
  runSize.cpuRequest,
  'Reduce --run-cpu-request and --run-memory-request, or add larger nodes',
);
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
      const runs = maxRuns(context);
      if (runs < 2) return undefined;
      return withAllocatable(context, (request, nodes) => {
        const room = nodes
          .map((node) => holds(request, node))
          .reduce((sum, each) => sum + each, 0n);
        const text = `${count(nodes.length, 'node')} for runs ${nodes.length === 1 ? 'has' : 'have'} room for ${count(room, 'concurrent run')} with ${spell(request)}`;
        // The check run-room reports it.
        if (room === 0n) return notChecked('No node is large enough for a single run');
        if (room >= BigInt(runs)) return pass(`${text}; required: ${runs}`);
        return noNodeFits(
          context,
          `${text}; required: ${runs}`,
          changing(
            runSize.cpuRequest,
            `${fewerRuns(context, room)}, add nodes, or reduce --run-cpu-request and --run-memory-request`,
          ),
        );
      });
    },
  },
);
