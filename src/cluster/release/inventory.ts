import type {ChartName} from '../../charts/releases/chart-name.ts';
import {scalrChart} from '../../charts/releases/chart-name.ts';
import {within} from '../../charts/releases/versions.ts';
import {at, getAt, isMap, type Tree, type Values} from '../../ground/tree.ts';
import {kindAndName} from '../kubernetes/object-refs.ts';
import type {KubernetesObject, Pod, Workload} from '../kubernetes/objects.ts';
import {isOwn} from '../kubernetes/own-objects.ts';
import {hasEnded} from '../kubernetes/pod-specs.ts';
import {DEFINITIONS} from '../platform/cluster-facts.ts';
import {
  type ClaimItem,
  keptVolumesOf,
  type NodeDataItem,
  nodeDataOf,
  releaseClaims,
  type VolumeItem,
} from './inventory-data.ts';
import {type InventoryReadings, userReadings} from './inventory-readings.ts';
import {type SecretItem, secretsOf} from './inventory-secrets.ts';
import {isWideKnown, type LeftObject, leftObjectsOf} from './left-objects.ts';
import {type NamespaceItem, namespaceOf} from './namespace.ts';
import {type ObjectUser, objectUsers} from './object-users.ts';

/** Objects that an uninstall deletes or reports, by class. */
export interface Inventory {
  /** `objects` are deleted with it. */
  release: {chart: ChartName; version: string; objects: readonly KubernetesObject[]} | undefined;
  runs: readonly Run[];
  /** They do not end by themselves, and nothing waits for them. */
  held: readonly HeldPod[];
  /** How runs of this release are found again later; undefined if they happen inside the pods of the agent. */
  runsOf: RunsOf | undefined;
  controllers: readonly Controller[];
  claims: readonly ClaimItem[];
  /** Volumes that an earlier uninstall kept. */
  volumes: readonly VolumeItem[];
  definitions: readonly DefinitionItem[];
  secrets: readonly SecretItem[];
  namespace: NamespaceItem | undefined;
  /** Objects of the release that Helm does not delete with it: of older revisions, or all of them if Helm has no record. */
  leftovers: readonly LeftObject[];
  /** Secrets in which Helm keeps the revisions of the release. */
  records: readonly string[];
  /** False if cluster-scoped objects of the release may remain that this user cannot list. */
  isWideKnown: boolean;
  nodeData: readonly NodeDataItem[];
}

/** What accepts runs from the agent pool. */
export interface Controller {
  kind: string;
  name: string;
  /** Behavior of its pods when they are stopped. */
  onStop: 'drain' | 'interrupt';
  graceSeconds: number;
  /** While it works: of the cluster, or of the release where it is stopped already. */
  replicas: number;
}

/** Pure. */
export function inventoryOf(readings: InventoryReadings): Inventory {
  const {state, manifest, missing} = readings;
  const target = scalrChart(state?.chart ?? '');
  const release = target && {
    ...target,
    objects: manifest.filter((each) => !missing?.has(kindAndName(each))),
  };
  const leftovers = leftObjectsOf(readings, userReadings(readings));
  const runsOf = release && runsOfRelease(readings.release, release, readings.values);
  return {
    release,
    runs: runsOf ? runsIn(readings.objects, runsOf) : [],
    held: runsOf ? heldPods(readings.objects, runsOf) : [],
    runsOf,
    controllers: release ? controllersOf(readings, release.chart) : [],
    claims: releaseClaims(readings),
    volumes: keptVolumesOf(readings),
    definitions: definitionItems(readings),
    secrets: secretsOf(readings),
    namespace: namespaceOf(readings),
    leftovers,
    records: recordsOf(readings),
    isWideKnown: isWideKnown(readings),
    nodeData: release ? nodeDataOf(readings, release.chart) : [],
  };
}

const recordsOf = ({release, objects}: InventoryReadings): string[] =>
  objects
    .filter(({kind}) => kind === 'Secret')
    .map(({metadata}) => metadata.name)
    .filter((name) => name.startsWith(`sh.helm.release.v1.${release}.v`));

const STOP_KEY: Readonly<Record<ChartName, string | undefined>> = {
  'agent-k8s': 'agent.worker_on_stop_action',
  'agent-local': 'agent.shutdownMode',
  // The templates set it to drain.
  'agent-job': undefined,
};
const DEFAULT_GRACE = 30;

function controllersOf(
  {manifest, missing, objects, values}: InventoryReadings,
  chart: ChartName,
): Controller[] {
  const key = STOP_KEY[chart];
  const onStop = key === undefined || getAt(values, at(key)) === 'drain' ? 'drain' : 'interrupt';
  return manifest
    .filter(
      (each) =>
        (each.kind === 'Deployment' || each.kind === 'StatefulSet') &&
        !missing?.has(kindAndName(each)),
    )
    .map((rendered: Workload) => {
      const {kind, metadata} = rendered;
      const {name} = metadata;
      const seconds = getAt(
        rendered as unknown as Tree,
        at('spec.template.spec.terminationGracePeriodSeconds'),
      );
      const live: Workload | undefined = objects.find(
        (each) => each.kind === kind && each.metadata.name === name,
      );
      const replicas = live?.spec?.replicas || rendered.spec?.replicas || 1;
      return {
        kind: kind as string,
        name,
        onStop,
        graceSeconds: typeof seconds === 'number' ? seconds : DEFAULT_GRACE,
        replicas,
      };
    });
}

/** A CRD of agent-job. Helm installs it and never deletes it. */
export interface DefinitionItem {
  name: string;
  /** Releases and custom resources that use it; undefined if that cannot be read. */
  neededBy: readonly ObjectUser[] | undefined;
}

const DEFINITION = 'CustomResourceDefinition';

function definitionItems(readings: InventoryReadings): DefinitionItem[] {
  const {state, definitions = []} = readings;
  // Only agent-job uses them; its CRDs may remain after the release.
  if (state !== undefined && !state.chart.startsWith('agent-job-')) return [];
  return definitions
    .filter(({metadata}) => DEFINITIONS.includes(metadata.name))
    .map(({metadata: {name}}) => ({
      name,
      neededBy: objectUsers({kind: DEFINITION, name}, userReadings(readings)),
    }));
}

/** How to find the runs of one release in its namespace. */
export interface RunsOf {
  chart: Exclude<ChartName, 'agent-local'>;
  version: string;
  release: string;
  /** Labels the values give to run pods. */
  taskLabels: Readonly<Record<string, string>>;
}

export interface Run {
  kind: 'Job' | 'Pod';
  name: string;
  /** False if it only looks like a run: agent-k8s does not label its run pods. */
  isCertain: boolean;
}

interface Template {
  metadata?: {labels?: Readonly<Record<string, string>>};
  spec?: {containers?: readonly {name: string}[]; initContainers?: readonly {name: string}[]};
}
/** Undefined if runs execute inside the agent. */
export function runsOfRelease(
  release: string,
  {chart, version}: {chart: ChartName; version: string},
  values: Values = {},
): RunsOf | undefined {
  const labels = getAt(values, at('agent.kubernetes_task_labels'));
  return chart === 'agent-local'
    ? undefined
    : {
        chart,
        version,
        release,
        taskLabels: isMap(labels) ? (labels as Record<string, string>) : {},
      };
}

/** The runs in flight among the Jobs and pods of the namespace; docs/charts lists the labels of run pods. */
export function runsIn(objects: readonly KubernetesObject[], of: RunsOf): Run[] {
  const pods = livePods(objects);
  const busy = pods.filter((pod) => holdersOf(pod, objects).length === 0);
  if (of.chart === 'agent-k8s') return runPods(busy, of);
  const jobs = objects.filter(({kind}) => kind === 'Job');
  const isHeld = ({metadata}: KubernetesObject): boolean => {
    const own = pods.filter((pod) => isOwnedBy(pod, metadata.name));
    return own.length > 0 && own.every((pod) => !busy.includes(pod));
  };
  const running = jobs.filter((job) => !isFinished(job) && isOfAgentJob(job, of) && !isHeld(job));
  // A pod may outlive the record of its Job.
  const lone = busy.filter(
    (pod) => isOfAgentJob(pod, of) && !jobs.some(({metadata}) => isOwnedBy(pod, metadata.name)),
  );
  return [
    ...running.map((job) => run('Job', job, true)),
    ...lone.map((pod) => run('Pod', pod, true)),
  ];
}

/** A probe of this program is not a run. */
const livePods = (objects: readonly KubernetesObject[]): Pod[] =>
  objects.filter(({kind}) => kind === 'Pod').filter((pod) => !hasEnded(pod) && !isOwn(pod));

/** The pod of a run that has ended, and the containers that keep the pod running. */
export interface HeldPod {
  pod: Pod;
  holders: readonly string[];
}

export const heldPods = (objects: readonly KubernetesObject[], of: RunsOf): HeldPod[] =>
  livePods(objects)
    .filter((pod) => isOfRun(pod, of))
    .map((pod) => ({pod, holders: holdersOf(pod, objects)}))
    .filter(({holders}) => holders.length > 0);

/** Containers that webhooks add to pods, and that do not end with a run: those of Istio, Linkerd, Consul, Kuma, App Mesh, Vault and Dapr. */
const SIDECARS: ReadonlySet<string> = new Set([
  'istio-proxy',
  'linkerd-proxy',
  'consul-dataplane',
  'kuma-sidecar',
  'envoy',
  'vault-agent',
  'daprd',
]);

/** None while a container of the run itself has not ended. Without the template of a Job, only known sidecars are told from those. */
function holdersOf(pod: Pod, objects: readonly KubernetesObject[]): string[] {
  const job = objects.find(({kind, metadata}) => kind === 'Job' && isOwnedBy(pod, metadata.name));
  const template = (job as {spec?: {template?: Template}} | undefined)?.spec?.template?.spec;
  const {containers = []} = template ?? pod.spec ?? {};
  const own = containers
    .map(({name}) => name)
    .filter((name) => template !== undefined || !SIDECARS.has(name));
  const statuses = pod.status?.containerStatuses ?? [];
  const running = statuses.filter(({state}) => !state?.terminated).map(({name}) => name);
  const isOver = own.every(
    (name) => statuses.some((each) => each.name === name) && !running.includes(name),
  );
  return own.length > 0 && isOver ? running : [];
}

/** Running and finished Jobs or run pods; for agent-k8s, also pods that only look like one. */
export function isOfRun(object: KubernetesObject, of: RunsOf): boolean {
  if (isOwn(object)) return false;
  if (of.chart === 'agent-k8s') return object.kind === 'Pod' && runPods([object], of).length > 0;
  return (object.kind === 'Pod' || object.kind === 'Job') && isOfAgentJob(object, of);
}

/** By the labels of the pod; older versions do not label it. */
function isOfAgentJob(object: KubernetesObject, {version, release}: RunsOf): boolean {
  const {metadata, spec}: Template =
    object.kind === 'Job'
      ? ((object as {spec?: {template?: Template}}).spec?.template ?? {})
      : object;
  const {'app.kubernetes.io/instance': instance, 'app.kubernetes.io/component': component} =
    metadata?.labels ?? {};
  if (within(version, '>=0.5.64')) return instance === release && component === 'task';
  const names = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].map(
    ({name}) => name,
  );
  return names.includes('worker') && names.includes('runner');
}

function runPods(pods: readonly KubernetesObject[], {taskLabels}: RunsOf): Run[] {
  const desired = Object.entries(taskLabels);
  const isCertain = desired.length > 0;
  return pods
    .filter(({metadata}) => !metadata.ownerReferences?.some(({kind}) => KEPT_BY_OTHERS.has(kind)))
    .filter(({metadata}) => desired.every(([key, value]) => metadata.labels?.[key] === value))
    .map((pod) => run('Pod', pod, isCertain));
}

const KEPT_BY_OTHERS: ReadonlySet<string> = new Set([
  'ReplicaSet',
  'DaemonSet',
  'StatefulSet',
  'Job',
  'Node',
]);

const run = (kind: Run['kind'], {metadata}: KubernetesObject, isCertain: boolean): Run => ({
  kind,
  name: metadata.name,
  isCertain,
});

const isFinished = (job: Workload): boolean =>
  job.status?.conditions?.some(
    ({type, status}) => (type === 'Complete' || type === 'Failed') && status === 'True',
  ) ?? false;
const isOwnedBy = ({metadata}: KubernetesObject, job: string): boolean =>
  metadata.ownerReferences?.some(({kind, name}) => kind === 'Job' && name === job) ?? false;
