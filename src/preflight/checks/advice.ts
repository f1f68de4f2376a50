import {isBelow} from '../../charts/charts.ts';
import {knownValue} from '../../ground/fact.ts';
import {count, few} from '../../ground/text.ts';
import {getAt, isMap} from '../../ground/tree.ts';
import type {ScalrRelease} from '../../platform/cluster-facts.ts';
import {agentImage} from '../../settings/pods.ts';
import {purpose} from '../../settings/purpose.ts';
import {readValues} from '../../values/read-values.ts';
import {type Check, check, ifKnown, pass, skip, warn} from '../check.ts';
import {chartPods, isLinux} from './available-nodes.ts';
import {isThisRelease} from './object-owners.ts';

const OLDEST_AGENT = '0.45.0';

const agentVersion = check('Release', 'agent-version', 'Agent version', {
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

const workerNodes = check('Nodes', 'worker-nodes', 'Dedicated nodes for workers', {
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

/** Releases with unknown values are those of run agents, as most are. */
const isVcsRelease = ({chart, version, values}: ScalrRelease): boolean =>
  readValues(knownValue(values) ?? {}, {chart, version}).settings.get(purpose.id) === 'vcs';

const vcsSeparate = check('Release', 'vcs-separate', 'Separate clusters for VCS and run agents', {
  ref: 'https://docs.scalr.io/docs/agent-pools',
  run: (context) => {
    const isForVcs = context.get(purpose) === 'vcs';
    // Most clusters have no VCS agents, so nothing is said about them without a reason.
    if (!isForVcs && !knownValue(context.facts.releases)?.releases.some((each) => !isThisRelease(each, context) && isVcsRelease(each)))
      return undefined;
    return ifKnown(context.facts.releases, 'list other agent releases', ({scope, releases}) => {
      const others = releases
        .filter((each) => !isThisRelease(each, context) && isVcsRelease(each) !== isForVcs)
        .map(({name, namespace, chart}) => `${namespace}/${name} (${chart})`);
      if (others.length > 0)
        return warn(
          `VCS agents must not share infrastructure with run agents. Releases of ${isForVcs ? 'run' : 'VCS'} agents in this cluster: ${few(others)}`,
          'Install VCS agents in another cluster, or on dedicated nodes: --node-selector KEY=VALUE',
        );
      return scope === 'namespace'
        ? skip('Cannot list agent releases of other namespaces with your user')
        : pass(`No release of ${isForVcs ? 'run' : 'VCS'} agents in this cluster`);
    });
  },
});

/** Recommendations of the Scalr docs; an install works without them. */
export const adviceChecks: readonly Check[] = [agentVersion, vcsSeparate, workerNodes];
