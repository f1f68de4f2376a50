import type {NodeCapacity} from '../../../cluster/facts/capacity.ts';
import {mayRun} from '../../../cluster/pod-specs.ts';
import {type Check, pass, skip, warn} from '../../check.ts';
import {count, few, ifKnown} from '../outcomes.ts';
import {noNodeWillDo} from './growth.ts';
import {NO_NODE_FOR_RUNS, nodesForRuns, podsOf} from './pods.ts';

const NODES = 'Nodes are';
const PLACE = 'Where pods go is';

const ARCHITECTURE = 'kubernetes.io/arch';
const namesOf = (nodes: readonly NodeCapacity[]): string => few(nodes.map(({name, architecture}) => `${name} (${architecture})`));

export const architecture: Check = {
  id: 'node-architecture',
  group: 'Nodes',
  title: 'the nodes that take runs can execute the images',
  ref: 'no document of upstream says for which architectures the images are made; amd64 is what they are used on',
  test: (situation) =>
    ifKnown(nodesForRuns(situation), NODES, (nodes) => {
      if (nodes.length === 0) return skip(NO_NODE_FOR_RUNS);
      const others = nodes.filter((node) => node.architecture !== 'amd64');
      if (others.length === 0) return pass(`${count(nodes.length, 'node')}, amd64`);
      const isMixed = others.length < nodes.length;
      const remedy = isMixed
        ? `Keep runs on amd64: --node-selector ${ARCHITECTURE}=amd64`
        : 'See what the images are made for: docker manifest inspect IMAGE; or add amd64 nodes';
      const unlikely = others.filter((node) => node.architecture !== 'arm64');
      if (unlikely.length === 0)
        return skip(`Runs may land on ${namesOf(others)}; whether the images are made for arm64 too, upstream does not say`, remedy);
      const message = `Runs may land on ${namesOf(unlikely)}, for which nobody says that there are images`;
      return isMixed ? warn(message, remedy) : noNodeWillDo(situation, message, remedy);
    }),
};

const LINUX = 'kubernetes.io/os=linux';

export const windowsNodes: Check = {
  id: 'windows-nodes',
  group: 'Nodes',
  title: 'no pod lands on a Windows node',
  ref: 'https://kubernetes.io/docs/concepts/windows/user-guide/#ensuring-os-specific-workloads-land-on-the-appropriate-container-host',
  test: (situation) =>
    ifKnown(podsOf(situation), PLACE, (pods) =>
      ifKnown(situation.facts.nodes, NODES, (nodes) => {
        const windows = nodes.filter(({os}) => os === 'windows');
        if (windows.length === 0) return pass('there is none');
        const strays = pods.filter(({spec}) => windows.some((node) => mayRun(spec, node)));
        if (strays.length === 0) return pass(`pods keep away from ${few(windows.map(({name}) => name))}`);
        const flags = [...new Set(strays.map(({role}) => (role === 'controller' ? '--controller-node-selector' : '--node-selector')))];
        return warn(
          `${few(strays.map(({of}) => of))} may land on ${few(windows.map(({name}) => name))}, which runs Windows and no Linux image`,
          `Add ${flags.map((flag) => `${flag} ${LINUX}`).join(' and ')}`,
        );
      }),
    ),
};
