import type {ContainerState, Pod, Snapshot} from '../kubernetes/objects.ts';
import {lastLogLine} from './agent-log.ts';
import {type CauseTable, oneLine, readLog, type Symptom, singleCause, unwrap} from './cause.ts';
import {
  type ContainerView,
  containersOf,
  eventsOf,
  firstTimeOf,
  isBeingCreated,
  isContainerTroubled,
  troubledPods,
  troubleSince,
} from './snapshot-queries.ts';

const FAILURES = ['FailedMount', 'FailedMapVolume', 'FailedAttachVolume', 'FailedCreatePodSandBox'];
/** Each of these events shows that an earlier failure is resolved. */
const SUCCESSES = ['SuccessfulAttachVolume', 'Pulling', 'Pulled', 'Created', 'Started'];

/** Failures before a container starts, from its status or from events of its pod. */
const startFailures = (snapshot: Snapshot): Symptom[] =>
  troubledPods(snapshot).flatMap((pod) => [...failuresInStatus(pod), ...failureInEvents(snapshot, pod)]);

const failuresInStatus = (pod: Pod): Symptom[] =>
  containersOf(pod).flatMap(({state}) => {
    const {reason = '', message = ''} = state?.waiting ?? {};
    return ['CreateContainerConfigError', 'CreateContainerError'].includes(reason)
      ? [startFailure(pod, reason, message, troubleSince(pod))]
      : [];
  });

function failureInEvents(snapshot: Snapshot, pod: Pod): Symptom[] {
  if (!isBeingCreated(pod)) return [];
  const newest = eventsOf(snapshot, pod, [...FAILURES, ...SUCCESSES]).at(-1);
  if (newest === undefined || !FAILURES.includes(newest.reason ?? '')) return [];
  // "Unable to attach or mount volumes" is only a summary; an earlier event can have the reason.
  const telling = /timed out waiting/.test(newest.message ?? '')
    ? eventsOf(snapshot, pod, FAILURES).findLast(({message = ''}) => !/timed out waiting/.test(message))
    : undefined;
  const {reason = newest.reason, message = newest.message} = telling ?? newest;
  return [startFailure(pod, reason ?? '', message ?? '', firstTimeOf(telling ?? newest))];
}

function startFailure(pod: Pod, reason: string, message: string, since: string | undefined): Symptom {
  const text = `${reason}: ${unwrap(message)}`;
  return {object: pod, text, reason: oneLine(text), since};
}

/** A secrets operator or a second apply can still create missing objects within this time. */
const CREATION_DELAY_SECONDS = 60;

export const startCauses: CauseTable = {
  symptoms: startFailures,
  rows: [
    {
      code: 'KEY_NOT_FOUND',
      pattern: /couldn't find key|references non-existent (secret|config) key/,
      hopelessAfter: CREATION_DELAY_SECONDS,
      remedy: 'Add the key to the Secret, or set the existing key: --token-secret-key, --ca-secret-key',
    },
    {
      code: 'SECRET_NOT_FOUND',
      pattern: /secrets? "[^"]+" not found/i,
      hopelessAfter: CREATION_DELAY_SECONDS,
      remedy: 'Create the Secret in the release namespace, or correct its name: --token-secret, --ca-secret, --client-cert-secret',
    },
    {
      code: 'CONFIG_MAP_NOT_FOUND',
      pattern: /configmaps? "[^"]+" not found/i,
      hopelessAfter: CREATION_DELAY_SECONDS,
      remedy: 'Create the ConfigMap in the release namespace, or remove it from the values',
    },
    {
      // Image and security context contradict each other; only new values change that.
      code: 'RUNS_AS_ROOT',
      pattern: /runAsNonRoot|non-numeric user/,
      hopelessAfter: 0,
      remedy: 'Set runAsUser in the security context to a number other than 0',
    },
    {
      code: 'HOST_PATH_UNUSABLE',
      pattern: /hostPath type check failed|mkdir .*(read-only|permission denied)/i,
      hopelessAfter: CREATION_DELAY_SECONDS,
      remedy: 'Prepare the directory on the node, or set another one: --data-home, --cache-path',
    },
    {
      // In a rolling update, the old pod may still terminate; detaching from a lost node takes six minutes.
      code: 'VOLUME_IN_USE',
      pattern: /Multi-Attach|already (exclusively )?attached|already used by/i,
      remedy:
        'The volume is attached to another node: delete the pod that uses it, or use ReadWriteMany (--cache-storage-class, --cache-access-mode)',
    },
    {code: 'ATTACH_FAILED', pattern: /^FailedAttachVolume: /, hopelessAfter: 120, remedy: 'Fix the error reported by the storage driver'},
    {code: 'MOUNT_FAILED', pattern: /^Failed(Mount|MapVolume): /, hopelessAfter: 120, remedy: 'Fix the volume error reported by the node'},
    {
      code: 'SANDBOX_FAILED',
      pattern: /^FailedCreatePodSandBox: /,
      hopelessAfter: 120,
      remedy: 'Check the network plugin and the container runtime of the node, and their logs',
    },
    {
      code: 'CONTAINER_CONFIG',
      pattern: /^CreateContainerConfigError: /,
      hopelessAfter: CREATION_DELAY_SECONDS,
      remedy: 'Correct the configuration of the container',
    },
    {
      code: 'CREATE_CONTAINER_FAILED',
      pattern: /^CreateContainerError: /,
      hopelessAfter: CREATION_DELAY_SECONDS,
      remedy: 'Fix the error reported by the container runtime',
    },
  ],
};

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
  return troubledPods(snapshot).flatMap((pod) =>
    containersOf(pod)
      .filter(isContainerTroubled)
      .map((container) => {
        const {state, lastState, name} = container;
        const end = state?.terminated ?? lastState?.terminated;
        const lastLine = lastLogLine(snapshot.logs[`${pod.metadata.name}/${name}`]);
        const messages = [state?.waiting?.message, end?.message, lastLine].filter((each) => each !== undefined);
        return {pod, container, end, messages, lastLine};
      }),
  );
}

const notStarted = ({pod, container: {name}}: BrokenContainer, text: string): Symptom => ({
  object: pod,
  text,
  reason: oneLine(`container ${name} failed to start: ${shortened(text)}`),
  since: troubleSince(pod),
});

/** Runtimes report all their layers; the innermost one has the reason. */
const shortened = (message: string): string => /(exec:? "[^"]*":.*|exec \S+: exec format error)/.exec(message)?.[0] ?? unwrap(message);

/** After back-off times of 10, 20 and 40 seconds, temporary problems are over. */
const MIN_RESTARTS = 3;

const isRestartedEnough = ({restartCount = 0}: ContainerView): true | undefined => (restartCount >= MIN_RESTARTS ? true : undefined);

function memoryReason({name, spec}: ContainerView): string {
  const limit = spec?.resources?.limits?.['memory'];
  return `OOMKilled: container ${name} ${limit === undefined ? 'ran out of memory' : `exceeded its memory limit of ${limit}`}`;
}

/** Causes of terminated containers and of containers that failed to start. */
export const containerCauses: readonly CauseTable[] = [
  {
    symptoms: (snapshot) => brokenContainers(snapshot).flatMap((broken) => broken.messages.map((text) => notStarted(broken, text))),
    rows: [
      // Waiting changes neither the image nor the cluster version.
      {
        code: 'WRONG_ARCHITECTURE',
        pattern: /exec format error/,
        hopelessAfter: 0,
        remedy:
          'The image does not support the node architecture: select nodes with --node-selector kubernetes.io/arch=amd64, or use another image',
      },
      {
        code: 'IMAGE_VOLUMES_UNSUPPORTED',
        pattern: /exec-loop.*no such file/,
        hopelessAfter: 0,
        remedy:
          'This chart mounts images as volumes, which requires Kubernetes 1.35: upgrade the cluster, or use an older chart version (--chart-version)',
      },
      {
        code: 'COMMAND_NOT_FOUND',
        pattern: /executable file not found|exec: .*no such file/,
        hopelessAfter: 30,
        remedy: 'The image does not contain the program: check --agent-image',
      },
    ],
  },
  singleCause({
    code: 'OOM_KILLED',
    remedy: 'Raise the memory limit of the container',
    symptoms: (snapshot) =>
      brokenContainers(snapshot)
        .filter(({end}) => end?.reason === 'OOMKilled')
        .map(({pod, container}) => ({
          object: pod,
          reason: memoryReason(container),
          since: troubleSince(pod),
          isPermanent: isRestartedEnough(container),
        })),
  }),
  singleCause({
    code: 'START_FAILED',
    hopelessAfter: 60,
    remedy: 'Fix the error reported by the container runtime',
    symptoms: (snapshot) =>
      brokenContainers(snapshot)
        .filter(
          ({container: {state}, end}) =>
            state?.waiting?.reason === 'RunContainerError' || /StartError|ContainerCannotRun/.test(end?.reason ?? ''),
        )
        .map((broken) => notStarted(broken, broken.messages.join(' '))),
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
          since: troubleSince(pod),
          isPermanent: isRestartedEnough(container),
        })),
  }),
];
