import {getAt, type Values} from '../../../charts/tree.ts';
import type {NodeCapacity} from '../../../cluster/facts/capacity.ts';
import {isSelected, selectorOf, untolerated} from '../../../cluster/pod-specs.ts';
import {type Check, type Outcome, pass, skip, warn} from '../../check.ts';
import type {Situation} from '../../situation.ts';
import {count, few, ifKnown, worstOf} from '../outcomes.ts';
import {noNodeWillDo} from './growth.ts';
import {isLinux, isOpen, NO_NODE_FOR_RUNS, type Pods, podsOf} from './pods.ts';

interface Flags {
  selector: string;
  toleration: string;
}

const FLAGS: Readonly<Record<Pods['role'], Flags>> = {
  runs: {selector: '--node-selector', toleration: '--toleration'},
  controller: {selector: '--controller-node-selector', toleration: '--controller-toleration'},
};

const NODES = 'Nodes are';
const MANIFEST = 'Where pods go is';

const placement = (id: string, role: Pods['role'], who: string): Check => ({
  id,
  group: 'Nodes',
  title: `some node takes ${who}`,
  ref: 'https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/',
  test: (situation) => {
    if (role === 'controller' && situation.target.chart === 'agent-local') return undefined;
    return ifKnown(podsOf(situation), MANIFEST, (pods) =>
      ifKnown(situation.facts.nodes, NODES, (nodes) => {
        // Another check says that there are none.
        if (nodes.length === 0) return skip(NO_NODE_FOR_RUNS);
        const outcomeOf = (wanted: Pods['role']): Outcome | undefined =>
          worstOf(
            pods
              .filter((each) => each.role === wanted)
              .map(({of, spec}) => placeOf(situation, of, spec, nodes.filter(isLinux), FLAGS[wanted])),
          );
        const outcome = outcomeOf(role);
        // What helps runs will help the controller.
        const isTold = role === 'controller' && outcome?.remedy !== undefined && outcome.remedy === outcomeOf('runs')?.remedy;
        return isTold ? skip(NO_NODE_FOR_RUNS) : outcome;
      }),
    );
  },
});

function placeOf(situation: Situation, of: string, spec: Values, nodes: readonly NodeCapacity[], flags: Flags): Outcome {
  if (nodes.length === 0) return noNodeWillDo(situation, 'There are no Linux nodes', 'Add a node pool of Linux nodes');
  const selected = nodes.filter((node) => isSelected(spec, node));
  const tolerated = selected.filter((node) => untolerated(spec, node).length === 0);
  const open = tolerated.filter(isOpen);
  const selector = selectorOf(spec).map(([key, value]) => `${key}=${value}`);
  const asked = selector.length === 0 ? '' : ` with ${selector.join(', ')}`;
  if (open.length > 0) {
    const affinity = getAt(spec, ['affinity', 'nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution']);
    const found = `${open.length} of ${count(nodes.length, 'Linux node')}${asked}: ${few(open.map(({name}) => name))}`;
    return affinity ? skip(`${of} also asks for node affinity, which is not looked at; without it ${found}`) : pass(found);
  }
  if (selected.length === 0) {
    return noNodeWillDo(
      situation,
      `${of} asks for nodes with ${selector.join(', ')}, and none of ${count(nodes.length, 'Linux node')} has that`,
      selectable(spec, nodes, flags),
    );
  }
  if (tolerated.length === 0) {
    const taints = [...new Set(selected.flatMap((node) => untolerated(spec, node)).map(spellTaint))];
    return noNodeWillDo(
      situation,
      `${of} does not tolerate the taints of ${few(selected.map(({name}) => name))}: ${taints.join(', ')}`,
      `Add ${taints.map((taint) => `${flags.toleration} ${taint}`).join(' or ')}, if such nodes are meant for it`,
    );
  }
  const closed = tolerated.map(({name, isSchedulable}) => `${name} is ${isSchedulable ? 'not ready' : 'cordoned'}`);
  const [first] = tolerated as [NodeCapacity];
  return noNodeWillDo(
    situation,
    `No node${asked} takes ${of} now: ${few(closed)}`,
    first.isSchedulable ? `See why: kubectl describe node ${first.name}` : `Let pods back: kubectl uncordon ${first.name}`,
  );
}

const spellTaint = ({key, value, effect}: {key: string; value?: string; effect: string}): string =>
  `${key}${value === undefined ? '' : `=${value}`}:${effect}`;

/** The labels with these keys that there are. */
function selectable(spec: Values, nodes: readonly NodeCapacity[], {selector}: Flags): string {
  const there = selectorOf(spec).flatMap(([key]) =>
    nodes.flatMap(({labels}) => (labels[key] === undefined ? [] : [`${key}=${labels[key]}`])),
  );
  return there.length > 0
    ? `Use a label that there is (${few([...new Set(there)])}) with ${selector}`
    : `Label nodes: kubectl label node NAME ${selectorOf(spec)
        .map(([key, value]) => `${key}=${value}`)
        .join(' ')}; or leave out ${selector}`;
}

export const runNodes = placement('run-nodes', 'runs', 'runs');
export const controllerNodes = placement('controller-nodes', 'controller', 'the controller');

export const readyNodes: Check = {
  id: 'ready-nodes',
  group: 'Nodes',
  title: 'every node is ready',
  ref: 'https://kubernetes.io/docs/reference/node/node-status/#condition',
  test: (situation) =>
    ifKnown(situation.facts.nodes, NODES, (nodes) => {
      const broken = nodes.filter(({isReady}) => !isReady).map(({name}) => name);
      if (nodes.length === 0) return noNodeWillDo(situation, 'There are no nodes', 'Add a node pool');
      if (broken.length === 0) return pass(`all ${count(nodes.length, 'node')}`);
      return warn(
        `${broken.length} of ${count(nodes.length, 'node')} ${broken.length === 1 ? 'is' : 'are'} not ready: ${few(broken)}`,
        `See why: kubectl describe node ${broken[0]}`,
      );
    }),
};
