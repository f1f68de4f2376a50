import {scalrChart} from '../../charts/releases/chart-name.ts';

import {callText} from '../../ground/call-arguments.ts';
import {type ClusterTarget, ownCommand, type ReleaseName} from '../../ground/command-line.ts';
import {type ExpectedError, failed, maskSecrets} from '../../ground/errors.ts';
import {oneLine} from '../../ground/one-line.ts';
import {closest} from '../../ground/similar-text.ts';
import {few} from '../../ground/text.ts';
import type {ListedRelease} from '../helm/release-record.ts';
import {errorLine} from '../kubernetes/api-error.ts';
import type {RequestOptions} from '../kubernetes/client.ts';
import {deleteByHand, removeMarks} from '../kubernetes/deletions.ts';
import {
  argoMark,
  type GitOpsMark,
  gitOpsMark,
  gitOpsOwner,
  gitOpsText,
} from '../kubernetes/gitops-marks.ts';
import {collectionPath} from '../kubernetes/kinds.ts';
import {kindAndName, type ObjectRef, refOf, refText} from '../kubernetes/object-refs.ts';
import type {Condition, KubernetesObject} from '../kubernetes/objects.ts';
import {otherOwner} from '../kubernetes/owners.ts';
import {getObject, listAll, type ObjectResult, type Reader} from '../kubernetes/resources.ts';
import type {Inventory} from './inventory.ts';
import type {InventoryReadings} from './inventory-readings.ts';

/** The object of Argo CD or Flux that applies an agent, and what it reports. */
export interface GitOpsController {
  /** Argo CD application argocd/agents */
  name: string;
  state: 'synced' | 'out-of-sync' | 'suspended' | 'failed' | 'unknown';
  reason?: string;
  /** Where its content can be changed: a repository, or what applies the object itself. */
  source?: string;
  /** How to change the agent instead. */
  remedies: readonly string[];
}

/** An Application, a HelmRelease or a Kustomization, as far as it is read. */
interface ControllerObject extends KubernetesObject {
  spec?: {
    suspend?: boolean;
    syncPolicy?: {automated?: {enabled?: boolean} | null};
    source?: Source;
    sources?: readonly Source[];
  };
  status?: {
    conditions?: readonly Pick<Condition, 'type' | 'status' | 'message'>[];
    sync?: {status?: string};
    operationState?: {phase?: string; message?: string};
    resources?: readonly {kind?: string; namespace?: string; name?: string}[];
  };
}

interface Source {
  repoURL?: string;
  path?: string;
  chart?: string;
  helm?: {valueFiles?: readonly string[]};
}

/** The release that a workload of a Scalr chart belongs to; undefined for other workloads. A GitOps tool may set the label. */
export function releaseOfAgent({
  metadata: {labels = {}, annotations = {}},
}: KubernetesObject): string | undefined {
  if (scalrChart(labels['helm.sh/chart'] ?? '') === undefined) return undefined;
  return annotations[OF_HELM] ?? labels[INSTANCE] ?? '';
}

const OF_HELM = 'meta.helm.sh/release-name';
const INSTANCE = 'app.kubernetes.io/instance';

/** The controller of these workloads, as they name it. Argo CD can track them by a label that charts set themselves, so it must confirm that. */
export async function readController(
  kubeTarget: ClusterTarget,
  workloads: readonly KubernetesObject[],
  kubernetes: Reader,
  options: RequestOptions,
): Promise<GitOpsController | undefined> {
  const marked = workloads.find((each) => gitOpsMark(each) !== undefined);
  const mark = marked && gitOpsMark(marked);
  if (marked && mark)
    return controllerOf(
      mark,
      marked,
      await readObject(mark, marked, kubernetes, options),
      kubeTarget,
    );
  const [workload] = workloads.filter(
    ({metadata}) => metadata.annotations?.[OF_HELM] === undefined,
  );
  const name = workload?.metadata.labels?.[INSTANCE];
  if (workload === undefined || !name) return undefined;
  const byLabel = argoMark(name, 'label', INSTANCE);
  const found = await readObject(byLabel, workload, kubernetes, options);
  return found.object && applies(found.object, workload)
    ? controllerOf(byLabel, workload, found, kubeTarget)
    : undefined;
}

async function readObject(
  {resource, name, namespace}: GitOpsMark,
  workload: KubernetesObject,
  kubernetes: Reader,
  options: RequestOptions,
): Promise<ObjectResult<ControllerObject>> {
  const group = await kubernetes.get(`/apis/${resource.slice(resource.indexOf('.') + 1)}`, options);
  if (group.error)
    return group.error.kind === 'not-found' ? {object: undefined} : {error: group.error};
  const groupVersion = (group.body as {preferredVersion?: {groupVersion?: string}} | null)
    ?.preferredVersion?.groupVersion;
  if (groupVersion === undefined) return {object: undefined};
  if (namespace !== undefined)
    return getObject(kubernetes, resource, name, {...options, namespace, groupVersion});
  const path = `${collectionPath(resource, undefined, groupVersion)}?fieldSelector=metadata.name%3D${encodeURIComponent(name)}`;
  const {items, error} = await listAll(kubernetes, path, options);
  if (error) return {error};
  const found = items as readonly ControllerObject[];
  return {object: found.find((each) => applies(each, workload)) ?? found[0]};
}

const applies = ({status}: ControllerObject, {kind, metadata}: KubernetesObject): boolean =>
  (status?.resources ?? []).some(
    (each) =>
      each.kind === kind && each.name === metadata.name && each.namespace === metadata.namespace,
  );

function controllerOf(
  mark: GitOpsMark,
  workload: KubernetesObject,
  {object, error}: ObjectResult<ControllerObject>,
  kubeTarget: ClusterTarget,
): GitOpsController {
  const name = gitOpsText({...mark, namespace: object?.metadata.namespace ?? mark.namespace});
  const source = object && sourceOf(object);
  const edit = `Change or remove the agent in the ${name}${source === undefined ? '' : ` (${source})`}`;
  if (object === undefined) {
    const reason = error
      ? oneLine(errorLine(error))
      : 'not found in this cluster; it can be in the cluster of the controller';
    const unmark = callText(removeMarks(kubeTarget, refOf(workload), mark));
    return {name, state: 'unknown', reason, remedies: [edit, `If it no longer exists: ${unmark}`]};
  }
  const suspend = `Or suspend it first: flux suspend ${mark.kind.toLowerCase()} ${mark.name} --namespace ${mark.namespace}`;
  const remedies = [edit, ...(mark.engine === 'Flux' ? [suspend] : [])];
  return {name, ...stateOf(object), ...(source === undefined ? {} : {source}), remedies};
}

/** Both engines report a failure in conditions; Flux always has the condition Ready, and Argo CD a sync status. */
function stateOf({
  spec = {},
  status = {},
}: ControllerObject): Pick<GitOpsController, 'state' | 'reason'> {
  const {conditions = [], sync, operationState} = status;
  const ready = conditions.find(({type}) => type === 'Ready');
  const because = (
    state: GitOpsController['state'],
    message: string | undefined,
  ): Pick<GitOpsController, 'state' | 'reason'> =>
    message ? {state, reason: oneLine(message)} : {state};
  if (spec.suspend)
    return because('suspended', ready?.status === 'False' ? ready.message : undefined);
  if (ready?.status === 'False') return because('failed', ready.message);
  const failed = conditions.find(({type}) => type.endsWith('Error'));
  if (failed) return because('failed', failed.message);
  if (ready?.status === 'True' || sync?.status === 'Synced') return {state: 'synced'};
  const {phase = '', message} = operationState ?? {};
  if (/^(Failed|Error)$/.test(phase)) return because('failed', message);
  const {automated} = spec.syncPolicy ?? {};
  const isManual = sync !== undefined && (!automated || automated.enabled === false);
  return isManual
    ? because('suspended', `${sync.status}, and automatic sync is off`)
    : because('out-of-sync', ready?.message ?? message);
}

/** Repositories with content of their own, otherwise what applies the object. */
function sourceOf(object: ControllerObject): string | undefined {
  const {source, sources = []} = object.spec ?? {};
  const all = [...(source ? [source] : []), ...sources];
  const files = all
    .flatMap(({helm}) => helm?.valueFiles ?? [])
    .map((each) => each.replace(/^\$[\w-]+\//, ''));
  const repositories = all.flatMap(({repoURL = '', path, chart}) =>
    chart === undefined ? [`${repoURL}${path ? `, path ${path}` : ''}`] : [],
  );
  const owner = gitOpsOwner(object) ?? otherOwner(object);
  if (repositories.length === 0) return owner && `applied by ${owner}`;
  return maskSecrets(
    [...repositories, ...(files.length === 0 ? [] : [`values files ${few(files)}`])].join('; '),
  );
}

/** Every change of a release begins with this. @throws ExpectedError if a controller would revert the change */
export async function requireNoController(
  name: ReleaseName,
  workloads: readonly KubernetesObject[],
  kubernetes: Reader,
  options: RequestOptions,
): Promise<void> {
  const controller = await readController(name.kubeTarget, workloads, kubernetes, options);
  if (controller && controller.state !== 'suspended') throw managedBy(name, controller);
}

/** The refusal to fight a controller. */
export const managedBy = (name: ReleaseName, controller: GitOpsController): ExpectedError =>
  failed(
    'OBJECT_NOT_OWNED',
    `Release ${name.release} in namespace ${name.kubeTarget.namespace} is managed by the ${controller.name}, which reverts other changes.`,
    [...controller.remedies, `Show its state: ${ownCommand('status', name)}`],
  );

/** A workload of a Scalr chart without a Helm release: applied by a GitOps tool or by kubectl, or its record was deleted. */
export interface UnrecordedAgent {
  /** Deployment scalr-agent */
  workload: ObjectRef;
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
    const isRecorded = releases.some(
      (each) => each.name === release && each.namespace === namespace,
    );
    const isAgent = ['Deployment', 'DaemonSet'].includes(kind) && release !== undefined;
    if (!isAgent || isRecorded || metadata.deletionTimestamp !== undefined) return [];
    const chart = labels['helm.sh/chart'] ?? '';
    const isOfHelm = annotations[OF_HELM] !== undefined;
    return [
      {
        workload: refOf(object),
        release,
        namespace,
        chart,
        manager: gitOpsOwner(object),
        isOfHelm,
      },
    ];
  });

/** Follows the name of the agent: has no Helm release (Argo CD application agents). Pure. */
export const reasonOf = ({manager, isOfHelm}: UnrecordedAgent): string =>
  manager ??
  (isOfHelm ? 'its Helm record was deleted, or HELM_DRIVER differs' : 'applied without Helm');

/** How to change an agent that Helm does not know. Pure. */
function howToChange({workload, manager, isOfHelm}: UnrecordedAgent, name: ReleaseName): string[] {
  if (manager !== undefined) return [`Change or remove the agent in the ${manager}`];
  const install = ownCommand('install', name);
  if (isOfHelm)
    return [
      `Set the HELM_DRIVER of its install. If its record was deleted, install it again with the same settings: ${install}`,
    ];
  return [
    'Change the agent with the tool that applied it',
    `Or delete it while no run is active, then install it with Helm: ${callText(deleteByHand(name.kubeTarget, workload))}`,
  ];
}

/** A command requires Helm's record of this agent. Pure. */
export const notRecorded = (name: ReleaseName, agent: UnrecordedAgent): ExpectedError =>
  failed(
    'RELEASE_NOT_FOUND',
    `${refText(agent.workload)} in namespace ${agent.namespace} has no Helm release (${reasonOf(agent)}).`,
    [...howToChange(agent, name), `Show its state: ${ownCommand('status', name)}`],
  );

/** With another HELM_DRIVER, Helm looks for its records in other objects. */
const isRecordOf = (
  {kind = '', metadata: {labels = {}, deletionTimestamp}}: KubernetesObject,
  {release}: ReleaseName,
): boolean =>
  ['Secret', 'ConfigMap'].includes(kind) &&
  labels['owner'] === 'helm' &&
  labels['name'] === release &&
  deletionTimestamp === undefined;

const recordedElsewhere = ({release, kubeTarget}: ReleaseName, record: KubernetesObject) =>
  failed(
    'RELEASE_NOT_FOUND',
    `Release ${release} not found in namespace ${kubeTarget.namespace} with this HELM_DRIVER, but ${kindAndName(record)} is a Helm record of it. Nothing was changed.`,
    [
      record.kind === 'Secret'
        ? 'Unset HELM_DRIVER, or set it to secret, then run the same command again'
        : 'Set HELM_DRIVER to configmap, then run the same command again',
    ],
  );

/** A mistyped name must not look like an uninstalled release. @throws ExpectedError when neither Helm nor any object knows the release */
export function requireKnownRelease(
  name: ReleaseName,
  /** Helm has a record of it, of whatever state and chart. */
  isRecorded: boolean,
  {claims, volumes, secrets, namespace, leftovers}: Inventory,
  readings: Pick<InventoryReadings, 'namespaceObject' | 'objects' | 'releases' | 'releasesHere'>,
): void {
  if (isRecorded) return;
  const record = readings.objects.find((each) => isRecordOf(each, name));
  if (record !== undefined) throw recordedElsewhere(name, record);
  const isLeft =
    [claims, volumes, secrets, leftovers].some((each) => each.length > 0) || namespace?.isOurs;
  if (isLeft) return;
  const {release, kubeTarget} = name;
  const unrecorded = unrecordedAgents(readings.objects, []).find(
    (each) => each.release === release,
  );
  if (unrecorded) throw notRecorded(name, unrecorded);
  const isNamespaceMissing = readings.namespaceObject === undefined;
  const missing = isNamespaceMissing
    ? `Release ${release} not found: namespace ${kubeTarget.namespace} does not exist.`
    : `Release ${release} not found in namespace ${kubeTarget.namespace}.`;
  const agents = agentReleases(name, readings);
  const found = agents.map(({namespace, name, chart}) => `${namespace}/${name} (${chart})`);
  const where = readings.releases ? 'this cluster' : `namespace ${kubeTarget.namespace}`;
  throw failed(
    'RELEASE_NOT_FOUND',
    `${missing} ${found.length > 0 ? `Agent releases found: ${few(found, 10)}` : `No agent release found in ${where}`}.`,
    suggestionsFor(name, agents, readings),
  );
}

/** Those of the namespace first. */
function agentReleases(
  {kubeTarget}: ReleaseName,
  {releases, releasesHere = []}: Pick<InventoryReadings, 'releases' | 'releasesHere'>,
): ListedRelease[] {
  const agents = (releases ?? releasesHere).filter(({chart}) =>
    /^agent-(k8s|local|job)-\d/.test(chart),
  );
  const isHere = ({namespace}: ListedRelease): boolean => namespace === kubeTarget.namespace;
  return [...agents.filter(isHere), ...agents.filter((each) => !isHere(each))];
}

function suggestionsFor(
  {release, kubeTarget}: ReleaseName,
  agents: readonly ListedRelease[],
  {releases}: Pick<InventoryReadings, 'releases'>,
): string[] {
  const here = agents.filter(({namespace}) => namespace === kubeTarget.namespace);
  const named = closest(
    release,
    agents.map(({name}) => name),
  );
  const desired = here.length === 1 ? here[0] : agents.find(({name}) => name === named);
  return [
    ...(desired
      ? [
          `If you meant ${desired.namespace}/${desired.name}: ${ownCommand('uninstall', {release: desired.name, kubeTarget: {...kubeTarget, namespace: desired.namespace}})}`,
        ]
      : []),
    ...(releases
      ? []
      : ['Your user cannot list releases in other namespaces. Set the namespace with --namespace']),
    'Use another cluster: --kube-context NAME',
  ];
}
