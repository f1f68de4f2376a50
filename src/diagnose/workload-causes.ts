import type {Snapshot, Workload} from '../cluster/objects.ts';
import {type CauseTable, describe, type Symptom, singleCause} from './cause.ts';
import {oneLine, unwrap} from './error-text.ts';
import {countOf, isObserved, isRootReady} from './readiness.ts';
import {condition, eventsOf, firstTimeOf, isEnding, ownerOf} from './snapshot-queries.ts';

/** Workloads whose pods are not admitted. */
const refusedPods = (snapshot: Snapshot): Symptom[] =>
  snapshot.workloads
    .filter((each) => !isEnding(each))
    .flatMap((workload) => {
      const {message, since} = refusalOf(snapshot, workload) ?? {};
      if (message === undefined) return [];
      const text = unwrap(message);
      return [{object: workload, text, reason: oneLine(`FailedCreate: ${text}`), since}];
    });

function refusalOf(snapshot: Snapshot, workload: Workload): {message: string; since: string | undefined} | undefined {
  const failure = condition(workload, 'ReplicaFailure');
  // The controller takes it back itself, so it needs no comparison. A Deployment has it from its ReplicaSets.
  if (workload.kind === 'ReplicaSet' && workload.spec?.replicas !== 0 && failure?.status === 'True')
    return {message: failure.message ?? '', since: failure.lastTransitionTime};
  const progressing = condition(workload, 'Progressing');
  if (progressing?.reason === 'ReplicaSetCreateError') return {message: progressing.message ?? '', since: progressing.lastTransitionTime};
  if (!['DaemonSet', 'Job'].includes(workload.kind ?? '') || isRootReady(workload)) return undefined;
  const event = eventsOf(snapshot, workload, ['FailedCreate']).at(-1);
  const pods = snapshot.pods.filter((pod) => !isEnding(pod) && ownerOf(snapshot, pod) === workload);
  // Events stay for an hour: where all pods are there, they were admitted since.
  if (event === undefined || pods.length >= Math.max(1, countOf(workload).wanted)) return undefined;
  return {message: event.message ?? '', since: firstTimeOf(event)};
}

/** What admission refuses it refuses again; these times are for what others may bring or free. */
export const creationCauses: CauseTable = {
  symptoms: refusedPods,
  rows: [
    {
      code: 'POD_SECURITY',
      pattern: /violates PodSecurity/,
      hopelessAfter: 0,
      remedy:
        'Use a namespace with a laxer pod-security.kubernetes.io/enforce label, or settings without what is forbidden; agent-k8s always mounts a directory of the node',
    },
    {
      code: 'OPENSHIFT_SCC',
      pattern: /security context constraint/,
      hopelessAfter: 0,
      remedy: 'Grant the service account an SCC that allows it. List them',
      look: () => ['get', 'securitycontextconstraints'],
    },
    {
      code: 'LIMITS_REQUIRED',
      pattern: /failed quota/,
      hopelessAfter: 0,
      remedy: 'The quota of the namespace wants requests and limits: set them',
    },
    {
      // Pods that end give back what they had, the old ones of an upgrade among them.
      code: 'QUOTA_EXCEEDED',
      pattern: /exceeded quota/,
      hopelessAfter: 20,
      remedy: 'Raise the quota of the namespace, or request less. See what is used',
      look: (_, namespace) => ['describe', 'quota', '--namespace', namespace],
    },
    {
      code: 'LIMIT_RANGE',
      pattern: /(maximum|minimum) \S+ usage per|limit to request ratio/,
      hopelessAfter: 0,
      remedy: 'Keep requests and limits within the LimitRange of the namespace. See its limits',
      look: (_, namespace) => ['describe', 'limitrange', '--namespace', namespace],
    },
    {
      code: 'SERVICE_ACCOUNT_NOT_FOUND',
      pattern: /service ?account "[^"]*" not found/,
      hopelessAfter: 30,
      remedy: 'Create the service account, or correct --service-account-name',
    },
    {
      code: 'PRIORITY_CLASS_NOT_FOUND',
      pattern: /no PriorityClass/,
      hopelessAfter: 30,
      remedy: 'Create the PriorityClass, or take its name out of the values',
    },
    {
      code: 'WEBHOOK_UNREACHABLE',
      pattern: /failed calling webhook|failed to call webhook/,
      hopelessAfter: 120,
      remedy: 'The admission webhook that is named does not answer: look at its pods, nothing can be created before',
    },
    {
      code: 'ADMISSION_DENIED',
      pattern: /admission webhook .* denied|ValidatingAdmissionPolicy .* denied|denied the request|policy .*violat/i,
      hopelessAfter: 0,
      remedy: 'A policy of the cluster forbids it: change the values as it says, or ask for an exception',
    },
    {code: 'FAILED_CREATE', pattern: /./, hopelessAfter: 60, remedy: 'Mend what the API server says'},
  ],
};

export const workloadCauses: readonly CauseTable[] = [
  singleCause({
    // The Job controller makes no further pod.
    code: 'JOB_FAILED',
    hopelessAfter: 0,
    isVague: true,
    remedy: 'Read the log, then run it again',
    look: ({object}, namespace) => ['logs', `job/${object.metadata.name}`, '--all-containers', '--namespace', namespace],
    symptoms: ({workloads}) =>
      workloads.flatMap((job) => {
        const failed = job.kind === 'Job' ? condition(job, 'Failed') : undefined;
        return failed?.status === 'True' ? [{object: job, reason: oneLine(`${failed.reason}: ${failed.message}`)}] : [];
      }),
  }),
  singleCause({
    // Ten minutes without progress unless the chart sets another time; kubectl rollout status gives up here as well.
    code: 'DEADLINE_EXCEEDED',
    hopelessAfter: 0,
    isVague: true,
    remedy: 'See the conditions and the events of the Deployment',
    look: describe('deployment'),
    symptoms: ({workloads}) =>
      workloads.flatMap((workload) => {
        const {reason, message = ''} = condition(workload, 'Progressing') ?? {};
        return workload.kind === 'Deployment' && reason === 'ProgressDeadlineExceeded'
          ? [{object: workload, reason: oneLine(`${reason}: ${message}`)}]
          : [];
      }),
  }),
  singleCause({
    // The node may come later; nothing waits for it.
    code: 'NO_NODE_MATCHES',
    remedy: 'Label nodes, or correct --node-selector: until then there is no worker',
    symptoms: ({workloads}) =>
      workloads
        .filter((workload) => workload.kind === 'DaemonSet' && isObserved(workload) && countOf(workload).wanted === 0)
        .map((workload) => ({object: workload, reason: 'no node matches its node selector and tolerations'})),
  }),
];
