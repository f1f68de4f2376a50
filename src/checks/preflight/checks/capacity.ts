import {hasKey} from '../../../charts/support.ts';
import type {NodeCapacity} from '../../../cluster/platform/capacity.ts';
import {isKnown} from '../../../ground/fact.ts';
import {changing, type Remedy} from '../../../ground/finding.ts';
import {count} from '../../../ground/text.ts';
import {canonicalQuantity, MEBIBYTE} from '../../../settings/kinds/quantities.ts';
import {concurrency} from '../../../settings/purpose.ts';
import {runSize} from '../../../settings/size.ts';
import {withValue} from '../../../settings/spelling.ts';
import {admitted, podTotal} from '../facts/admitted.ts';
import {type Amounts, amountsOf, maximum} from '../facts/amounts.ts';
import {
  type ChartPods,
  chartPods,
  isAvailable,
  NO_NODE_FOR_RUNS,
  nodesForRuns,
} from '../facts/chart-pods.ts';
import type {PreflightContext} from '../facts/context.ts';
import {requestedByOthers, roomOn} from '../facts/node-load.ts';
import {maxRuns} from '../facts/pod-groups.ts';
import {check} from './check.ts';
import {type CheckResult, ifKnown, notChecked, pass, unreadable, warn} from './check-result.ts';
import {noNodeFits} from './no-node-fits.ts';

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

const REMEDY = changing`Reduce ${runSize.cpuRequest} and ${runSize.memoryRequest}, or add larger nodes`;
const REF = 'https://kubernetes.io/docs/concepts/scheduling-eviction/kube-scheduler/';

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

/** Only a chart with a key for it limits concurrent runs. */
export const fewerRuns = ({target}: PreflightContext, runs: bigint): Remedy =>
  hasKey(target, concurrency)
    ? changing`Use ${withValue(concurrency, runs)}`
    : {text: 'Assign fewer workspaces to the agent pool'};

export const capacityForAllRuns = check(
  'Nodes',
  'total-capacity',
  'Node capacity for all concurrent runs',
  {
    ref: REF,
    run(context) {
      const found = withAllocatable(context, (request, nodes) =>
        totalResult(context, request, nodes),
      );
      // One run is checked above, except for the room beside other pods.
      return maxRuns(context) < 2 && found.verdict === 'passed' ? undefined : found;
    },
  },
);

function totalResult(
  context: PreflightContext,
  request: Amounts,
  nodes: readonly NodeCapacity[],
): CheckResult {
  const runs = BigInt(maxRuns(context));
  const textOf = (room: bigint, beside = ''): string =>
    `${count(nodes.length, 'node')} for runs ${nodes.length === 1 ? 'has' : 'have'} room for ${count(room, 'concurrent run')} with ${spell(request)}${beside}; required: ${runs}`;
  const empty = roomOn(nodes, request, new Map());
  // The check run-capacity reports it.
  if (empty === 0n) return notChecked('No node is large enough for a single run');
  const others = requestedByOthers(context);
  const free = isKnown(others) ? roomOn(nodes, request, others.value) : empty;
  const hasOthers = isKnown(others) && others.value.size > 0;
  const text = textOf(free, hasOthers ? ' beside other pods' : '');
  if (empty < runs) return noNodeFits(context, text, lessOrMore(context, free));
  if (!isKnown(others)) return unreadable(others, 'list the pods of all namespaces');
  if (free >= runs) return pass(text);
  // Where each run has its own agent, an install waits for all of them.
  return hasKey(context.target, concurrency)
    ? noNodeFits(context, text, lessOrMore(context, free))
    : warn(text, lessOrMore(context, free));
}

function lessOrMore(context: PreflightContext, room: bigint): Remedy {
  const smaller = changing`reduce ${runSize.cpuRequest} and ${runSize.memoryRequest}`;
  return room === 0n
    ? changing`Add nodes, or ${smaller}`
    : changing`${fewerRuns(context, room)}, add nodes, or ${smaller}`;
}
