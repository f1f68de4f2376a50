import type {ContainerState, Event, Pod} from '../../cluster/kubernetes/objects.ts';
import type {Snapshot} from '../../cluster/kubernetes/snapshot.ts';
import {oneLine} from '../../ground/one-line.ts';
import {lastLogLine} from './agent-log.ts';
import {type CauseTable, describe, readLog, type Symptom, singleCause, unwrap} from './cause.ts';
import {eventsOf, firstTimeOf, timeOf} from './events.ts';
import {
  type ContainerView,
  condition,
  containersOf,
  isContainerUnhealthy,
  isTerminating,
  unhealthySince,
} from './pod-state.ts';
import {unhealthyPods} from './rollout.ts';
import {codeOfRun} from './run-lines.ts';
import {rootOf} from './snapshot-queries.ts';

interface BrokenContainer {
  pod: Pod;
  container: ContainerView;
  /** Last termination, even while the container waits for its restart. */
  end: NonNullable<ContainerState['terminated']> | undefined;
  /** All messages about the termination; the last one is from the container log. */
  messages: readonly string[];
  lastLine: string | undefined;
}

function brokenContainers(snapshot: Snapshot): BrokenContainer[] {
  return unhealthyPods(snapshot).flatMap((pod) =>
    containersOf(pod)
      .filter(isContainerUnhealthy)
      .map((container) => {
        const {state, lastState, name} = container;
        const end = state?.terminated ?? lastState?.terminated;
        const lastLine = lastLogLine(snapshot.logs[`${pod.metadata.name}/${name}`]);
        const messages = [state?.waiting?.message, end?.message, lastLine].filter(
          (each) => each !== undefined,
        );
        return {pod, container, end, messages, lastLine};
      }),
  );
}

function notStarted({pod, container: {name}}: BrokenContainer, text: string): Symptom {
  // Runtimes report all their layers; the innermost one has the reason. The kubelet adds its back-off.
  const shortened =
    /(exec:? "[^"]*":.*|exec \S+: exec format error)/.exec(text)?.[0] ??
    unwrap(text.replace(/back-off \S+ restarting failed container\S* \S+\s?/g, ''));
  return {
    object: pod,
    text,
    reason: oneLine(`container ${name} failed to start: ${shortened}`),
    since: unhealthySince(pod),
  };
}

/** After back-off times of 10, 20 and 40 seconds, temporary problems are over. */
const MIN_RESTARTS = 3;

const isRestartedEnough = ({restartCount = 0}: ContainerView): true | undefined =>
  restartCount >= MIN_RESTARTS ? true : undefined;

/** Containers that the charts name after what runs in them. In agent-k8s, controller and workers have one name. */
export function memoryRemedy(container: string): string {
  if (container === 'controller') return 'Raise the memory limit: --controller-memory-limit';
  if (container === 'agent-k8s')
    return 'Raise the memory limit: --run-memory-limit for runs, --controller-memory-limit for the controller';
  return 'Raise the memory limit: --run-memory-limit';
}

/** Causes of terminated containers and of containers that failed to start. */
export const containerCauses: readonly CauseTable[] = [
  {
    symptoms: (snapshot) =>
      brokenContainers(snapshot).flatMap((broken) =>
        broken.messages.map((text) => notStarted(broken, text)),
      ),
    textIn: (line) =>
      /OCI runtime|\bexec(?:-loop)?\b/.test(line) && codeOfRun(line) === undefined
        ? line
        : undefined,
    rows: [
      // Waiting changes neither the image nor the cluster version.
      {
        code: 'WRONG_ARCHITECTURE',
        pattern: /exec format error/,
        permanentAfter: 0,
        remedy:
          'The image does not support the node architecture: select nodes with --node-selector kubernetes.io/arch=amd64, or use another image',
      },
      {
        code: 'IMAGE_VOLUMES_UNSUPPORTED',
        pattern: /exec-loop.*no such file/,
        permanentAfter: 0,
        remedy:
          'This chart mounts images as volumes, which requires Kubernetes 1.35: upgrade the cluster, or use an older chart version (--chart-version)',
      },
      {
        code: 'COMMAND_NOT_FOUND',
        pattern: /executable file not found|exec: .*no such file/,
        permanentAfter: 30,
        remedy: 'The image does not contain the program: check --agent-image',
      },
    ],
  },
  singleCause({
    code: 'OOM_KILLED',
    remedy: 'Raise the memory limit of the container',
    textIn: (line) => (/\bOOM-killed\b|'oom-kill'/i.test(line) ? line : undefined),
    symptoms: (snapshot) =>
      brokenContainers(snapshot)
        .filter(({end}) => end?.reason === 'OOMKilled')
        .map(({pod, container}) => {
          const limit = container.spec?.resources?.limits?.['memory'];
          const text =
            limit === undefined ? 'ran out of memory' : `exceeded its memory limit of ${limit}`;
          const reason = `OOMKilled: container ${container.name} ${text}`;
          return {
            object: pod,
            reason,
            since: unhealthySince(pod),
            isPermanent: isRestartedEnough(container),
            remedies: [memoryRemedy(container.name)],
          };
        }),
  }),
  singleCause({
    code: 'START_FAILED',
    permanentAfter: 60,
    remedy: 'Fix the error reported by the container runtime',
    symptoms: (snapshot) =>
      brokenContainers(snapshot)
        .filter(
          ({container: {state}, end}) =>
            state?.waiting?.reason === 'RunContainerError' ||
            /StartError|ContainerCannotRun/.test(end?.reason ?? ''),
        )
        .map((broken) => {
          const text = broken.messages.join(' ');
          const isOfMemory = /OOM-killed/.test(text);
          const remedies = isOfMemory ? [memoryRemedy(broken.container.name)] : undefined;
          return {...notStarted(broken, text), remedies};
        }),
  }),
  singleCause({
    code: 'CRASH_LOOP',
    remedy: 'Fix the error in the log',
    kubectlArgs: readLog('--previous'),
    symptoms: (snapshot) =>
      brokenContainers(snapshot)
        .filter(({pod, container: {state}, end}) => {
          const isBetweenTries = state?.waiting?.reason === 'CrashLoopBackOff';
          return pod.status?.phase !== 'Failed' && (isBetweenTries || (end?.exitCode ?? 0) !== 0);
        })
        .map(({pod, container, end, lastLine}) => ({
          object: pod,
          container: container.name,
          reason: oneLine(
            `CrashLoopBackOff: container ${container.name} exited with code ${end?.exitCode ?? '?'}${lastLine ? `: ${lastLine}` : ''}`,
          ),
          since: unhealthySince(pod),
          isPermanent: isRestartedEnough(container),
        })),
  }),
];

/** A failed probe of the current container instance. */
function probeFailure(snapshot: Snapshot, pod: Pod): {event: Event; container: string} | undefined {
  const event = eventsOf(snapshot, pod, ['Unhealthy', 'ProbeWarning']).at(-1);
  const failing = containersOf(pod).find(
    (each) =>
      isContainerUnhealthy(each) &&
      each.state?.running &&
      event &&
      timeOf(event) >= (each.state.running.startedAt ?? ''),
  );
  return event && failing ? {event, container: failing.name} : undefined;
}

/** Three evictions of one workload: it is evicted from every node. */
const MIN_EVICTIONS = 3;
const RECENT_MS = 10 * 60_000;

/** Evicted pods whose workload is not stable: between two evictions, it can look ready. */
function evictions(snapshot: Snapshot, now: Date): {pod: Pod; alike: number}[] {
  const evicted = snapshot.pods.filter(
    (pod) => pod.status?.reason === 'Evicted' && !isTerminating(pod),
  );
  const recent = evicted.filter(
    (pod) => now.getTime() - Date.parse(unhealthySince(pod) ?? '') < RECENT_MS,
  );
  const troubled = unhealthyPods(snapshot);
  return evicted.flatMap((pod) => {
    const alike = recent.filter((other) => rootOf(snapshot, other) === rootOf(snapshot, pod));
    return troubled.includes(pod) || (alike.length > 1 && alike.includes(pod))
      ? [{pod, alike: alike.length}]
      : [];
  });
}

/** A pod can also exceed a limit of its own, which no other node changes. */
export function evictionRemedy(message: string): string {
  if (/EmptyDir volume "[^"]*cache[^"]*" exceeds/.test(message))
    return 'The cache exceeded its size: increase --cache-size, or use a PVC with --cache pvc';
  if (/EmptyDir volume "[^"]*" exceeds/.test(message))
    return 'The data of the agent exceeded its volume: increase --data-size';
  return /ephemeral local storage usage exceeds|exceeded? its? local ephemeral storage limit/.test(
    message,
  )
    ? 'The pod exceeded its limit of ephemeral storage: increase resources.limits.ephemeral-storage'
    : 'The node ran out of this resource: add or enlarge nodes, or set requests close to the actual usage';
}

/** Message of a failed pod, or of its container if that has more information. */
function failureText(snapshot: Snapshot, {metadata, status, ...pod}: Pod): string {
  if (status?.message) return `${status.reason ?? 'Failed'}: ${status.message}`;
  const broken = containersOf({metadata, status: status ?? {}, ...pod}).find(
    ({state}) => (state?.terminated?.exitCode ?? 0) !== 0,
  );
  const line = broken && lastLogLine(snapshot.logs[`${metadata.name}/${broken.name}`]);
  return broken
    ? `container ${broken.name} exited with code ${broken.state?.terminated?.exitCode}${line ? `: ${line}` : ''}`
    : (status?.reason ?? 'Failed');
}

export const podCauses: readonly CauseTable[] = [
  singleCause({
    code: 'EVICTED',
    remedy: evictionRemedy(''),
    textIn: (line) =>
      /Usage of EmptyDir volume|ephemeral (?:local )?storage (?:usage exceeds|limit)|node was low on resource/.test(
        line,
      )
        ? line
        : undefined,
    symptoms: (snapshot, now) =>
      evictions(snapshot, now).map(({pod, alike}) => ({
        object: pod,
        remedies: [evictionRemedy(pod.status?.message ?? '')],
        reason: oneLine(`Evicted: ${pod.status?.message ?? ''}`),
        isPermanent: alike >= MIN_EVICTIONS ? true : undefined,
      })),
  }),
  singleCause({
    // Clouds repair or replace nodes automatically.
    code: 'NODE_LOST',
    remedy: 'Check the conditions of the node',
    kubectlArgs: ({object}) => ['describe', 'node', (object as Pod).spec?.nodeName ?? ''],
    symptoms: (snapshot) =>
      unhealthyPods(snapshot)
        .filter((pod) => {
          const ready = condition(pod, 'Ready');
          const lost = eventsOf(snapshot, pod, ['NodeNotReady']).at(-1);
          return (
            pod.status?.reason === 'NodeLost' ||
            ready?.status === 'Unknown' ||
            (lost && timeOf(lost) >= (ready?.lastTransitionTime ?? ''))
          );
        })
        .map((pod) => ({
          object: pod,
          reason: `node ${pod.spec?.nodeName} is not ready, so the state of the pod is unknown`,
        })),
  }),
  singleCause({
    // A new pod replaces it, and the workload reports when Kubernetes stops retrying.
    code: 'POD_FAILED',
    remedy: 'Check the state and the events of the pod',
    kubectlArgs: describe('pod'),
    symptoms: (snapshot) =>
      unhealthyPods(snapshot)
        .filter((pod) => pod.status?.phase === 'Failed')
        .map((pod) => ({object: pod, reason: oneLine(failureText(snapshot, pod))})),
  }),
  singleCause({
    // Programs that start slowly fail their probes for a while.
    code: 'PROBE_FAILING',
    permanentAfter: 180,
    remedy: 'The container is running but not healthy. Check its log',
    kubectlArgs: readLog(),
    textIn: (line) =>
      /\b(?:Readiness|Liveness|Startup) probe \w+ed\b|\bfailed (?:liveness|startup) probe\b/.test(
        line,
      )
        ? line
        : undefined,
    symptoms: (snapshot) =>
      unhealthyPods(snapshot).flatMap((pod) => {
        const {event, container} = probeFailure(snapshot, pod) ?? {};
        return event
          ? [
              {
                object: pod,
                container,
                reason: oneLine(event.message ?? 'a probe failed'),
                since: firstTimeOf(event),
              },
            ]
          : [];
      }),
  }),
  singleCause({
    code: 'INIT_STUCK',
    normalFor: 10,
    remedy: 'Check the log of the init container',
    kubectlArgs: readLog(),
    symptoms: (snapshot) =>
      unhealthyPods(snapshot).flatMap((pod) =>
        containersOf(pod)
          .filter(
            ({isInit, spec, state}) => isInit && spec?.restartPolicy !== 'Always' && state?.running,
          )
          .map(({name, state}) => ({
            object: pod,
            container: name,
            reason: `init container ${name} is still running; other containers wait for it`,
            since: state?.running?.startedAt,
          })),
      ),
  }),
  singleCause({
    code: 'CONTAINER_WAITING',
    remedy: 'Check the state and the events of the pod',
    kubectlArgs: describe('pod'),
    symptoms: (snapshot) =>
      unhealthyPods(snapshot).flatMap((pod) =>
        containersOf(pod).flatMap(({state}) => {
          const {reason = 'PodInitializing', message = ''} = state?.waiting ?? {};
          const isUsual = ['ContainerCreating', 'PodInitializing'].includes(reason);
          return isUsual ? [] : [{object: pod, reason: oneLine(`${reason}: ${message}`)}];
        }),
      ),
  }),
  singleCause({
    code: 'POD_NOT_READY',
    normalFor: 30,
    remedy: 'Check the state and the events of the pod',
    kubectlArgs: describe('pod'),
    symptoms: (snapshot) =>
      unhealthyPods(snapshot)
        .filter((pod) => pod.spec?.nodeName !== undefined)
        .map((pod) => {
          const doing = eventsOf(snapshot, pod).at(-1);
          const waiting = containersOf(pod)
            .filter(isContainerUnhealthy)
            .map(({name}) => name);
          const names = waiting.length > 0 ? `not ready: ${waiting.join(', ')}` : 'not ready';
          return {
            object: pod,
            reason: oneLine(doing?.message ? `${names}; last event: ${doing.message}` : names),
            since: unhealthySince(pod),
          };
        }),
  }),
];
