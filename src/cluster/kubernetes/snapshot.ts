import type {ClusterTarget} from '../../ground/command-line.ts';
import type {Claim, Event, Pod, Workload} from './objects.ts';

/** What a release looks like in the cluster at one moment. */
export interface Snapshot {
  /** Where it was looked at, for commands. */
  kubeTarget: ClusterTarget;
  workloads: readonly Workload[];
  pods: readonly Pod[];
  claims: readonly Claim[];
  /** Events of the namespace, newest last. */
  events: readonly Event[];
  /** Last log lines of crashed and running containers by `pod/container`, if readable. */
  logs: Readonly<Record<string, string>>;
}
