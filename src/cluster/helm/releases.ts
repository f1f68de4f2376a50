import type {Processes} from '../../ground/system/system.ts';
import type {KubernetesClient} from '../kubernetes/client.ts';
import type {ClusterIdentity} from '../kubernetes/cluster-identity.ts';
import type {SelectedCluster} from '../kubernetes/kubeconfig.ts';
import type {Reader} from '../kubernetes/resources.ts';
import {HelmReleases} from './helm-releases.ts';
import type {Releases} from './release-record.ts';
import {StoredReleases} from './stored-releases.ts';

/** How a command reads and changes a cluster. */
export interface ClusterAccess {
  kubernetes: KubernetesClient;
  processes: Processes;
  /** What the target selects, if it was read before. */
  context?: SelectedCluster | undefined;
  /** Read with a plan, and compared before changes. */
  identity?: Pick<ClusterIdentity, 'planned'>;
  /** HELM_DRIVER: where Helm keeps its releases, by default in Secrets. */
  helmDriver?: string | undefined;
}

type ReadAccess = Pick<ClusterAccess, 'helmDriver'> & {
  kubernetes: Reader;
  processes: Pick<Processes, 'run'>;
};

/** Secrets need no process of helm to be read. */
export const releasesIn = ({kubernetes, processes, helmDriver = ''}: ReadAccess): Releases =>
  /^(secrets?)?$/.test(helmDriver) ? new StoredReleases(kubernetes) : new HelmReleases(processes);
