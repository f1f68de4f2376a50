import {floorOf, isBelow, isVersion} from '../../../charts/version-status.ts';
import {follow, known} from '../../../cluster/facts/fact.ts';
import type {NodeObject} from '../../../cluster/facts/readings.ts';
import {type Check, fail, pass, skip, warn} from '../../check.ts';
import {count, few, ifKnown} from '../outcomes.ts';
import {NO_NODE_FOR_RUNS, nodesForRuns} from './pods.ts';

const kubeletOf = ({status}: NodeObject): string => status?.nodeInfo?.kubeletVersion ?? '';

/** A label that all the others have and these have not; that of the node pool if it will do. */
function labelOf(all: readonly NodeObject[], old: readonly NodeObject[]): string | undefined {
  const labelsOf = ({metadata}: NodeObject): Readonly<Record<string, string>> => metadata.labels ?? {};
  const [first, ...others] = all.filter((node) => !old.includes(node)).map(labelsOf) as [Readonly<Record<string, string>>];
  const found = Object.entries(first)
    .filter(([key, value]) => others.every((labels) => labels[key] === value) && old.every((node) => labelsOf(node)[key] !== value))
    .map(([key, value]) => `${key}=${value}`);
  return found.find((label) => /pool|nodegroup/.test(label)) ?? found[0];
}

export const nodeVersions: Check = {
  id: 'node-versions',
  group: 'Nodes',
  title: 'the nodes that take runs are new enough for the chart',
  ref: 'agent-job 0.5.69, README: control plane and nodes',
  test: (situation) => {
    const {target, readings} = situation;
    const floor = floorOf(target);
    if (floor === undefined) return undefined;
    const nodes = follow(nodesForRuns(situation), (wanted, source) =>
      follow(readings.nodes, (all) => {
        const names = new Set(wanted.map(({name}) => name));
        return known(
          all.filter((node) => names.has(node.metadata.name) && isVersion(kubeletOf(node))),
          source,
        );
      }),
    );
    return ifKnown(nodes, 'The nodes that take runs are', (found) => {
      if (found.length === 0) return skip(NO_NODE_FOR_RUNS);
      const old = found.filter((node) => isBelow(kubeletOf(node), floor.version));
      if (old.length === 0) return pass(`${count(found.length, 'node')}, ${few([...new Set(found.map(kubeletOf))])}`);
      const names = few(old.map((node) => `${node.metadata.name} (${kubeletOf(node)})`));
      const message = `Runs may land on ${old.length} of ${count(found.length, 'node')} older than ${floor.version}: ${names}. ${target.chart} ${target.version} needs it: ${floor.because}`;
      const remedy = `Upgrade these nodes to ${floor.version}${old.length < found.length ? `, or keep runs away from them: --node-selector ${labelOf(found, old) ?? 'KEY=VALUE'}` : ''}`;
      return floor.isHard ? fail(message, remedy) : warn(message, remedy);
    });
  },
};
