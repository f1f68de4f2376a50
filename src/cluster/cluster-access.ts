import type {KubernetesClient} from '../kubernetes/client.ts';
import type {Processes} from '../ports/processes.ts';

/** What a command asks a cluster with: the API server for objects, helm for what only helm knows. */
export interface ClusterAccess {
  kubernetes: KubernetesClient;
  processes: Processes;
}
