import type {ClusterAccess} from '../cluster/cluster-access.ts';
import {recommendFactsOf} from '../cluster/facts/answers.ts';
import {clusterFactsOf} from '../cluster/facts/cluster-facts.ts';
import {isKnown, knownValue} from '../cluster/facts/fact.ts';
import {readCluster} from '../cluster/facts/read-cluster.ts';
import type {StorageClass} from '../cluster/facts/storage.ts';
import {ExpectedError} from '../errors.ts';
import type {Place} from '../ports/processes.ts';
import {fromCluster} from './from-cluster.ts';
import type {Source} from './sources.ts';

/** What a cluster answers, or why it does not. */
export interface DiscoveredCluster {
  answers?: Source;
  facts: ReturnType<typeof recommendFactsOf>;
  storageClasses: readonly StorageClass[];
  /** One line for the operator. */
  note: string;
}

/** Reads the facts of a cluster as answers; never fails. `access` decides how long it may take. */
export async function discoverCluster(place: Place, access: ClusterAccess): Promise<DiscoveredCluster> {
  const where = place.kubeContext ? `Context ${place.kubeContext}` : 'The cluster';
  try {
    const facts = clusterFactsOf(await readCluster(place, access));
    const {server} = facts.versions;
    if (!isKnown(server) && server.unknown !== 'forbidden') return silence(where, server.because);
    const version = isKnown(server) ? `Kubernetes ${server.value}` : 'its version is hidden from you';
    const note = `${where} answers: ${version}.`;
    return {answers: fromCluster(facts), facts: recommendFactsOf(facts), storageClasses: knownValue(facts.storageClasses) ?? [], note};
  } catch (error) {
    if (error instanceof ExpectedError) return silence(where, error.message);
    throw error;
  }
}

const silence = (where: string, because: string): DiscoveredCluster => ({
  facts: {},
  storageClasses: [],
  note: `${where} says nothing: ${because.replace(/[.?]?$/, '.')} A values.yaml can be made all the same.`,
});
