import {isBelow} from '../../charts/version-status.ts';
import {count, few} from '../../ground/text.ts';
import {getAt, isMap} from '../../ground/tree.ts';
import {agentImage} from '../../settings/pods.ts';
import {purpose} from '../../settings/purpose.ts';
import {type Check, check, ifKnown, pass, skip, warn} from '../check.ts';
import {chartPods, isLinux} from './available-nodes.ts';
import {isThisRelease} from './object-owners.ts';

const OLDEST_AGENT = '0.45.0';

const agentVersion = check('Release', 'agent-version', 'Agent version is supported by the chart', {
  ref: 'agent-local, README, "Prerequisites": Scalr Agent 0.45.0 or newer',
  run: ({get}) => {
    const image = get(agentImage);
    // Without a tag it is the one of the chart.
    if (image === undefined || !/:[^/]+$|@/.test(image)) return undefined;
    const version = /:v?(\d+\.\d+\.\d+)(?![^@])/.exec(image)?.[1];
    if (version === undefined) return skip(`Cannot read the agent version of ${image}: its tag is not a version`);
    return isBelow(version, OLDEST_AGENT)
      ? warn(
          `${image} is older than ${OLDEST_AGENT}, the oldest agent that the charts support`,
          'Use --agent-image with a newer tag, or remove it',
        )
      : pass(`Agent ${version}`);
  },
});

const workerNodes = check('Nodes', 'worker-nodes', 'Workers run on dedicated nodes', {
  ref: 'agent-k8s, README, "DaemonSet"',
  run: (context) => {
    if (context.target.chart !== 'agent-k8s') return undefined;
    return ifKnown(chartPods(context), 'render the chart', (pods) =>
      ifKnown(context.facts.nodes, 'list nodes', (nodes) => {
        const isLimited = pods
          .filter(({role}) => role === 'runs')
          .every(({spec}) => isSet(getAt(spec, ['nodeSelector'])) || isSet(getAt(spec, ['affinity'])));
        if (isLimited) return pass('Workers have a node selector');
        const linux = nodes.filter(isLinux);
        if (linux.length < 2) return pass(`${count(linux.length, 'node')}`);
        return warn(
          `Without a node selector, workers and runs use each of the ${linux.length} Linux nodes that they tolerate`,
          'Use a dedicated node pool: --node-selector KEY=VALUE',
        );
      }),
    );
  },
});

const isSet = (tree: unknown): boolean => isMap(tree) && Object.keys(tree).length > 0;

const vcsSeparate = check('Release', 'vcs-separate', 'VCS agents and run agents use separate clusters', {
  ref: 'https://docs.scalr.io/docs/agent-pools',
  run: (context) => {
    if (context.get(purpose) !== 'vcs') return undefined;
    return ifKnown(context.facts.releases, 'list other agent releases', ({scope, releases}) => {
      const others = releases
        .filter((each) => !isThisRelease(each, context))
        .map(({name, namespace, chart}) => `${namespace}/${name} (${chart})`);
      if (others.length > 0)
        return warn(
          `VCS agents must not share infrastructure with run agents. Other agent releases in this cluster: ${few(others)}`,
          'Install VCS agents in another cluster, or on dedicated nodes: --node-selector KEY=VALUE',
        );
      return scope === 'namespace'
        ? skip('Cannot list agent releases of other namespaces with this account')
        : pass('No other agent release in this cluster');
    });
  },
});

/** Recommendations of the Scalr docs; an install works without them. */
export const adviceChecks: readonly Check[] = [agentVersion, vcsSeparate, workerNodes];
