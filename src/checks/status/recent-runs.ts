import {deleteByHand} from '../../cluster/kubernetes/deletions.ts';
import {refOf} from '../../cluster/kubernetes/object-refs.ts';
import type {Event, KubernetesObject, Pod, Workload} from '../../cluster/kubernetes/objects.ts';
import {type HeldPod, heldPods, isOfRun, type RunsOf} from '../../cluster/release/inventory.ts';
import {callText} from '../../ground/call-arguments.ts';
import {kubectlCommand, type ReleaseName} from '../../ground/command-line.ts';
import {changing, type ObjectFinding, objectFinding, type Remedy} from '../../ground/finding.ts';
import {oneLine} from '../../ground/one-line.ts';
import {count, few, groupsOf} from '../../ground/text.ts';
import {runSize} from '../../settings/size.ts';
import {unwrap} from '../diagnose/cause.ts';
import {condition, containersOf, isTerminating} from '../diagnose/pod-state.ts';
import {objectLabel} from '../diagnose/snapshot-queries.ts';

const RECENT_MS = 24 * 3_600_000;
/** The scheduler and an autoscaler need some time for a new node. */
const NORMAL_WAIT_MS = 120_000;

export const isRecent = (time: string | undefined, now: Date): boolean =>
  now.getTime() - Date.parse(time ?? '') <= RECENT_MS;

export const startOf = ({metadata, status}: Pod): string | undefined =>
  status?.startTime ?? metadata.creationTimestamp;

/** Runs of the last hours that failed because of the cluster, and those that it does not start. Pure. */
export function recentRuns(
  objects: readonly KubernetesObject[],
  runsOf: RunsOf,
  name: ReleaseName,
  now: Date,
): ObjectFinding[] {
  const own = objects.filter((object) => isOfRun(object, runsOf));
  const pods = own.filter(({kind}) => kind === 'Pod') as Pod[];
  const jobs = own.filter(({kind}) => kind === 'Job') as Workload[];
  const events = objects.filter(({kind}) => kind === 'Event') as Event[];
  return [
    ...failedRuns(pods, name, now),
    ...waitingRuns(pods, name, now),
    ...rejectedRuns(jobs, events, name),
    ...heldRuns(heldPods(objects, runsOf), name),
  ];
}

const describeCommand = (
  {kubeTarget}: ReleaseName,
  {kind = '', metadata}: KubernetesObject,
): string =>
  kubectlCommand(
    kubeTarget,
    'describe',
    kind.toLowerCase(),
    metadata.name,
    '--namespace',
    kubeTarget.namespace,
  );

/** A failed plan of Terraform is no failure of a pod, so its exit code is not counted. */
function failedRuns(pods: readonly Pod[], name: ReleaseName, now: Date): ObjectFinding[] {
  const failed = pods.flatMap((pod) => {
    const reason = failureOf(pod);
    return reason === undefined || !isRecent(startOf(pod), now) ? [] : [{pod, reason}];
  });
  const [first] = failed;
  if (first === undefined) return [];
  const reasons = groupsOf(failed, ({reason}) => reason).map(
    (same) => `${same[0].reason}${same.length > 1 ? ` (${same.length})` : ''}`,
  );
  const message = `${count(failed.length, 'run')} failed in the last 24 hours: ${few(reasons)}`;
  return [
    {
      ...objectFinding('warning', objectLabel(first.pod), 'RUNS_FAILED', {message, remedy: ''}),
      remedies: [
        ...(failed.some(({reason}) => reason === 'OOMKilled') ? [MORE_MEMORY] : []),
        {text: `Show the newest one: ${describeCommand(name, first.pod)}`},
      ],
    },
  ];
}

const MORE_MEMORY: Remedy = changing`Raise the memory limit: ${runSize.memoryLimit}`;

function failureOf(pod: Pod): string | undefined {
  if (pod.status?.phase !== 'Failed') return undefined;
  const ends = containersOf(pod).flatMap(({state}) => state?.terminated ?? []);
  const isMemory = ends.some(({reason}) => reason === 'OOMKilled');
  return pod.status.reason ?? (isMemory ? 'OOMKilled' : undefined);
}

function waitingRuns(pods: readonly Pod[], name: ReleaseName, now: Date): ObjectFinding[] {
  const waiting = pods.filter(
    (pod) =>
      pod.status?.phase === 'Pending' &&
      !isTerminating(pod) &&
      now.getTime() - Date.parse(pod.metadata.creationTimestamp ?? '') > NORMAL_WAIT_MS,
  );
  const [first] = waiting;
  if (first === undefined) return [];
  const {message = 'its containers do not start'} = condition(first, 'PodScheduled') ?? {};
  return [
    objectFinding('warning', objectLabel(first), 'RUNS_WAITING', {
      message: oneLine(
        `${count(waiting.length, 'run pod')} waiting for more than 2 minutes: ${message}`,
      ),
      remedy: `Show the reason: ${describeCommand(name, first)}`,
    }),
  ];
}

/** Jobs without a pod, because the API server rejects it. Their controller tries again. */
function rejectedRuns(
  jobs: readonly Workload[],
  events: readonly Event[],
  name: ReleaseName,
): ObjectFinding[] {
  const rejected = jobs.flatMap((job) => {
    const isWaiting =
      !isTerminating(job) &&
      (job.status?.active ?? 0) === 0 &&
      !['Complete', 'Failed', 'Suspended'].some((type) => condition(job, type)?.status === 'True');
    const event = events.findLast(
      ({reason, involvedObject: about}) =>
        reason === 'FailedCreate' && about?.kind === 'Job' && about.name === job.metadata.name,
    );
    return isWaiting && event ? [{job, message: event.message ?? ''}] : [];
  });
  const [first] = rejected;
  if (first === undefined) return [];
  return [
    objectFinding('warning', objectLabel(first.job), 'RUNS_REJECTED', {
      message: oneLine(`${count(rejected.length, 'run')} without a pod: ${unwrap(first.message)}`),
      remedy: `Show the reason: ${describeCommand(name, first.job)}`,
    }),
  ];
}

/** Their runs have ended, but they use the node and count against quotas. */
function heldRuns(held: readonly HeldPod[], name: ReleaseName): ObjectFinding[] {
  const [first] = held;
  if (first === undefined) return [];
  const holders = [...new Set(held.flatMap((each) => each.holders))];
  return [
    objectFinding('warning', objectLabel(first.pod), 'RUNS_HELD', {
      message: `${count(held.length, 'run')} ended, but ${few(holders)} still runs in the pod`,
      remedy: `Do not inject sidecars into run pods, or use native sidecars, which end with the run. Delete the pod: ${callText(deleteByHand(name.kubeTarget, refOf(first.pod)))}`,
    }),
  ];
}
