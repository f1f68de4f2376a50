import type {NodeCapacity} from '../../../cluster/platform/capacity.ts';
import {isKnown} from '../../../ground/fact.ts';
import {changing} from '../../../ground/finding.ts';
import {nodeSelector} from '../../../settings/placement.ts';
import {chart} from '../../../settings/release.ts';
import {withValue} from '../../../settings/spelling.ts';
import {nodesForRuns} from '../facts/chart-pods.ts';
import {check} from './check.ts';
import {type CheckResult, fail, ifKnown, pass, unreadable, warn} from './check-result.ts';

const carries = ({labels}: NodeCapacity, [key, value]: readonly [string, string]): boolean =>
  labels[key] === value;

/** OpenShift adds the node selector of a project to its pods, and so does the admission plugin PodNodeSelector. */
export const projectNodes = check('Nodes', 'project-nodes', 'Nodes of the project', {
  ref: 'https://docs.openshift.com/container-platform/latest/nodes/scheduling/nodes-scheduler-node-selectors.html',
  run({readings: {namespaceObject}, facts, name}): CheckResult {
    if (!isKnown(namespaceObject)) return unreadable(namespaceObject, 'read the namespace');
    const {annotations = {}} = namespaceObject.value?.metadata ?? {};
    const key = PROJECT_SELECTORS.find((each) => annotations[each]);
    if (key === undefined) return pass('The namespace has no node selector of its own');
    const pairs = (annotations[key] as string).split(',').map((each): [string, string] => {
      const [label = '', value = ''] = each.split('=');
      return [label.trim(), value.trim()];
    });
    const text = `${key}=${annotations[key]}`;
    return ifKnown(facts.nodes, 'list nodes', (nodes) =>
      nodes.some((node) => pairs.every((pair) => carries(node, pair)))
        ? pass(`Nodes match the node selector of the namespace, ${text}`)
        : warn(
            `No node matches the node selector of namespace ${name.kubeTarget.namespace}, ${text}, which is added to every pod`,
            'Label nodes, or correct the annotation of the namespace',
          ),
    );
  },
});

const PROJECT_SELECTORS = [
  'openshift.io/node-selector',
  'scheduler.alpha.kubernetes.io/node-selector',
];

/** Nodes that the provider takes away, and Fargate, which runs no DaemonSets and mounts no node directories. */
export const lastingNodes = check('Nodes', 'lasting-nodes', 'Nodes that last', {
  ref: 'https://docs.scalr.io/docs/self-hosted-agents-pools',
  run: (context) =>
    ifKnown(nodesForRuns(context), 'list nodes', (nodes): CheckResult => {
      const {target} = context;
      const areAll = (marks: typeof SPOT): boolean =>
        nodes.length > 0 && nodes.every((node) => marks.some((mark) => carries(node, mark)));
      if (target.chart === 'agent-k8s' && areAll(FARGATE))
        return fail(
          'All nodes for runs are Fargate nodes, which run no DaemonSets and mount no node directories',
          changing`Use ${withValue(chart, 'agent-local')} or ${withValue(chart, 'agent-job')}`,
        );
      if (target.chart === 'agent-local' && areAll(SPOT))
        return warn(
          'All nodes for runs are spot nodes. Runs inside the agent end when a node is taken away',
          changing`Select nodes that stay with ${nodeSelector}`,
        );
      return pass('The nodes for runs are neither Fargate nor only spot nodes');
    }),
});

const FARGATE: readonly (readonly [string, string])[] = [
  ['eks.amazonaws.com/compute-type', 'fargate'],
];
const SPOT: typeof FARGATE = [
  ['eks.amazonaws.com/capacityType', 'SPOT'],
  ['karpenter.sh/capacity-type', 'spot'],
  ['cloud.google.com/gke-spot', 'true'],
  ['cloud.google.com/gke-preemptible', 'true'],
  ['kubernetes.azure.com/scalesetpriority', 'spot'],
];
