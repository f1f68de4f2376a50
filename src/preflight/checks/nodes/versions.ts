import {follow, known} from '../../../cluster/facts/fact.ts';
import type {NodeObject} from '../../../cluster/facts/readings.ts';
import {type Check, fail, pass, warn} from '../../check.ts';
import {floorOf, isBelow} from '../kubernetes-floor.ts';
import {count, few, ifKnown} from '../outcomes.ts';
import {nodesForRuns} from './pods.ts';

const kubeletOf = ({status}: NodeObject): string => status?.nodeInfo?.kubeletVersion ?? '';

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
          all.filter((node) => names.has(node.metadata.name) && kubeletOf(node) !== ''),
          source,
        );
      }),
    );
    return ifKnown(nodes, 'The nodes that take runs are', (found) => {
      if (found.length === 0) return pass('no node takes runs as it is');
      const old = found.filter((node) => isBelow(kubeletOf(node), floor.version));
      if (old.length === 0) return pass(`${count(found.length, 'node')}, ${few([...new Set(found.map(kubeletOf))])}`);
      const names = few(old.map((node) => `${node.metadata.name} (${kubeletOf(node)})`));
      const message = `Runs may land on ${old.length} of ${count(found.length, 'node')} older than ${floor.version}: ${names}. ${target.chart} ${target.version} needs it: ${floor.because}`;
      const remedy = `Upgrade these nodes to ${floor.version}${old.length < found.length ? ', or keep runs away from them with --node-selector' : ''}`;
      return floor.isHard ? fail(message, remedy) : warn(message, remedy);
    });
  },
};
