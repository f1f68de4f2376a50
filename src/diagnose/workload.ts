import type {CauseRecord} from './cause.ts';
import {oneLine} from './error-text.ts';
import {countOf, isObserved} from './readiness.ts';
import {condition} from './snapshot-queries.ts';

export const workloadCauses: readonly CauseRecord[] = [
  {
    // The Job controller makes no further pod.
    code: 'JOB_FAILED',
    hopelessAfter: 0,
    isVague: true,
    remedy: 'Read the log of its pods, then run it again',
    test: ({workloads}) =>
      workloads.flatMap((job) => {
        const failed = job.kind === 'Job' ? condition(job, 'Failed') : undefined;
        return failed?.status === 'True' ? [{object: job, reason: oneLine(`${failed.reason}: ${failed.message}`)}] : [];
      }),
  },
  {
    // Ten minutes without progress unless the chart says otherwise; kubectl rollout status gives up here as well.
    code: 'DEADLINE_EXCEEDED',
    hopelessAfter: 0,
    isVague: true,
    remedy: 'Look at the pods: kubectl describe pods',
    test: ({workloads}) =>
      workloads.flatMap((workload) => {
        const {reason, message = ''} = condition(workload, 'Progressing') ?? {};
        return workload.kind === 'Deployment' && reason === 'ProgressDeadlineExceeded'
          ? [{object: workload, reason: oneLine(`${reason}: ${message}`)}]
          : [];
      }),
  },
  {
    // The node may come later; nothing waits for it.
    code: 'NO_NODE_MATCHES',
    remedy: 'Label nodes, or correct --node-selector: until then there is no worker',
    test: ({workloads}) =>
      workloads
        .filter((workload) => workload.kind === 'DaemonSet' && isObserved(workload) && countOf(workload).wanted === 0)
        .map((workload) => ({object: workload, reason: 'no node matches its node selector and tolerations'})),
  },
];
