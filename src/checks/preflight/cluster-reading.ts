import type {ClusterAccess} from '../../cluster/helm/releases.ts';
import type {KubernetesClient} from '../../cluster/kubernetes/client.ts';
import type {ReleaseName} from '../../ground/command-line.ts';

/** How the cluster of a release is read. */
export interface ClusterReading extends Omit<ClusterAccess, 'kubernetes'> {
  kubernetes: Pick<KubernetesClient, 'get' | 'post'>;
  name: ReleaseName;
  options: {signal: AbortSignal; idleMs: number};
}
