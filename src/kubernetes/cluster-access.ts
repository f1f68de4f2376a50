import type {Processes} from '../ports/processes.ts';
import type {KubernetesClient} from './client.ts';

/** How a command reads a cluster: objects from the API server, releases from helm. */
export interface ClusterAccess {
  kubernetes: KubernetesClient;
  processes: Processes;
}
