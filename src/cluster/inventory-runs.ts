import {within} from '../charts/releases.ts';
import type {ChartName} from '../charts/schema.ts';
import {at, getAt, isMap, type Values} from '../charts/tree.ts';
import type {KubernetesObject, Pod, Workload} from './objects.ts';
import {isOwn} from './own-labels.ts';

/** What tells the runs of one release from everything else in its namespace. */
export interface RunsOf {
  chart: Exclude<ChartName, 'agent-local'>;
  version: string;
  release: string;
  /** Labels the values give to the pods of runs. */
  taskLabels: Readonly<Record<string, string>>;
}

export interface Run {
  kind: 'Job' | 'Pod';
  name: string;
  /** False where it only looks like a run: agent-k8s marks its run pods with nothing of its own. */
  isCertain: boolean;
}

interface Template {
  metadata?: {labels?: Readonly<Record<string, string>>};
  spec?: {containers?: readonly {name: string}[]; initContainers?: readonly {name: string}[]};
}
type Labels = Readonly<Record<string, string>>;

export const labelsOfRuns = (values: Values): Labels => {
  const labels = getAt(values, at('agent.kubernetes_task_labels'));
  return isMap(labels) ? (labels as Record<string, string>) : {};
};

/** The runs in flight among the Jobs and pods of the namespace; docs/charts says how run pods of each chart are labelled. */
export function runsIn(objects: readonly KubernetesObject[], of: RunsOf): Run[] {
  // A probe of this program is no run.
  const pods = objects.filter(({kind}) => kind === 'Pod').filter((pod) => !hasEnded(pod) && !isOwn(pod));
  if (of.chart === 'agent-k8s') return runPods(pods, of);
  const isRun = within(of.version, '>=0.5.64') ? hasLabelsOf(of.release) : hasContainersOfRun;
  const jobs = objects.filter(({kind}) => kind === 'Job');
  const running = jobs.filter((job) => !isFinished(job) && isRun((job as {spec?: {template?: Template}}).spec?.template ?? {}));
  // A pod may outlive the record of its Job.
  const lone = pods.filter((pod) => isRun(pod) && !jobs.some(({metadata}) => isOwnedBy(pod, metadata.name)));
  return [...running.map((job) => run('Job', job, true)), ...lone.map((pod) => run('Pod', pod, true))];
}

/** A Job or pod of a run, whether it has ended or not; of agent-k8s also what only looks like one. */
export function isOfRun(object: KubernetesObject, of: RunsOf): boolean {
  if (isOwn(object)) return false;
  if (of.chart === 'agent-k8s') return object.kind === 'Pod' && runPods([object], of).length > 0;
  const isRun = within(of.version, '>=0.5.64') ? hasLabelsOf(of.release) : hasContainersOfRun;
  if (object.kind === 'Pod') return isRun(object);
  return object.kind === 'Job' && isRun((object as {spec?: {template?: Template}}).spec?.template ?? {});
}

function runPods(pods: readonly KubernetesObject[], {taskLabels}: RunsOf): Run[] {
  const wanted = Object.entries(taskLabels);
  const isCertain = wanted.length > 0;
  return pods
    .filter(({metadata}) => !metadata.ownerReferences?.some(({kind}) => KEPT_BY_OTHERS.has(kind)))
    .filter(({metadata}) => wanted.every(([key, value]) => metadata.labels?.[key] === value))
    .map((pod) => run('Pod', pod, isCertain));
}

const KEPT_BY_OTHERS: ReadonlySet<string> = new Set(['ReplicaSet', 'DaemonSet', 'StatefulSet', 'Job', 'Node']);

const run = (kind: Run['kind'], {metadata}: KubernetesObject, isCertain: boolean): Run => ({kind, name: metadata.name, isCertain});

const hasLabelsOf =
  (release: string) =>
  ({metadata}: Template): boolean =>
    metadata?.labels?.['app.kubernetes.io/instance'] === release && metadata.labels['app.kubernetes.io/component'] === 'task';

function hasContainersOfRun({spec}: Template): boolean {
  const names = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].map(({name}) => name);
  return names.includes('worker') && names.includes('runner');
}

const isFinished = (job: Workload): boolean =>
  job.status?.conditions?.some(({type, status}) => (type === 'Complete' || type === 'Failed') && status === 'True') ?? false;
const hasEnded = ({status}: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';
const isOwnedBy = ({metadata}: KubernetesObject, job: string): boolean =>
  metadata.ownerReferences?.some(({kind, name}) => kind === 'Job' && name === job) ?? false;
