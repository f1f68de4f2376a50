import {getAt, isMap} from '../../charts/tree.ts';
import {isBelow} from '../../charts/version-status.ts';
import {agentImage} from '../../settings/pods.ts';
import {purpose} from '../../settings/purpose.ts';
import {type Check, count, few, ifKnown, pass, skip, warn} from '../check.ts';
import {isLinux, podsOf} from './available-nodes.ts';
import {isOwn} from './object-owners.ts';

const OLDEST_AGENT = '0.45.0';

const agentVersion: Check = {
  id: 'agent-version',
  group: 'Release',
  title: 'the agent image is new enough for the chart',
  ref: 'agent-local, README, "Prerequisites": Scalr Agent 0.45.0 or newer',
  run: ({get}) => {
    const image = get(agentImage);
    // Without a tag it is the one of the chart.
    if (image === undefined || !/:[^/]+$|@/.test(image)) return undefined;
    const version = /:v?(\d+\.\d+\.\d+)(?![^@])/.exec(image)?.[1];
    if (version === undefined) return skip(`The agent version of ${image} is unknown: its tag is not a version`);
    return isBelow(version, OLDEST_AGENT)
      ? warn(
          `${image} is older than ${OLDEST_AGENT}, the oldest agent that the charts support`,
          `Use --agent-image with a newer tag, or leave it out`,
        )
      : pass(`agent ${version}`);
  },
};

const workerNodes: Check = {
  id: 'worker-nodes',
  group: 'Nodes',
  title: 'agent-k8s has nodes of its own',
  ref: 'agent-k8s, README, "DaemonSet"',
  run: (context) => {
    if (context.target.chart !== 'agent-k8s') return undefined;
    return ifKnown(podsOf(context), 'Where workers go is', (pods) =>
      ifKnown(context.facts.nodes, 'Nodes are', (nodes) => {
        const isLimited = pods
          .filter(({role}) => role === 'runs')
          .every(({spec}) => isSet(getAt(spec, ['nodeSelector'])) || isSet(getAt(spec, ['affinity'])));
        if (isLimited) return pass('workers have a node selector');
        const linux = nodes.filter(isLinux);
        if (linux.length < 2) return pass(`${count(linux.length, 'node')}`);
        return warn(
          `Workers run on each of the ${linux.length} Linux nodes that they tolerate, idle or not, and so do runs`,
          'Use a node pool for the agent: --node-selector KEY=VALUE',
        );
      }),
    );
  },
};

const isSet = (tree: unknown): boolean => isMap(tree) && Object.keys(tree).length > 0;

const vcsSeparate: Check = {
  id: 'vcs-separate',
  group: 'Release',
  title: 'VCS agents and run agents do not share a cluster',
  ref: 'https://docs.scalr.io/docs/agent-pools',
  run: (context) => {
    if (context.get(purpose) !== 'vcs') return undefined;
    return ifKnown(context.facts.releases, 'Other agent releases are', ({scope, releases}) => {
      const others = releases.filter((each) => !isOwn(each, context)).map(({name, namespace, chart}) => `${namespace}/${name} (${chart})`);
      if (others.length > 0)
        return warn(
          `This cluster has other agent releases, and run agents must not share infrastructure with VCS agents: ${few(others)}`,
          'Install VCS agents in another cluster, or on nodes of their own: --node-selector KEY=VALUE',
        );
      return scope === 'namespace'
        ? skip('Agent releases of other namespaces are unknown: this account cannot list them')
        : pass('no other agent release in this cluster');
    });
  },
};

/** Recommendations of the documents of Scalr that an install works without. */
export const adviceChecks: readonly Check[] = [agentVersion, vcsSeparate, workerNodes];
