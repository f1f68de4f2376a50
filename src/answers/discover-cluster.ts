import type {ClusterAccess} from '../cluster/cluster-access.ts';
import {recommendFactsOf} from '../cluster/facts/answers.ts';
import {clusterFactsOf} from '../cluster/facts/cluster-facts.ts';
import {isKnown, knownValue} from '../cluster/facts/fact.ts';
import {readCluster} from '../cluster/facts/read-cluster.ts';
import type {StorageClass} from '../cluster/facts/storage.ts';
import {ExpectedError} from '../errors.ts';
import type {ClusterTarget} from '../ports/processes.ts';
import {fromCluster} from './from-cluster.ts';
import type {Source} from './sources.ts';

/** Facts read from a cluster, or the reason why they could not be read. */
export interface DiscoveredCluster {
  answers?: Source;
  facts: ReturnType<typeof recommendFactsOf>;
  storageClasses: readonly StorageClass[];
  /** One line for the user. */
  note: string;
}

/** Reads the facts of a cluster as answers; never fails. `access` sets the timeout. */
export async function discoverCluster(place: ClusterTarget, access: ClusterAccess): Promise<DiscoveredCluster> {
  const where = place.kubeContext ? `the cluster (context ${place.kubeContext})` : 'the cluster';
  try {
    const facts = clusterFactsOf(await readCluster(place, access));
    const {server} = facts.versions;
    if (!isKnown(server) && server.unknown !== 'forbidden') return notDiscovered(where, server.because);
    const version = isKnown(server) ? `Kubernetes ${server.value}` : 'no permission to read the version';
    const note = `Connected to ${where}: ${version}.`;
    return {answers: fromCluster(facts), facts: recommendFactsOf(facts), storageClasses: knownValue(facts.storageClasses) ?? [], note};
  } catch (error) {
    if (error instanceof ExpectedError) return notDiscovered(where, error.message);
    throw error;
  }
}

const notDiscovered = (where: string, because: string): DiscoveredCluster => ({
  facts: {},
  storageClasses: [],
  note: `Cannot reach ${where}: ${because.replace(/[.?]?$/, '.')} You can still generate values.yaml.`,
});
