import {floorOf, isBelow, isVersion} from '../../../charts/charts.ts';
import {mayRun} from '../../../cluster/kubernetes/scheduling.ts';
import {nodeProvisioner} from '../../../cluster/platform/autoscalers.ts';
import type {NodeCapacity} from '../../../cluster/platform/capacity.ts';
import type {NodeObject} from '../../../cluster/platform/readings.ts';
import {kubectlCommand} from '../../../ground/command-line.ts';
import {follow, known} from '../../../ground/fact.ts';
import {changing, joined} from '../../../ground/finding.ts';
import {count, few} from '../../../ground/text.ts';
import {getAt, isMap} from '../../../ground/tree.ts';
import {settingName} from '../../../settings/define.ts';
import {acquireTimeout, schedulingTimeout} from '../../../settings/lifecycle.ts';
import {nodeSelector} from '../../../settings/placement.ts';
import {chart} from '../../../settings/release.ts';
import {withValue} from '../../../settings/spelling.ts';
import {chartPods, NO_NODE_FOR_RUNS, nodesForRuns} from '../facts/chart-pods.ts';
import {capacityForAllRuns, capacityForRun} from './capacity.ts';
import {check} from './check.ts';
import {fail, ifKnown, notChecked, pass, warn} from './check-result.ts';
import {shortNames} from './image-names.ts';
import {noNodeFits} from './no-node-fits.ts';
import {controllerNodes, NODE_SELECTOR, runNodes} from './placement.ts';
import {lastingNodes, projectNodes} from './special-nodes.ts';

const NODES = 'list nodes';

const readyNodes = check('Nodes', 'ready-nodes', 'Node readiness', {
  ref: 'https://kubernetes.io/docs/reference/node/node-status/#condition',
  run: (context) =>
    ifKnown(context.facts.nodes, NODES, (nodes) => {
      const broken = nodes.filter(({isReady}) => !isReady).map(({name}) => name);
      if (nodes.length === 0)
        return noNodeFits(context, 'The cluster has no nodes', 'Add a node pool');
      if (broken.length === 0) return pass(`${count(nodes.length, 'node')} ready`);
      return warn(
        `${broken.length} of ${count(nodes.length, 'node')} ${broken.length === 1 ? 'is' : 'are'} not ready: ${few(broken)}`,
        `Show the reason: ${kubectlCommand(context.name.kubeTarget, 'describe', 'node', broken[0] as string)}`,
      );
    }),
});

const kubeletOf = ({status}: NodeObject): string => status?.nodeInfo?.kubeletVersion ?? '';

/** A label that only the newer nodes have; that of their node pool where possible. */
function labelOfNewer(all: readonly NodeObject[], old: readonly NodeObject[]): string | undefined {
  const labelsOf = ({metadata}: NodeObject): Readonly<Record<string, string>> =>
    metadata.labels ?? {};
  const [first, ...others] = all.filter((node) => !old.includes(node)).map(labelsOf) as [
    Readonly<Record<string, string>>,
  ];
  const found = Object.entries(first)
    .filter(
      ([key, value]) =>
        others.every((labels) => labels[key] === value) &&
        old.every((node) => labelsOf(node)[key] !== value),
    )
    .map(([key, value]) => `${key}=${value}`);
  return found.find((label) => /pool|nodegroup/.test(label)) ?? found[0];
}

const nodeVersions = check('Nodes', 'node-versions', 'Kubelet version of nodes for runs', {
  ref: 'agent-job 0.5.69, README: control plane and nodes',
  run: (context) => {
    const {target, readings} = context;
    const floor = floorOf(target);
    if (floor === undefined) return undefined;
    const nodes = follow(nodesForRuns(context), (forRuns, source) =>
      follow(readings.nodes, (all) => {
        const names = new Set(forRuns.map(({name}) => name));
        const found = all.filter(
          (node) => names.has(node.metadata.name) && isVersion(kubeletOf(node)),
        );
        return known(found, source);
      }),
    );
    return ifKnown(nodes, 'list the nodes for runs', (found) => {
      if (found.length === 0) return notChecked(NO_NODE_FOR_RUNS);
      const old = found.filter((node) => isBelow(kubeletOf(node), floor.version));
      if (old.length === 0)
        return pass(`${count(found.length, 'node')}, ${few([...new Set(found.map(kubeletOf))])}`);
      const names = few(old.map((node) => `${node.metadata.name} (${kubeletOf(node)})`));
      const message = `${old.length} of ${count(found.length, 'node')} for runs ${old.length === 1 ? 'is' : 'are'} older than ${floor.version}: ${names}. ${target.chart} ${target.version} requires it: ${floor.because}`;
      const ways = [
        {text: `Upgrade these nodes to ${floor.version}`},
        ...(old.length < found.length
          ? [
              changing`exclude them with ${withValue(nodeSelector, labelOfNewer(found, old) ?? 'KEY=VALUE')}`,
            ]
          : []),
        ...(floor.isHard && target.chart !== 'agent-local'
          ? [changing`use ${withValue(chart, 'agent-local')}`]
          : []),
      ];
      const remedy = joined(ways, ', or ');
      return floor.isHard ? fail(message, remedy) : warn(message, remedy);
    });
  },
});

const namesOf = (nodes: readonly NodeCapacity[]): string =>
  few(nodes.map(({name, architecture}) => `${name} (${architecture})`));

const architecture = check('Nodes', 'node-architecture', 'Architecture of nodes for runs', {
  ref: 'https://docs.scalr.io/docs/requirements (scalr/agent: amd64 and arm64)',
  run: (context) =>
    ifKnown(nodesForRuns(context), NODES, (nodes) => {
      if (nodes.length === 0) return notChecked(NO_NODE_FOR_RUNS);
      const isDocumented = ({architecture}: NodeCapacity) =>
        architecture === 'amd64' ||
        (architecture === 'arm64' && context.target.chart === 'agent-local');
      const others = nodes.filter((node) => !isDocumented(node));
      if (others.length === 0)
        return pass(
          `${count(nodes.length, 'node')}, ${[...new Set(nodes.map((node) => node.architecture))].join(', ')}`,
        );
      const isMixed = others.length < nodes.length;
      const remedy = isMixed
        ? changing`Limit runs to amd64: ${withValue(nodeSelector, 'kubernetes.io/arch=amd64')}`
        : 'Check which architectures the runner image supports, or add amd64 nodes';
      const unlikely = others.filter((node) => node.architecture !== 'arm64');
      if (unlikely.length === 0)
        return notChecked(
          `Runs can be scheduled on ${namesOf(others)}. Scalr documents arm64 for scalr/agent, but not for the runner image`,
          remedy,
        );
      const message = `Runs can be scheduled on ${namesOf(unlikely)}, for which no images are documented`;
      return isMixed ? warn(message, remedy) : noNodeFits(context, message, remedy);
    }),
});

const LINUX = 'kubernetes.io/os=linux';

const windowsNodes = check('Nodes', 'windows-nodes', 'Pods on Windows nodes', {
  ref: 'https://kubernetes.io/docs/concepts/windows/user-guide/#ensuring-os-specific-workloads-land-on-the-appropriate-container-host',
  run: (context) =>
    ifKnown(chartPods(context), 'render the chart', (pods) =>
      ifKnown(context.facts.nodes, NODES, (nodes) => {
        const windows = nodes.filter(({os}) => os === 'windows');
        if (windows.length === 0) return pass('The cluster has no Windows nodes');
        const strays = pods.filter(({spec}) => windows.some((node) => mayRun(spec, node)));
        if (strays.length === 0)
          return pass(`No pod can be scheduled on ${few(windows.map(({name}) => name))}`);
        const roles = [...new Set(strays.map(({role}) => role))];
        const selectors = roles.map((role) => changing`${withValue(NODE_SELECTOR[role], LINUX)}`);
        return warn(
          `${few(strays.map(({owner}) => owner))} can be scheduled on ${few(windows.map(({name}) => name))}, which cannot run Linux images`,
          changing`Add ${joined(selectors, ' and ')}`,
        );
      }),
    ),
});

/** A new cloud node is often ready after two to five minutes, image pulls included. */
const NEW_NODE_SECONDS = 300;

const runTimeouts = check('Nodes', 'run-timeouts', 'Timeouts of agent-k8s', {
  ref: 'agent-k8s 0.6.5, README: agent.container_task_scheduling_timeout, agent.container_task_acquire_timeout',
  run: (context) => {
    if (context.target.chart !== 'agent-k8s') return undefined;
    const short = [schedulingTimeout, acquireTimeout]
      .map((setting) => ({setting, value: context.get(setting)}))
      .filter(({value}) => value !== undefined && value < NEW_NODE_SECONDS);
    if (short.length === 0) return pass(`At least ${NEW_NODE_SECONDS} s`);
    return ifKnown(nodeProvisioner(context), 'determine whether nodes are added', (provisioner) => {
      if (provisioner === undefined) return pass('No autoscaler found');
      return warn(
        `Runs fail if a new node takes longer than ${short.map(({setting, value}) => `the ${settingName(setting)} (${value} s)`).join(' or ')} to become ready; ${provisioner}`,
        changing`Use ${joined(
          short.map(({setting}) => changing`${withValue(setting, NEW_NODE_SECONDS * 2)}`),
          ' and ',
        )}`,
      );
    });
  },
});

const workerNodes = check('Nodes', 'worker-nodes', 'Dedicated nodes for workers', {
  ref: 'agent-k8s, README, "DaemonSet"',
  run: (context) => {
    if (context.target.chart !== 'agent-k8s') return undefined;
    return ifKnown(chartPods(context), 'render the chart', (pods) =>
      ifKnown(nodesForRuns(context), 'list nodes', (nodes) => {
        const isLimited = pods
          .filter(({role}) => role === 'runs')
          .every(
            ({spec}) => isSet(getAt(spec, ['nodeSelector'])) || isSet(getAt(spec, ['affinity'])),
          );
        if (isLimited) return pass('Workers have a node selector');
        if (nodes.length < 2) return pass(`${count(nodes.length, 'node')}`);
        return warn(
          `Without a node selector, workers and runs use each of the ${nodes.length} Linux nodes that they tolerate`,
          changing`Use a dedicated node pool: ${withValue(nodeSelector, 'KEY=VALUE')}`,
        );
      }),
    );
  },
});

const isSet = (tree: unknown): boolean => isMap(tree) && Object.keys(tree).length > 0;

export const nodeChecks = [
  readyNodes,
  nodeVersions,
  runNodes,
  controllerNodes,
  capacityForRun,
  capacityForAllRuns,
  runTimeouts,
  architecture,
  windowsNodes,
  shortNames,
  workerNodes,
  projectNodes,
  lastingNodes,
];
