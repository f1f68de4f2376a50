import type {
  Container,
  ContainerStatus,
  KubernetesObject,
  Pod,
} from '../../cluster/kubernetes/objects.ts';
import {isOfRun, type RunsOf} from '../../cluster/release/inventory.ts';
import {changing, type ObjectFinding, objectFinding, type Remedy} from '../../findings/finding.ts';
import {kubectlCommand, type ReleaseName} from '../../ground/command-line.ts';
import {oneLine} from '../../ground/one-line.ts';
import {ageText, count, few, groupsOf} from '../../ground/text.ts';
import {runSize} from '../../settings/size.ts';
import {evictionRemedy, memoryRemedy} from '../diagnose/pod-causes.ts';
import {condition, containersOf, isTerminating} from '../diagnose/pod-state.ts';
import type {ReleaseSnapshot} from '../diagnose/read-snapshot.ts';
import {objectLabel} from '../diagnose/snapshot-queries.ts';

const RECENT_MS = 24 * 3_600_000;
/** The scheduler and an autoscaler need some time for a new node. */
const NORMAL_WAIT_MS = 120_000;

interface History {
  name: ReleaseName;
  now: Date;
  runsOf: RunsOf | undefined;
}

/** What happened in the last hours to agents and runs, although the agents may be ready now: one line for each object, and one for the runs. Pure. */
export function recentHistory(
  {snapshot, objects}: ReleaseSnapshot,
  {name, now, runsOf}: History,
): ObjectFinding[] {
  const runPods = runsOf === undefined ? [] : podsOfRuns(objects, runsOf);
  return [
    ...snapshot.pods.flatMap((pod) => restartsOf(pod, name, now)),
    ...snapshot.pods.flatMap((pod) => evictionOf(pod, now)),
    ...failedRuns(runPods, name, now),
    ...waitingRuns(runPods, name, now),
  ];
}

const podsOfRuns = (objects: readonly KubernetesObject[], runsOf: RunsOf): Pod[] =>
  objects.filter((object) => object.kind === 'Pod' && isOfRun(object, runsOf)) as Pod[];

/** Milliseconds since a time of the last hours; undefined for an older one. */
function recentAge(time: string | undefined, now: Date): number | undefined {
  const age = now.getTime() - Date.parse(time ?? '');
  return age <= RECENT_MS ? Math.max(0, age) : undefined;
}

function restartsOf(pod: Pod, {kubeTarget}: ReleaseName, now: Date): ObjectFinding[] {
  if (isTerminating(pod)) return [];
  return containersOf(pod).flatMap((container) => {
    const {name, restartCount = 0, lastState} = container;
    const end = lastState?.terminated;
    const age = recentAge(end?.finishedAt, now);
    if (end === undefined || age === undefined || restartCount === 0) return [];
    const isMemory = end.reason === 'OOMKilled';
    const times = restartCount === 1 ? 'once' : `${restartCount} times`;
    const message = `container ${name} restarted ${times}, the last time ${ageText(age)} ago: ${end.reason ?? 'exited'}${limitText(container)} (exit code ${end.exitCode ?? 'unknown'})`;
    const {namespace} = kubeTarget;
    const log = kubectlCommand(
      kubeTarget,
      'logs',
      pod.metadata.name,
      '--container',
      name,
      '--previous',
      '--namespace',
      namespace,
    );
    const remedy = isMemory ? memoryRemedy(name) : `Read the log before the restart: ${log}`;
    return [
      objectFinding('warning', objectLabel(pod), isMemory ? 'OOM_KILLED' : 'RESTARTED', {
        message,
        remedy,
      }),
    ];
  });
}

function limitText({spec, lastState}: ContainerStatus & {spec: Container | undefined}): string {
  const limit = spec?.resources?.limits?.['memory'];
  const isMemory = lastState?.terminated?.reason === 'OOMKilled';
  return isMemory && limit !== undefined ? ` at ${limit}` : '';
}

function evictionOf(pod: Pod, now: Date): ObjectFinding[] {
  const {reason, message = ''} = pod.status ?? {};
  const age = recentAge(pod.status?.startTime ?? pod.metadata.creationTimestamp, now);
  if (reason !== 'Evicted' || age === undefined) return [];
  return [
    objectFinding('warning', objectLabel(pod), 'EVICTED', {
      message: oneLine(`evicted: ${message}`),
      remedy: evictionRemedy(message),
    }),
  ];
}

/** A failed plan of Terraform is no failure of a pod, so its exit code is not counted. */
function failedRuns(pods: readonly Pod[], {kubeTarget}: ReleaseName, now: Date): ObjectFinding[] {
  const failed = pods.flatMap((pod) => {
    const reason = failureOf(pod);
    const isRecent =
      recentAge(pod.status?.startTime ?? pod.metadata.creationTimestamp, now) !== undefined;
    return reason === undefined || !isRecent ? [] : [{pod, reason}];
  });
  const [first] = failed;
  if (first === undefined) return [];
  const reasons = groupsOf(failed, ({reason}) => reason).map(
    (same) => `${same[0].reason}${same.length > 1 ? ` (${same.length})` : ''}`,
  );
  const {namespace} = kubeTarget;
  const show = kubectlCommand(
    kubeTarget,
    'describe',
    'pod',
    first.pod.metadata.name,
    '--namespace',
    namespace,
  );
  const message = `${count(failed.length, 'run')} failed in the last 24 hours: ${few(reasons)}`;
  return [
    {
      ...objectFinding('warning', objectLabel(first.pod), 'RUNS_FAILED', {message, remedy: ''}),
      remedies: [
        ...(failed.some(({reason}) => reason === 'OOMKilled') ? [MORE_MEMORY] : []),
        {text: `Show the newest one: ${show}`},
      ],
    },
  ];
}

const MORE_MEMORY: Remedy = changing(
  runSize.memoryLimit,
  'Raise the memory limit: --run-memory-limit',
);

function failureOf(pod: Pod): string | undefined {
  if (pod.status?.phase !== 'Failed') return undefined;
  const ends = containersOf(pod).flatMap(({state}) => state?.terminated ?? []);
  const isMemory = ends.some(({reason}) => reason === 'OOMKilled');
  return pod.status.reason ?? (isMemory ? 'OOMKilled' : undefined);
}

function waitingRuns(pods: readonly Pod[], {kubeTarget}: ReleaseName, now: Date): ObjectFinding[] {
  const waiting = pods.filter(
    (pod) =>
      pod.status?.phase === 'Pending' &&
      !isTerminating(pod) &&
      now.getTime() - Date.parse(pod.metadata.creationTimestamp ?? '') > NORMAL_WAIT_MS,
  );
  const [first] = waiting;
  if (first === undefined) return [];
  const {message = 'its containers do not start'} = condition(first, 'PodScheduled') ?? {};
  const {namespace} = kubeTarget;
  const show = kubectlCommand(
    kubeTarget,
    'describe',
    'pod',
    first.metadata.name,
    '--namespace',
    namespace,
  );
  return [
    objectFinding('warning', objectLabel(first), 'RUNS_WAITING', {
      message: oneLine(
        `${count(waiting.length, 'run pod')} waiting for more than 2 minutes: ${message}`,
      ),
      remedy: `Show the reason: ${show}`,
    }),
  ];
}
