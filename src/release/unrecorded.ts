import {scalrChart} from '../charts/define.ts';
import {commandLine, ownCommand, type ReleaseName} from '../ground/command-line.ts';
import {ExitCode, ExpectedError} from '../ground/errors.ts';
import {deleteByHand} from '../kubernetes/kubectl.ts';
import {gitOpsOwner} from '../kubernetes/object-owner.ts';
import type {KubernetesObject} from '../kubernetes/objects.ts';
import {kindAndName} from '../kubernetes/objects.ts';

/** A workload of a Scalr chart without a Helm release: applied by a GitOps tool or by kubectl, or its record was deleted. */
export interface UnrecordedAgent {
  /** Deployment scalr-agent */
  workload: string;
  /** Value of the label that Helm calls the release; a GitOps tool may set it. */
  release: string;
  namespace: string;
  /** agent-local-0.6.5 */
  chart: string;
  /** What manages it instead: Argo CD application agents */
  manager: string | undefined;
  /** Helm installed it. */
  isOfHelm: boolean;
}

/** Agents among the objects of a cluster or namespace that belong to none of these releases. Pure. */
export const unrecordedAgents = (
  objects: readonly KubernetesObject[],
  releases: readonly {name: string; namespace: string}[],
): UnrecordedAgent[] =>
  objects.flatMap((object) => {
    const {kind = '', metadata} = object;
    const {labels = {}, annotations = {}, namespace = ''} = metadata;
    const chart = labels['helm.sh/chart'] ?? '';
    const ofHelm = annotations['meta.helm.sh/release-name'];
    const release = ofHelm ?? labels['app.kubernetes.io/instance'] ?? '';
    const isRecorded = releases.some((each) => each.name === release && each.namespace === namespace);
    const isAgent = ['Deployment', 'DaemonSet'].includes(kind) && scalrChart(chart) !== undefined;
    if (!isAgent || isRecorded || metadata.deletionTimestamp !== undefined) return [];
    return [{workload: kindAndName(object), release, namespace, chart, manager: gitOpsOwner(object), isOfHelm: ofHelm !== undefined}];
  });

/** Follows the name of the agent: has no Helm release (Argo CD application agents). Pure. */
export const reasonOf = ({manager, isOfHelm}: UnrecordedAgent): string =>
  manager ?? (isOfHelm ? 'its Helm record was deleted' : 'applied without Helm');

/** How to change an agent that Helm does not know. Pure. */
function howToChange({workload, manager, isOfHelm}: UnrecordedAgent, name: ReleaseName): string[] {
  if (manager !== undefined) return [`Change or remove the agent in the ${manager}`];
  const install = ownCommand('install', name);
  if (isOfHelm) return [`Install it again with the same settings, so that Helm knows its objects: ${install}`];
  const [kind = '', object = ''] = workload.split(' ');
  return [
    'Change the agent with the program that applied it',
    `Or delete it when it executes no run, then install it with Helm: ${commandLine(deleteByHand(name.kubeTarget, kind, object))}`,
  ];
}

/** A command requires Helm's record of this agent. Pure. */
export const notRecorded = (name: ReleaseName, agent: UnrecordedAgent): ExpectedError =>
  new ExpectedError(`${agent.workload} in namespace ${agent.namespace} has no Helm release (${reasonOf(agent)}).`, {
    code: 'RELEASE_NOT_FOUND',
    exit: ExitCode.usage,
    suggestions: [...howToChange(agent, name), `Show its state: ${ownCommand('status', name)}`],
  });
