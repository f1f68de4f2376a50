import {getAt, type Tree, type Values} from '../../../charts/tree.ts';
import type {NodeCapacity} from '../../../cluster/facts/capacity.ts';
import {runCpuRequest, runMemoryRequest} from '../../../settings/pods.ts';
import {concurrency} from '../../../settings/purpose.ts';
import {canonicalQuantity, milliOf} from '../../../settings/quantity.ts';
import {type Check, type Outcome, pass, skip} from '../../check.ts';
import type {Situation} from '../../situation.ts';
import {count, ifKnown} from '../outcomes.ts';
import {noNodeWillDo} from './growth.ts';
import {isOpen, NO_NODE_FOR_RUNS, nodesForRuns, podsOf} from './pods.ts';

/** In thousandths of a core and of a byte. */
interface Room {
  cpu: bigint;
  memory: bigint;
}

const NOTHING: Room = {cpu: 0n, memory: 0n};
const plus = (one: Room, other: Room): Room => ({cpu: one.cpu + other.cpu, memory: one.memory + other.memory});
const larger = (one: bigint, other: bigint): bigint => (one > other ? one : other);
const most = (one: Room, other: Room): Room => ({cpu: larger(one.cpu, other.cpu), memory: larger(one.memory, other.memory)});
const fits = (asked: Room, room: Room): boolean => asked.cpu <= room.cpu && asked.memory <= room.memory;
const amount = (quantity: unknown): bigint => milliOf(String(quantity ?? '')) ?? 0n;

const roomOf = ({allocatable}: NodeCapacity): Room => ({cpu: amount(allocatable['cpu']), memory: amount(allocatable['memory'])});

const spell = ({cpu, memory}: Room): string => {
  const mebibytes = (memory / 1000n + 1024n ** 2n - 1n) / 1024n ** 2n;
  return `${canonicalQuantity(`${cpu}m`)} CPU and ${canonicalQuantity(`${mebibytes}Mi`)} memory`;
};

/** Kubernetes takes the limit where there is no request. */
function requestOf(container: Tree): Room {
  const of = (resource: string) =>
    getAt(container, ['resources', 'requests', resource]) ?? getAt(container, ['resources', 'limits', resource]);
  return {cpu: amount(of('cpu')), memory: amount(of('memory'))};
}

/** What the scheduler sets aside for a pod: https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/#resource-sharing-within-containers */
function requestOfPod({containers, initContainers}: Values): Room {
  const inits = Array.isArray(initContainers) ? initContainers : [];
  const isSidecar = (container: Tree): boolean => getAt(container, ['restartPolicy']) === 'Always';
  const all = [...(Array.isArray(containers) ? containers : []), ...inits.filter(isSidecar)];
  return inits
    .filter((each) => !isSidecar(each))
    .map(requestOf)
    .reduce(most, all.map(requestOf).reduce(plus, NOTHING));
}

/** What one run asks for: its pod, or with agent-k8s what the settings say of the pod that the agent makes. */
const requestOfRun = ({target, get}: Situation, specs: readonly Values[]): Room =>
  target.chart === 'agent-k8s'
    ? {cpu: amount(get(runCpuRequest)), memory: amount(get(runMemoryRequest))}
    : specs.map(requestOfPod).reduce(most, NOTHING);

/** The request of one run and the nodes that take runs now. */
const withRoom = (situation: Situation, conclude: (asked: Room, nodes: readonly NodeCapacity[]) => Outcome): Outcome =>
  ifKnown(podsOf(situation), 'What a run asks for is', (pods) =>
    ifKnown(nodesForRuns(situation), 'Nodes are', (all) => {
      const nodes = all.filter(isOpen);
      if (nodes.length === 0) return skip(NO_NODE_FOR_RUNS);
      if (
        nodes.some(({allocatable}) => milliOf(allocatable['cpu'] ?? '') === undefined || milliOf(allocatable['memory'] ?? '') === undefined)
      )
        return skip('Some nodes do not say what they have room for');
      return conclude(
        requestOfRun(
          situation,
          pods.filter(({role}) => role === 'runs').map(({spec}) => spec),
        ),
        nodes,
      );
    }),
  );

const LESS = 'Ask for less with --run-cpu-request and --run-memory-request, or add larger nodes';
const REF = 'https://kubernetes.io/docs/concepts/scheduling-eviction/kube-scheduler/; what other pods use is not counted';

export const roomForRun: Check = {
  id: 'run-room',
  group: 'Nodes',
  title: 'a node is large enough for a run',
  ref: REF,
  test: (situation) =>
    withRoom(situation, (asked, nodes) => {
      const able = nodes.filter((node) => fits(asked, roomOf(node)));
      if (able.length > 0)
        return pass(`a run asks for ${spell(asked)}; ${able.length} of ${count(nodes.length, 'node')} for runs have that`);
      const largest = nodes.map(roomOf).reduce(most);
      return noNodeWillDo(situation, `A run asks for ${spell(asked)}, and no node for runs has more than ${spell(largest)}`, LESS);
    }),
};

const times = (asked: bigint, room: bigint): bigint | undefined => (asked === 0n ? undefined : room / asked);

/** How many of them one node holds, if nothing else runs there. */
function holds(asked: Room, node: NodeCapacity): bigint {
  const room = roomOf(node);
  const limits = [times(asked.cpu, room.cpu), times(asked.memory, room.memory), times(1000n, amount(node.allocatable['pods'] ?? '110'))];
  return limits.filter((each) => each !== undefined).reduce((one, other) => (one < other ? one : other));
}

export const roomForAll: Check = {
  id: 'concurrent-room',
  group: 'Nodes',
  title: 'the nodes are large enough for all runs at the same time',
  ref: REF,
  test: (situation) => {
    const runs = situation.get(concurrency) ?? 1;
    if (runs < 2) return undefined;
    return withRoom(situation, (asked, nodes) => {
      const room = nodes.map((node) => holds(asked, node)).reduce((sum, each) => sum + each, 0n);
      const said = `${count(nodes.length, 'node')} for runs ${nodes.length === 1 ? 'holds' : 'hold'} ${room} of ${spell(asked)} at a time`;
      // Another check says so.
      if (room === 0n) return skip('No node is large enough for a single run');
      if (room >= BigInt(runs)) return pass(`${said}, ${runs} are wanted`);
      return noNodeWillDo(
        situation,
        `${said}, and ${runs} are wanted`,
        `Add nodes, ask for less with --run-cpu-request and --run-memory-request, or use --concurrency ${room}`,
      );
    });
  },
};
