import type {Snapshot, Workload} from '../kubernetes/objects.ts';
import {type CauseTable, describe, oneLine, type Symptom, singleCause, unwrap} from './cause.ts';
import {condition, eventsOf, firstTimeOf, isEnding, isObserved, isRootReady, ownerOf, replicaCount} from './snapshot-queries.ts';

/** Workloads whose pods are rejected by admission. */
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
  // The controller removes the condition itself. A Deployment gets it from its ReplicaSets.
  if (workload.kind === 'ReplicaSet' && workload.spec?.replicas !== 0 && failure?.status === 'True')
    return {message: failure.message ?? '', since: failure.lastTransitionTime};
  const progressing = condition(workload, 'Progressing');
  if (progressing?.reason === 'ReplicaSetCreateError') return {message: progressing.message ?? '', since: progressing.lastTransitionTime};
  if (!['DaemonSet', 'Job'].includes(workload.kind ?? '') || isRootReady(workload)) return undefined;
  const event = eventsOf(snapshot, workload, ['FailedCreate']).at(-1);
  const pods = snapshot.pods.filter((pod) => !isEnding(pod) && ownerOf(snapshot, pod) === workload);
  // Events are kept for an hour: if all pods exist, they were admitted later.
  if (event === undefined || pods.length >= Math.max(1, replicaCount(workload).wanted)) return undefined;
  return {message: event.message ?? '', since: firstTimeOf(event)};
}

/** Admission rejects the same pod again; these times are for changes by others. */
export const creationCauses: CauseTable = {
  symptoms: refusedPods,
  rows: [
    {
      code: 'POD_SECURITY',
      pattern: /violates PodSecurity/,
      hopelessAfter: 0,
      remedy:
        'Use a namespace with a less strict pod-security.kubernetes.io/enforce label, or settings that comply with it; agent-k8s always mounts a hostPath volume',
    },
    {
      code: 'OPENSHIFT_SCC',
      pattern: /security context constraint/,
      hopelessAfter: 0,
      remedy: 'Grant the service account an SCC that allows the pod. List the SCCs',
      kubectlArgs: () => ['get', 'securitycontextconstraints'],
    },
    {
      code: 'LIMITS_REQUIRED',
      pattern: /failed quota/,
      hopelessAfter: 0,
      remedy: 'The quota of the namespace requires requests and limits: set them',
    },
    {
      // Terminating pods release their quota, including old pods of an upgrade.
      code: 'QUOTA_EXCEEDED',
      pattern: /exceeded quota/,
      hopelessAfter: 20,
      remedy: 'Raise the quota of the namespace, or request less. Show the usage',
      kubectlArgs: (_, namespace) => ['describe', 'quota', '--namespace', namespace],
    },
    {
      code: 'LIMIT_RANGE',
      pattern: /(maximum|minimum) \S+ usage per|limit to request ratio/,
      hopelessAfter: 0,
      remedy: 'Keep requests and limits within the LimitRange of the namespace. Show its limits',
      kubectlArgs: (_, namespace) => ['describe', 'limitrange', '--namespace', namespace],
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
      remedy: 'Create the PriorityClass, or remove its name from the values',
    },
    {
      code: 'WEBHOOK_UNREACHABLE',
      pattern: /failed calling webhook|failed to call webhook/,
      hopelessAfter: 120,
      remedy: 'The admission webhook does not respond, so no pod can be created: check the pods of the webhook',
    },
    {
      code: 'ADMISSION_DENIED',
      pattern: /admission webhook .* denied|ValidatingAdmissionPolicy .* denied|denied the request|policy .*violat/i,
      hopelessAfter: 0,
      remedy: 'A cluster policy denies the pod: change the values to comply, or request an exception',
    },
    {code: 'FAILED_CREATE', pattern: /./, hopelessAfter: 60, remedy: 'Fix the error reported by the API server'},
  ],
};

export const workloadCauses: readonly CauseTable[] = [
  singleCause({
    // The Job controller creates no further pod.
    code: 'JOB_FAILED',
    hopelessAfter: 0,
    isVague: true,
    remedy: 'Check the log, then run the Job again',
    kubectlArgs: ({object}, namespace) => ['logs', `job/${object.metadata.name}`, '--all-containers', '--namespace', namespace],
    symptoms: ({workloads}) =>
      workloads.flatMap((job) => {
        const failed = job.kind === 'Job' ? condition(job, 'Failed') : undefined;
        return failed?.status === 'True' ? [{object: job, reason: oneLine(`${failed.reason}: ${failed.message}`)}] : [];
      }),
  }),
  singleCause({
    // Ten minutes without progress by default; kubectl rollout status also stops here.
    code: 'DEADLINE_EXCEEDED',
    hopelessAfter: 0,
    isVague: true,
    remedy: 'Check the conditions and the events of the Deployment',
    kubectlArgs: describe('deployment'),
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
    code: 'NO_NODE_MATCHES',
    remedy: 'Label nodes, or correct --node-selector: no worker runs until a node matches',
    symptoms: ({workloads}) =>
      workloads
        .filter((workload) => workload.kind === 'DaemonSet' && isObserved(workload) && replicaCount(workload).wanted === 0)
        .map((workload) => ({object: workload, reason: 'no node matches its node selector and tolerations'})),
  }),
];
