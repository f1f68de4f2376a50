import {explainSnapshot} from '../../checks/diagnose/explain.ts';
import type {LogRecord} from '../../checks/diagnose/log-matcher.ts';
import {mergeFindings} from '../../checks/diagnose/merge-findings.ts';
import {containerCauses, evictionRemedy, memoryRemedy} from '../../checks/diagnose/pod-causes.ts';
import {containersOf, isContainerUnhealthy} from '../../checks/diagnose/pod-state.ts';
import {rootOf} from '../../checks/diagnose/snapshot-queries.ts';
import type {LiveDrift} from '../../cluster/diff/live-drift.ts';
import type {
  Claim,
  ContainerStatus,
  Event,
  KubernetesObject,
  Pod,
  Workload,
} from '../../cluster/kubernetes/objects.ts';
import type {Snapshot} from '../../cluster/kubernetes/snapshot.ts';
import {type ClusterTarget, kubectlCommand} from '../../ground/command-line.ts';
import {type Evidence, type ObjectFinding, remediesOf} from '../../ground/finding.ts';
import {findingsInLogs, matchesInPods} from './pod-log-findings.ts';
import {type BundlePositions, innermostMessage} from './positions.ts';

interface BundledCluster {
  objects: readonly KubernetesObject[];
  /** Where the commands of the remedies run. */
  kubeTarget?: ClusterTarget | undefined;
  logs: readonly LogRecord[];
  places: BundlePositions;
  /** Replicas of each Deployment according to the releases. */
  replicas?: LiveDrift['replicas'];
  now: Date;
}

const WORKLOADS = ['Deployment', 'DaemonSet', 'ReplicaSet', 'Job'];

/** Causes of unhealthy agents and runs, restarts, and further findings in their logs. Pure. */
export function clusterFindings(bundled: BundledCluster): ObjectFinding[] {
  const {logs, places, replicas = {}, now} = bundled;
  const snapshot = snapshotIn(bundled);
  const {pods} = snapshot;
  const matches = matchesInPods(pods, logs);
  const causes = explainSnapshot(snapshot, now);
  const causesOf = (pod: Pod): ObjectFinding[] =>
    causes.filter(({subject}) => subject.object === `pod/${pod.metadata.name}`);
  const podOf = ({subject}: ObjectFinding): Pod | undefined =>
    pods.find(({metadata}) => subject.object === `pod/${metadata.name}`);
  const positionOf = (cause: ObjectFinding): Evidence | undefined => {
    const pod = podOf(cause);
    const match = matches.find((each) => each.pod === pod && each.meaning === cause.code);
    return match ? {file: match.file, line: match.line} : positionOfCause(cause, pod, places);
  };
  const reported = causes.map((cause) => {
    const pod = podOf(cause);
    return {code: cause.code, root: pod && rootOf(snapshot, pod)};
  });
  const isReported = (pod: Pod, code: string): boolean =>
    reported.some((each) => each.code === code && each.root === rootOf(snapshot, pod));
  const hasEnded = (pod: Pod): boolean => causesOf(pod).some(({code}) => OF_CONTAINERS.has(code));
  return [
    ...causes.map((cause) => ({...cause, evidence: positionOf(cause)})),
    ...restarts(
      pods.filter((pod) => !hasEnded(pod)),
      snapshot,
      places,
    ),
    ...findingsWithoutCause(
      snapshot,
      pods.filter((pod) => causesOf(pod).length === 0),
      places,
      replicas,
    ),
    ...findingsInLogs(matches, snapshot, isReported),
  ];
}

function snapshotIn({objects, logs, kubeTarget}: BundledCluster): Snapshot {
  const ofKind = <T extends KubernetesObject>(...kinds: string[]): T[] =>
    objects.filter(({kind = ''}) => kinds.includes(kind)) as T[];
  const pods = ofKind<Pod>('Pod');
  const namespace = objects.find(({metadata}) => metadata.namespace)?.metadata.namespace ?? '';
  return {
    kubeTarget: kubeTarget ?? {namespace},
    workloads: ofKind<Workload>(...WORKLOADS),
    pods,
    claims: ofKind<Claim>('PersistentVolumeClaim'),
    events: ofKind<Event>('Event'),
    logs: logTails(pods, logs),
  };
}

/** Where the bundle shows a cause that no log line shows. */
function positionOfCause(
  {subject, code, message}: ObjectFinding,
  pod: Pod | undefined,
  places: BundlePositions,
): Evidence | undefined {
  const [prefix = '', name = ''] = subject.object.split('/');
  const kind = KINDS[prefix] ?? prefix;
  const searchText = JSON.stringify(innermostMessage(message)).slice(1, -1);
  return (
    (pod && OF_CONTAINERS.has(code) ? positionOfEnd(pod, code, places) : undefined) ??
    places.inEvents(kind, name, message) ??
    places.inObject(kind, name, searchText)
  );
}

const KINDS: Readonly<Record<string, string>> = {pvc: 'persistentvolumeclaim'};

const OF_CONTAINERS: ReadonlySet<string> = new Set(
  containerCauses.flatMap(({rows}) => rows.map(({code}) => code)),
);

/** Memory errors are in the status of the pod; all others are in the last log lines of the container. */
function positionOfEnd(pod: Pod, code: string, places: BundlePositions): Evidence | undefined {
  const {name} = pod.metadata;
  const ended = containersOf(pod).find(
    (each) =>
      isContainerUnhealthy(each) &&
      (each.state?.terminated ?? each.lastState?.terminated ?? each.state?.waiting),
  );
  return code === 'OOM_KILLED' || ended === undefined
    ? places.inObject('pod', name, '"reason": "OOMKilled"')
    : places.inLastWords(name, ended.name);
}

/**
 * Last log lines of containers, without timestamps of the kubelet; for a stopped container, those before its exit.
 * Computed on access, because few of many containers are used.
 */
function logTails(pods: readonly Pod[], logs: readonly LogRecord[]): Snapshot['logs'] {
  const tails = new Map(logs.map(({file, tail}) => [file, tail]));
  const lastLines: Record<string, string> = {};
  for (const pod of pods) {
    for (const {name, state} of containersOf(pod)) {
      const [current, previous] = ['log', 'previous.log'].map((end) =>
        tails.get(`logs/${pod.metadata.name}/${name}.${end}`),
      );
      const tail = state?.running ? current : (previous ?? current);
      if (tail !== undefined)
        Object.defineProperty(lastLines, `${pod.metadata.name}/${name}`, {
          get: () => tail.replaceAll(TIME, ''),
        });
    }
  }
  return lastLines;
}

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d) /gm;

/** A ready pod with earlier restarts. */
const restarts = (
  pods: readonly Pod[],
  snapshot: Snapshot,
  places: BundlePositions,
): ObjectFinding[] =>
  mergeFindings(
    pods.flatMap((pod) =>
      containersOf(pod).flatMap((container) => {
        const finding = restartOf(pod, container, places);
        const key = [rootOf(snapshot, pod).metadata.name, container.name, finding?.code].join('/');
        return finding === undefined ? [] : [{key, finding}];
      }),
    ),
  );

function restartOf(
  {metadata: {name: pod}}: Pod,
  container: ContainerStatus,
  places: BundlePositions,
): ObjectFinding | undefined {
  const {name, restartCount = 0, lastState} = container;
  const ended = lastState?.terminated;
  if (restartCount === 0 || ended === undefined) return undefined;
  const isMemory = ended.reason === 'OOMKilled';
  const inObject = places.inObject('pod', pod, `"reason": ${JSON.stringify(ended.reason ?? '')}`);
  return {
    code: isMemory ? 'OOM_KILLED' : 'RESTARTED',
    verdict: 'warning',
    subject: {object: `pod/${pod}`},
    message: `container ${name} restarted ${restartCount === 1 ? 'once' : `${restartCount} times`}: ${ended.reason ?? 'exited'} (exit code ${ended.exitCode ?? 'unknown'}${ended.finishedAt ? `, ${ended.finishedAt}` : ''})`,
    evidence: (isMemory ? inObject : undefined) ?? places.inLastWords(pod, name) ?? inObject,
    remedies: remediesOf(
      isMemory ? memoryRemedy(name) : 'Check the last log lines before the exit',
    ),
  };
}

/** Problems that do not affect readiness: agents scaled to 0, and evicted pods that were replaced. */
const findingsWithoutCause = (
  snapshot: Snapshot,
  pods: readonly Pod[],
  places: BundlePositions,
  replicas: LiveDrift['replicas'],
): ObjectFinding[] => [
  ...snapshot.workloads
    .filter(({kind, spec}) => kind === 'Deployment' && spec?.replicas === 0)
    .map((each) => scaledToZero(each, snapshot, places, replicas)),
  ...mergeFindings(
    pods
      .filter(({status}) => status?.reason === 'Evicted')
      .map((pod) => ({key: rootOf(snapshot, pod).metadata.name, finding: evicted(pod, places)})),
  ),
];

const scaledToZero = (
  {metadata: {name, namespace = ''}}: Workload,
  {kubeTarget}: Snapshot,
  places: BundlePositions,
  replicas: LiveDrift['replicas'],
): ObjectFinding => ({
  code: 'SCALED_TO_ZERO',
  verdict: 'warning',
  subject: {object: `deployment/${name}`},
  message: 'scaled to 0 replicas, so it has no pods',
  evidence: places.inObject('deployment', name, '"replicas": 0'),
  remedies: remediesOf(
    `If this is not intended: ${kubectlCommand(kubeTarget, 'scale', 'deployment', name, `--replicas=${replicas[name] ?? 1}`, '--namespace', namespace)}`,
  ),
});

const evicted = ({metadata: {name}, status}: Pod, places: BundlePositions): ObjectFinding => ({
  code: 'EVICTED',
  verdict: 'warning',
  subject: {object: `pod/${name}`},
  message: `evicted: ${status?.message ?? 'no reason given'}`,
  evidence: places.inObject('pod', name, '"reason": "Evicted"'),
  remedies: remediesOf(evictionRemedy(status?.message ?? '')),
});
