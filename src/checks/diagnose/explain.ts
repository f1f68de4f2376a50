import type {Condition, KubernetesObject, Pod, Workload} from '../../cluster/kubernetes/objects.ts';
import type {Snapshot} from '../../cluster/kubernetes/snapshot.ts';
import {byVerdict, type ObjectFinding, remediesOf} from '../../ground/finding.ts';
import {oneLine} from '../../ground/one-line.ts';
import {count, groupsOf} from '../../ground/text.ts';
import {agentLogCauses, registered} from './agent-log.ts';
import {
  type CauseRow,
  type CauseTable,
  describe,
  remedyOf,
  type Symptom,
  singleCause,
  unwrap,
} from './cause.ts';
import {eventsOf, firstTimeOf} from './events.ts';
import {containerCauses, podCauses} from './pod-causes.ts';
import {claimsOf, condition, isBeingCreated, isPodReady, isTerminating} from './pod-state.ts';
import {countText, isObserved, isRootReady, isSuperseded, replicaCount} from './rollout.ts';
import {claimCauses, schedulingCauses} from './scheduling-causes.ts';
import {objectLabel, ownerOf, podsOf, rootOf, rootsOf} from './snapshot-queries.ts';
import {imageCauses, startCauses} from './start-causes.ts';

/** Workloads whose pods are rejected by admission. */
const refusedPods = (snapshot: Snapshot): Symptom[] =>
  snapshot.workloads
    .filter((each) => !isTerminating(each))
    .flatMap((workload) => {
      const {message, since} = refusalOf(snapshot, workload) ?? {};
      if (message === undefined) return [];
      const text = unwrap(message);
      return [{object: workload, text, reason: oneLine(`FailedCreate: ${text}`), since}];
    });

function refusalOf(
  snapshot: Snapshot,
  workload: Workload,
): {message: string; since: string | undefined} | undefined {
  const failure = condition(workload, 'ReplicaFailure');
  // The controller removes the condition itself. A Deployment gets it from its ReplicaSets.
  if (workload.kind === 'ReplicaSet' && workload.spec?.replicas !== 0 && failure?.status === 'True')
    return {message: failure.message ?? '', since: lastProgress(snapshot, workload, failure)};
  const progressing = condition(workload, 'Progressing');
  if (progressing?.reason === 'ReplicaSetCreateError')
    return {message: progressing.message ?? '', since: progressing.lastTransitionTime};
  if (!['DaemonSet', 'Job'].includes(workload.kind ?? '') || isRootReady(workload))
    return undefined;
  const event = eventsOf(snapshot, workload, ['FailedCreate']).at(-1);
  const pods = snapshot.pods.filter(
    (pod) => !isTerminating(pod) && ownerOf(snapshot, pod) === workload,
  );
  // Events are kept for an hour: if all pods exist, they were admitted later.
  if (event === undefined || pods.length >= Math.max(1, replicaCount(workload).desired))
    return undefined;
  return {message: event.message ?? '', since: firstTimeOf(event)};
}

/** A rolling update with a tight quota gets on as old pods end, although some new ones are refused until then. */
function lastProgress(
  snapshot: Snapshot,
  replicaSet: Workload,
  {lastTransitionTime = ''}: Condition,
): string | undefined {
  const deployment = ownerOf(snapshot, replicaSet);
  const progressing = deployment && condition(deployment, 'Progressing');
  return [lastTransitionTime, progressing?.lastUpdateTime ?? ''].toSorted().at(-1);
}

/** Admission rejects the same pod again; these times are for changes by others. */
const creationCauses: CauseTable = {
  symptoms: refusedPods,
  textIn: (line) =>
    /\bFailedCreate\b|Error creating: |pods "[^"]*" is forbidden: (?!User )|failed calling webhook|admission webhook .* denied|ValidatingAdmissionPolicy .* denied/.test(
      line,
    )
      ? unwrap(line.replace(/^.*?\bFailedCreate\b:?\s*/, ''))
      : undefined,
  rows: [
    {
      code: 'POD_SECURITY',
      pattern: /violates PodSecurity/,
      permanentAfter: 0,
      remedy:
        'Use a namespace with a less strict pod-security.kubernetes.io/enforce label, or settings that comply with it. agent-k8s always mounts a hostPath volume',
    },
    {
      code: 'OPENSHIFT_SCC',
      pattern: /security context constraint/,
      permanentAfter: 0,
      remedy: 'Grant the service account an SCC that allows the pod. List the SCCs',
      kubectlArgs: () => ['get', 'securitycontextconstraints'],
    },
    {
      code: 'LIMITS_REQUIRED',
      pattern: /failed quota/,
      permanentAfter: 0,
      remedy: 'The quota of the namespace requires requests and limits: set them',
    },
    {
      // Old pods of an upgrade release their quota, but the controller tries again later and later.
      code: 'QUOTA_EXCEEDED',
      pattern: /exceeded quota/,
      permanentAfter: 60,
      remedy: 'Raise the quota of the namespace, or request less. Show the usage',
      kubectlArgs: (_, namespace) => ['describe', 'quota', '--namespace', namespace],
    },
    {
      code: 'LIMIT_RANGE',
      pattern: /(maximum|minimum) \S+ usage per|limit to request ratio/,
      permanentAfter: 0,
      remedy: 'Keep requests and limits within the LimitRange of the namespace. Show its limits',
      kubectlArgs: (_, namespace) => ['describe', 'limitrange', '--namespace', namespace],
    },
    {
      code: 'SERVICE_ACCOUNT_NOT_FOUND',
      pattern: /service ?account "[^"]*" not found/,
      permanentAfter: 30,
      remedy: 'Create the service account, or correct --service-account-name',
    },
    {
      code: 'PRIORITY_CLASS_NOT_FOUND',
      pattern: /no PriorityClass/,
      permanentAfter: 30,
      remedy: 'Create the PriorityClass, or remove its name from the values',
    },
    {
      code: 'WEBHOOK_UNREACHABLE',
      pattern: /failed calling webhook|failed to call webhook/,
      permanentAfter: 120,
      remedy:
        'The admission webhook does not respond, so no pod can be created: check the pods of the webhook',
    },
    {
      code: 'ADMISSION_DENIED',
      pattern:
        /admission webhook .* denied|ValidatingAdmissionPolicy .* denied|denied the request|policy .*violat/i,
      permanentAfter: 0,
      remedy:
        'A cluster policy denies the pod: change the values to comply, or request an exception',
    },
    {
      code: 'FAILED_CREATE',
      pattern: /./,
      permanentAfter: 60,
      remedy: 'Fix the error reported by the API server',
    },
  ],
};

/** A workload without pods counts as ready, although nothing runs. */
export const NO_NODE_MATCHES = 'NO_NODE_MATCHES';

const workloadCauses: readonly CauseTable[] = [
  singleCause({
    // The Job controller creates no further pod.
    code: 'JOB_FAILED',
    permanentAfter: 0,
    isVague: true,
    remedy: 'Check the log, then run the Job again',
    textIn: (line) =>
      /BackoffLimitExceeded|reached the specified backoff limit|active longer than specified deadline/.test(
        line,
      )
        ? line
        : undefined,
    kubectlArgs: ({object}, namespace) => [
      'logs',
      `job/${object.metadata.name}`,
      '--all-containers',
      '--namespace',
      namespace,
    ],
    symptoms: ({workloads}) =>
      workloads.flatMap((job) => {
        const failed = job.kind === 'Job' ? condition(job, 'Failed') : undefined;
        return failed?.status === 'True'
          ? [{object: job, reason: oneLine(`${failed.reason}: ${failed.message}`)}]
          : [];
      }),
  }),
  singleCause({
    code: 'ROLLOUT_PAUSED',
    remedy: 'Continue the rollout',
    kubectlArgs: ({object}, namespace) => [
      'rollout',
      'resume',
      `deployment/${object.metadata.name}`,
      '--namespace',
      namespace,
    ],
    symptoms: ({workloads}) =>
      workloads
        .filter((each) => each.spec?.paused === true && !isRootReady(each))
        .map((each) => ({object: each, reason: 'the rollout is paused, so no new pod is created'})),
  }),
  singleCause({
    // Ten minutes without progress by default; kubectl rollout status also stops here.
    code: 'DEADLINE_EXCEEDED',
    permanentAfter: 0,
    isVague: true,
    remedy: 'Check the conditions and the events of the Deployment',
    kubectlArgs: describe('deployment'),
    textIn: (line) =>
      /ProgressDeadlineExceeded|has timed out progressing|exceeded its progress deadline/.test(line)
        ? line
        : undefined,
    symptoms: ({workloads}) =>
      workloads.flatMap((workload) => {
        const {reason, message = ''} = condition(workload, 'Progressing') ?? {};
        return workload.kind === 'Deployment' && reason === 'ProgressDeadlineExceeded'
          ? [{object: workload, reason: oneLine(`${reason}: ${message}`)}]
          : [];
      }),
  }),
  singleCause({
    // A matching node can be added later; nothing waits for it.
    code: NO_NODE_MATCHES,
    remedy: 'Label nodes, or correct --node-selector: no worker runs until a node matches',
    symptoms: ({workloads}) =>
      workloads
        .filter(
          (workload) =>
            workload.kind === 'DaemonSet' &&
            isObserved(workload) &&
            replicaCount(workload).desired === 0,
        )
        .map((workload) => ({
          object: workload,
          reason: 'no node matches its node selector and tolerations',
        })),
  }),
];

/** Only the first cause of each object is reported, so specific causes come first. */
const TABLES: readonly CauseTable[] = [
  ...claimCauses,
  creationCauses,
  ...schedulingCauses,
  ...imageCauses,
  startCauses,
  agentLogCauses,
  ...containerCauses,
  ...podCauses,
  ...workloadCauses,
];

export const CAUSES: readonly CauseRow[] = TABLES.flatMap(({rows}) => rows);

/** The code of the cause that a line of kubectl tells; undefined for other lines, such as those of an agent. */
export function codeOfEvent(line: string): string | undefined {
  for (const {rows, textIn} of TABLES) {
    const text = textIn?.(line);
    const row =
      text === undefined ? undefined : rows.find(({pattern}) => pattern?.test(text) ?? true);
    if (row) return row.code;
  }
  return undefined;
}

interface FoundCause {
  /** `error` if waiting longer does not help, else `warning`. */
  finding: ObjectFinding;
  about: KubernetesObject;
  isVague: boolean;
}

/** Reasons why the release is not ready: one per object, lasting ones (errors) first. */
export function explainSnapshot(snapshot: Snapshot, now: Date): ObjectFinding[] {
  const found = new Map<KubernetesObject, FoundCause>();
  for (const {symptoms, rows} of TABLES) {
    const seen = symptoms(snapshot, now).map((symptom) => agedSymptom(symptom, snapshot, now));
    for (const row of rows)
      for (const symptom of seen)
        if (!found.has(symptom.about) && matches(row, symptom))
          found.set(symptom.about, causeOf(row, symptom, snapshot));
  }
  return joinAlike(snapshot, dropVague(snapshot, [...found.values()])).toSorted(byVerdict);
}

interface AgedSymptom extends Symptom {
  /** The object that users know. */
  about: KubernetesObject;
  /** In seconds. */
  age: number;
}

/** Users do not create ReplicaSets, so their causes are reported for the Deployment. */
function agedSymptom(symptom: Symptom, snapshot: Snapshot, now: Date): AgedSymptom {
  const {object, since = object.metadata.creationTimestamp} = symptom;
  const owner = object.kind === 'ReplicaSet' ? ownerOf(snapshot, object) : undefined;
  return {...symptom, about: owner ?? object, age: secondsSince(since, now)};
}

const matches = ({pattern, normalFor = 0}: CauseRow, {text = '', age}: AgedSymptom): boolean =>
  age >= normalFor && pattern?.test(text) !== false;

function causeOf(row: CauseRow, symptom: AgedSymptom, snapshot: Snapshot): FoundCause {
  const {code, permanentAfter = Number.POSITIVE_INFINITY, isVague = false} = row;
  const {about, object, reason, age} = symptom;
  const isOld = age >= permanentAfter;
  const isStuck = row.ignoresTries ? isOld : (symptom.isPermanent ?? isOld);
  const verdict = isStuck && !isSuperseded(snapshot, object) ? 'error' : 'warning';
  const remedies = symptom.remedies ?? [remedyOf(row, symptom, snapshot.kubeTarget)];
  const subject = {object: objectLabel(about)};
  return {
    finding: {code, verdict, subject, message: reason, remedies: remediesOf(...remedies)},
    about,
    isVague,
  };
}

/** Never negative: the clock of the cluster may be ahead. A state without a time is new. */
const secondsSince = (time: string | undefined, now: Date): number =>
  time ? Math.max(0, (now.getTime() - Date.parse(time)) / 1000) : 0;

/** Replaces a vague cause by the specific causes of dependent objects. If it lasts, they do too. */
function dropVague(snapshot: Snapshot, found: readonly FoundCause[]): FoundCause[] {
  const heirs = new Map<FoundCause, FoundCause[]>();
  for (const vague of found.filter(({isVague}) => isVague)) {
    const objects = below(snapshot, vague.about);
    const better = found.filter(({about}) => objects.includes(about));
    if (better.length > 0) heirs.set(vague, better);
  }
  const inherits = (each: FoundCause): boolean =>
    [...heirs].some(([{finding}, better]) => finding.verdict === 'error' && better.includes(each));
  return found
    .filter((each) => !heirs.has(each))
    .map((each) =>
      inherits(each) ? {...each, finding: {...each.finding, verdict: 'error'}} : each,
    );
}

const below = (snapshot: Snapshot, object: KubernetesObject): readonly KubernetesObject[] =>
  object.kind === 'Pod'
    ? snapshot.claims.filter(({metadata}) => claimsOf(object as Pod).includes(metadata.name))
    : podsOf(snapshot, object);

/** Pods of one workload with the same cause are reported once. */
function joinAlike(snapshot: Snapshot, found: readonly FoundCause[]): ObjectFinding[] {
  const keyOf = ({about, finding: {code, message}}: FoundCause): string =>
    JSON.stringify([objectLabel(rootOf(snapshot, about)), about.kind, code, message]);
  return groupsOf(found, keyOf).map((alike) => {
    const [{finding: first}, ...others] = alike;
    const more = others.length === 0 ? '' : ` (and ${count(others.length, 'more pod')})`;
    const worst = alike.map(({finding}) => finding).toSorted(byVerdict)[0] ?? first;
    return {...first, message: `${first.message}${more}`, verdict: worst.verdict};
  });
}

export interface Progress {
  object: string;
  state: 'ready' | 'waiting' | 'failing';
  text: string;
  /** What it waits for, if known. */
  waitingFor?: string | undefined;
}

/** One line per workload. `causes` are those of the snapshot. */
export function progress(snapshot: Snapshot, causes: readonly ObjectFinding[]): Progress[] {
  return rootsOf(snapshot).map((root) => {
    const names = [root, ...podsOf(snapshot, root)].map(objectLabel);
    const row = {object: objectLabel(root), text: countText(root)};
    if (causes.some(({subject}) => names.includes(subject.object)))
      return {...row, state: 'failing'};
    const state = isRootReady(root) ? 'ready' : 'waiting';
    return {...row, state, waitingFor: waitingFor(snapshot, root)};
  });
}

/** Every workload is ready, and no agent log contradicts it. `now` separates old log lines from new ones. */
export function isReady(snapshot: Snapshot, now?: Date): boolean {
  const roots = rootsOf(snapshot);
  return roots.length > 0 && roots.every(isRootReady) && registered(snapshot, now) !== false;
}

/** What a workload that is not ready waits for, as long as nothing is wrong. */
function waitingFor(snapshot: Snapshot, root: KubernetesObject): string | undefined {
  if (isRootReady(root)) return undefined;
  const pods = root.kind === 'Pod' ? [root as Pod] : podsOf(snapshot, root);
  const pod = pods.find((each) => !isPodReady(each));
  if (pod === undefined) return pods.length === 0 ? 'waiting for its pods' : undefined;
  if (pod.spec?.nodeName === undefined) return 'waiting for a node';
  if (!isBeingCreated(pod)) return 'starting';
  return eventsOf(snapshot, pod).at(-1)?.reason === 'Pulling'
    ? 'pulling the image'
    : 'creating the container';
}
