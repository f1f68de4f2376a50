import {commandLine, ownCommand, type ReleaseName} from '../ground/command-line.ts';
import {type ExpectedError, failed} from '../ground/errors.ts';
import {closest, few} from '../ground/text.ts';
import type {ListedRelease} from '../helm/release-record.ts';
import {gitOpsOwner} from '../kubernetes/kinds.ts';
import {deleteByHand} from '../kubernetes/kubectl.ts';
import {type KubernetesObject, kindAndName} from '../kubernetes/objects.ts';
import {OF_HELM, releaseOfAgent} from './gitops-controller.ts';
import type {Inventory} from './inventory.ts';
import type {InventoryReadings} from './inventory-namespace.ts';

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
    const release = releaseOfAgent(object);
    const isRecorded = releases.some((each) => each.name === release && each.namespace === namespace);
    const isAgent = ['Deployment', 'DaemonSet'].includes(kind) && release !== undefined;
    if (!isAgent || isRecorded || metadata.deletionTimestamp !== undefined) return [];
    const [chart, isOfHelm] = [labels['helm.sh/chart'] ?? '', annotations[OF_HELM] !== undefined];
    return [{workload: kindAndName(object), release, namespace, chart, manager: gitOpsOwner(object), isOfHelm}];
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
  failed('RELEASE_NOT_FOUND', `${agent.workload} in namespace ${agent.namespace} has no Helm release (${reasonOf(agent)}).`, [
    ...howToChange(agent, name),
    `Show its state: ${ownCommand('status', name)}`,
  ]);

/** A mistyped name must not look like an uninstalled release. @throws ExpectedError when neither Helm nor any object knows the release */
export function requireKnownRelease(
  name: ReleaseName,
  /** Helm has a record of it, of whatever state and chart. */
  isRecorded: boolean,
  {claims, volumes, secrets, namespace, leftovers}: Inventory,
  readings: Pick<InventoryReadings, 'namespaceObject' | 'objects' | 'releases' | 'releasesHere'>,
): void {
  const isLeft = [claims, volumes, secrets, leftovers].some((each) => each.length > 0) || namespace?.isOurs;
  if (isRecorded || isLeft) return;
  const {release, kubeTarget} = name;
  const unrecorded = unrecordedAgents(readings.objects, []).find((each) => each.release === release);
  if (unrecorded) throw notRecorded(name, unrecorded);
  const isNamespaceMissing = readings.namespaceObject === undefined;
  throw failed(
    'RELEASE_NOT_FOUND',
    isNamespaceMissing
      ? `Release ${release} not found: namespace ${kubeTarget.namespace} does not exist.`
      : `Release ${release} not found in namespace ${kubeTarget.namespace}.`,
    suggestionsFor(name, readings),
  );
}

const MAX_NAMES = 10;

function suggestionsFor(
  {release, kubeTarget}: ReleaseName,
  {releases, releasesHere = []}: Pick<InventoryReadings, 'releases' | 'releasesHere'>,
): string[] {
  const agents = (releases ?? releasesHere).filter(({chart}) => /^agent-(k8s|local|job)-\d/.test(chart));
  const here = agents.filter(({namespace}) => namespace === kubeTarget.namespace);
  const named = closest(
    release,
    agents.map(({name}) => name),
  );
  const wanted = here.length === 1 ? here[0] : [...here, ...agents].find(({name}) => name === named);
  const sorted = [...here, ...agents.filter((each) => !here.includes(each))];
  return [
    sorted.length > 0
      ? `Agent releases found: ${few(sorted.map(nameOf), MAX_NAMES)}`
      : `No agent release found in ${releases ? 'this cluster' : `namespace ${kubeTarget.namespace}`}`,
    ...(wanted
      ? [
          `If you meant ${wanted.namespace}/${wanted.name}: ${ownCommand('uninstall', {release: wanted.name, kubeTarget: {...kubeTarget, namespace: wanted.namespace}})}`,
        ]
      : []),
    ...(releases ? [] : ['This account cannot list releases of other namespaces. Set the namespace with --namespace']),
    'Use another cluster: --kube-context NAME',
  ];
}

const nameOf = ({namespace, name, chart}: ListedRelease): string => `${namespace}/${name} (${chart})`;
