import type {Snapshot, Workload} from '../cluster/objects.ts';
import type {CauseRecord} from './cause.ts';
import {oneLine, unwrap} from './error-text.ts';
import {countOf, isRootReady} from './readiness.ts';
import {condition, eventsOf, firstTimeOf, isEnding, ownerOf} from './snapshot-queries.ts';

interface Refusal {
  workload: Workload;
  words: string;
  since: string | undefined;
}

/** Workloads whose pods are not let in. */
const refusals = (snapshot: Snapshot): Refusal[] =>
  snapshot.workloads.filter((each) => !isEnding(each)).flatMap((workload) => refusalOf(snapshot, workload) ?? []);

function refusalOf(snapshot: Snapshot, workload: Workload): Refusal | undefined {
  const failure = condition(workload, 'ReplicaFailure');
  // The controller takes it back itself, so it needs no comparison. A Deployment has it from its ReplicaSets.
  if (workload.kind === 'ReplicaSet' && workload.spec?.replicas !== 0 && failure?.status === 'True')
    return {workload, words: unwrap(failure.message ?? ''), since: failure.lastTransitionTime};
  const progressing = condition(workload, 'Progressing');
  if (progressing?.reason === 'ReplicaSetCreateError')
    return {workload, words: unwrap(progressing.message ?? ''), since: progressing.lastTransitionTime};
  if (!['DaemonSet', 'Job'].includes(workload.kind ?? '') || isRootReady(workload)) return undefined;
  const event = eventsOf(snapshot, workload, ['FailedCreate']).at(-1);
  const pods = snapshot.pods.filter((pod) => !isEnding(pod) && ownerOf(snapshot, pod) === workload);
  // Events stay for an hour: where all pods are there, they were let in since.
  if (event === undefined || pods.length >= Math.max(1, countOf(workload).wanted)) return undefined;
  return {workload, words: unwrap(event.message ?? ''), since: firstTimeOf(event)};
}

const refused = (code: string, hopelessAfter: number, words: RegExp, remedy: string): CauseRecord => ({
  code,
  hopelessAfter,
  remedy,
  test: (snapshot) =>
    refusals(snapshot)
      .filter((each) => words.test(each.words))
      .map(({workload, words: said, since}) => ({object: workload, reason: oneLine(`FailedCreate: ${said}`), since})),
});

/** What admission refuses it refuses again; these times are for what others may bring or free. */
export const creationCauses: readonly CauseRecord[] = [
  refused(
    'POD_SECURITY',
    0,
    /violates PodSecurity/,
    'Use a namespace with a laxer pod-security.kubernetes.io/enforce label, or settings without what is forbidden; agent-k8s always mounts a directory of the node',
  ),
  refused('OPENSHIFT_SCC', 0, /security context constraint/, 'Grant the service account a SCC that fits: oc adm policy add-scc-to-user'),
  refused('LIMITS_REQUIRED', 0, /failed quota/, 'The quota of the namespace wants requests and limits: set them'),
  // Pods that end give back what they had, the old ones of an upgrade among them.
  refused('QUOTA_EXCEEDED', 20, /exceeded quota/, 'Raise the quota of the namespace, or request less; kubectl describe quota shows it'),
  refused(
    'LIMIT_RANGE',
    0,
    /(maximum|minimum) \S+ usage per|limit to request ratio/,
    'Keep requests and limits within the LimitRange of the namespace; kubectl describe limitrange shows it',
  ),
  refused(
    'SERVICE_ACCOUNT_NOT_FOUND',
    30,
    /service ?account "[^"]*" not found/,
    'Create the service account, or correct --service-account-name',
  ),
  refused('PRIORITY_CLASS_NOT_FOUND', 30, /no PriorityClass/, 'Create the PriorityClass, or take its name out of the values'),
  refused(
    'WEBHOOK_UNREACHABLE',
    120,
    /failed calling webhook|failed to call webhook/,
    'The admission webhook that is named does not answer: look at its pods, nothing can be created before',
  ),
  refused(
    'ADMISSION_DENIED',
    0,
    /admission webhook .* denied|ValidatingAdmissionPolicy .* denied|denied the request|policy .*violat/i,
    'A policy of the cluster forbids it: change the values as it says, or ask for an exception',
  ),
  refused('FAILED_CREATE', 60, /./, 'Mend what the API server says'),
];
