import {floorOf, isBelow, isVersion} from '../../charts/version-status.ts';
import type {NodeCapacity} from '../../cluster/facts/capacity.ts';
import {follow, known} from '../../cluster/facts/fact.ts';
import type {NodeObject} from '../../cluster/facts/readings.ts';
import {mayRun} from '../../cluster/pod-specs.ts';
import {kubectlCommand} from '../../command-line.ts';
import {type Check, count, fail, few, ifKnown, pass, skip, warn} from '../check.ts';
import {NO_NODE_FOR_RUNS, nodesForRuns, noNodeFits, podsOf} from './available-nodes.ts';
import {controllerNodes, FLAG, roomForAll, roomForRun, runNodes} from './scheduling.ts';

const NODES = 'Nodes are';

const readyNodes: Check = {
  id: 'ready-nodes',
  group: 'Nodes',
  title: 'every node is ready',
  ref: 'https://kubernetes.io/docs/reference/node/node-status/#condition',
  run: (context) =>
    ifKnown(context.facts.nodes, NODES, (nodes) => {
      const broken = nodes.filter(({isReady}) => !isReady).map(({name}) => name);
      if (nodes.length === 0) return noNodeFits(context, 'There are no nodes', 'Add a node pool');
      if (broken.length === 0) return pass(`all ${count(nodes.length, 'node')}`);
      return warn(
        `${broken.length} of ${count(nodes.length, 'node')} ${broken.length === 1 ? 'is' : 'are'} not ready: ${few(broken)}`,
        `See why: ${kubectlCommand(context.name.place, 'describe', 'node', broken[0] as string)}`,
      );
    }),
};

const kubeletOf = ({status}: NodeObject): string => status?.nodeInfo?.kubeletVersion ?? '';

/** A label that only the newer nodes have; that of their node pool where possible. */
function labelOfNewer(all: readonly NodeObject[], old: readonly NodeObject[]): string | undefined {
  const labelsOf = ({metadata}: NodeObject): Readonly<Record<string, string>> => metadata.labels ?? {};
  const [first, ...others] = all.filter((node) => !old.includes(node)).map(labelsOf) as [Readonly<Record<string, string>>];
  const found = Object.entries(first)
    .filter(([key, value]) => others.every((labels) => labels[key] === value) && old.every((node) => labelsOf(node)[key] !== value))
    .map(([key, value]) => `${key}=${value}`);
  return found.find((label) => /pool|nodegroup/.test(label)) ?? found[0];
}

const nodeVersions: Check = {
  id: 'node-versions',
  group: 'Nodes',
  title: 'the nodes that take runs are new enough for the chart',
  ref: 'agent-job 0.5.69, README: control plane and nodes',
  run: (context) => {
    const {target, readings} = context;
    const floor = floorOf(target);
    if (floor === undefined) return undefined;
    const nodes = follow(nodesForRuns(context), (forRuns, source) =>
      follow(readings.nodes, (all) => {
        const names = new Set(forRuns.map(({name}) => name));
        const found = all.filter((node) => names.has(node.metadata.name) && isVersion(kubeletOf(node)));
        return known(found, source);
      }),
    );
    return ifKnown(nodes, 'The nodes that take runs are', (found) => {
      if (found.length === 0) return skip(NO_NODE_FOR_RUNS);
      const old = found.filter((node) => isBelow(kubeletOf(node), floor.version));
      if (old.length === 0) return pass(`${count(found.length, 'node')}, ${few([...new Set(found.map(kubeletOf))])}`);
      const names = few(old.map((node) => `${node.metadata.name} (${kubeletOf(node)})`));
      const message = `Runs may land on ${old.length} of ${count(found.length, 'node')} older than ${floor.version}: ${names}. ${target.chart} ${target.version} needs it: ${floor.because}`;
      const remedy = `Upgrade these nodes to ${floor.version}${old.length < found.length ? `, or keep runs away from them: --node-selector ${labelOfNewer(found, old) ?? 'KEY=VALUE'}` : ''}`;
      return floor.isHard ? fail(message, remedy) : warn(message, remedy);
    });
  },
};

const namesOf = (nodes: readonly NodeCapacity[]): string => few(nodes.map(({name, architecture}) => `${name} (${architecture})`));

const architecture: Check = {
  id: 'node-architecture',
  group: 'Nodes',
  title: 'the nodes that take runs can execute the images',
  ref: 'no document of upstream says for which architectures the images are made; amd64 is what they are used on',
  run: (context) =>
    ifKnown(nodesForRuns(context), NODES, (nodes) => {
      if (nodes.length === 0) return skip(NO_NODE_FOR_RUNS);
      const others = nodes.filter((node) => node.architecture !== 'amd64');
      if (others.length === 0) return pass(`${count(nodes.length, 'node')}, amd64`);
      const isMixed = others.length < nodes.length;
      const remedy = isMixed
        ? `Keep runs on amd64: --node-selector kubernetes.io/arch=amd64`
        : 'Check which architectures the images support, or add amd64 nodes';
      const unlikely = others.filter((node) => node.architecture !== 'arm64');
      if (unlikely.length === 0)
        return skip(`Runs may land on ${namesOf(others)}; whether the images are made for arm64 too, upstream does not say`, remedy);
      const message = `Runs may land on ${namesOf(unlikely)}, for which nobody says that there are images`;
      return isMixed ? warn(message, remedy) : noNodeFits(context, message, remedy);
    }),
};

const LINUX = 'kubernetes.io/os=linux';

const windowsNodes: Check = {
  id: 'windows-nodes',
  group: 'Nodes',
  title: 'no pod lands on a Windows node',
  ref: 'https://kubernetes.io/docs/concepts/windows/user-guide/#ensuring-os-specific-workloads-land-on-the-appropriate-container-host',
  run: (context) =>
    ifKnown(podsOf(context), 'Where pods go is', (pods) =>
      ifKnown(context.facts.nodes, NODES, (nodes) => {
        const windows = nodes.filter(({os}) => os === 'windows');
        if (windows.length === 0) return pass('there is none');
        const strays = pods.filter(({spec}) => windows.some((node) => mayRun(spec, node)));
        if (strays.length === 0) return pass(`pods keep away from ${few(windows.map(({name}) => name))}`);
        const flags = [...new Set(strays.map(({role}) => `${FLAG[role]}node-selector ${LINUX}`))];
        return warn(
          `${few(strays.map(({owner}) => owner))} may land on ${few(windows.map(({name}) => name))}, which runs Windows and no Linux image`,
          `Add ${flags.join(' and ')}`,
        );
      }),
    ),
};

/** Whether there are nodes for what the chart runs, and room on them. */
export const nodeChecks = [readyNodes, nodeVersions, runNodes, controllerNodes, roomForRun, roomForAll, architecture, windowsNodes];
