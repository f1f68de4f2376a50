import type {Revision} from '../../cluster/helm/release-record.ts';
import type {Container, ContainerStatus, Pod} from '../../cluster/kubernetes/objects.ts';
import type {Snapshot} from '../../cluster/kubernetes/snapshot.ts';
import type {RunsOf} from '../../cluster/release/inventory.ts';
import {helmCommand, kubectlCommand, type ReleaseName} from '../../ground/command-line.ts';
import {type ObjectFinding, objectFinding} from '../../ground/finding.ts';
import {oneLine} from '../../ground/one-line.ts';
import {reconnectTimes} from '../diagnose/agent-log.ts';
import {evictionRemedy, memoryRemedy} from '../diagnose/pod-causes.ts';
import {containersOf, isTerminating} from '../diagnose/pod-state.ts';
import type {ReleaseSnapshot} from '../diagnose/read-snapshot.ts';
import {objectLabel} from '../diagnose/snapshot-queries.ts';
import {isRecent, recentRuns, startOf} from './recent-runs.ts';

interface History {
  name: ReleaseName;
  now: Date;
  runsOf: RunsOf | undefined;
  revision: Revision | undefined;
}

/** What happened in the last hours to agents and runs, although the agents may be ready now: one line for each object, and one for the runs. Pure. */
export function recentHistory(
  {snapshot, objects}: ReleaseSnapshot,
  {name, now, runsOf, revision}: History,
): ObjectFinding[] {
  return [
    ...failedRevision(revision, name, now),
    ...snapshot.pods.flatMap((pod) => restartsOf(pod, name, now)),
    ...snapshot.pods.flatMap((pod) => reconnectsOf(pod, snapshot, now)),
    ...snapshot.pods.flatMap((pod) => evictionOf(pod, now)),
    ...(runsOf === undefined ? [] : recentRuns(objects, runsOf, name, now)),
  ];
}

/** Helm keeps no reason in the label of a record, so its history tells it. */
function failedRevision(
  {lastFailure, status}: Partial<Revision> = {},
  {release, kubeTarget}: ReleaseName,
  now: Date,
): ObjectFinding[] {
  if (lastFailure === undefined || status === 'failed' || !isRecent(lastFailure.at, now)) return [];
  const {namespace} = kubeTarget;
  return [
    objectFinding('warning', `release/${release}`, 'REVISION_FAILED', {
      message: `revision ${lastFailure.revision} failed at ${clockTime(lastFailure.at)}; a later one is in use`,
      remedy: `Show the reason: ${helmCommand(kubeTarget, 'history', release, '--namespace', namespace)}`,
    }),
  ];
}

/** Fewer can have any reason. */
const MANY_RECONNECTS = 3;

function reconnectsOf(pod: Pod, {logs}: Snapshot, now: Date): ObjectFinding[] {
  const times = containersOf(pod)
    .flatMap(({name}) => reconnectTimes(logs[`${pod.metadata.name}/${name}`] ?? ''))
    .filter((time) => isRecent(time, now));
  if (times.length < MANY_RECONNECTS) return [];
  return [
    objectFinding('warning', objectLabel(pod), 'AGENT_RECONNECTS', {
      message: `reconnected ${times.length} times, the last time at ${clockTime(times.at(-1))}`,
      remedy:
        'Check what closes the connection to Scalr: idle timeouts of proxies, firewalls and NAT gateways, and rotation of nodes',
    }),
  ];
}

function restartsOf(pod: Pod, {kubeTarget}: ReleaseName, now: Date): ObjectFinding[] {
  if (isTerminating(pod)) return [];
  return containersOf(pod).flatMap((container) => {
    const {name, restartCount = 0, lastState} = container;
    const end = lastState?.terminated;
    if (end === undefined || !isRecent(end.finishedAt, now) || restartCount === 0) return [];
    const isMemory = end.reason === 'OOMKilled';
    const times = restartCount === 1 ? 'once' : `${restartCount} times`;
    const message = `container ${name} restarted ${times}, the last time at ${clockTime(end.finishedAt)}: ${end.reason ?? 'exited'}${limitText(container)} (exit code ${end.exitCode ?? 'unknown'})`;
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

/** The same text as long as nothing happens, as `--watch` prints each change. */
const clockTime = (time = ''): string => `${new Date(time).toISOString().slice(11, 19)}Z`;

function limitText({spec, lastState}: ContainerStatus & {spec: Container | undefined}): string {
  const limit = spec?.resources?.limits?.['memory'];
  const isMemory = lastState?.terminated?.reason === 'OOMKilled';
  return isMemory && limit !== undefined ? ` at ${limit}` : '';
}

function evictionOf(pod: Pod, now: Date): ObjectFinding[] {
  const {reason, message = ''} = pod.status ?? {};
  if (reason !== 'Evicted' || !isRecent(startOf(pod), now)) return [];
  return [
    objectFinding('warning', objectLabel(pod), 'EVICTED', {
      message: oneLine(`evicted: ${message}`),
      remedy: evictionRemedy(message),
    }),
  ];
}
