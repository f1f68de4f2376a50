import {type ClusterFacts, clusterFactsOf} from '../cluster/facts/cluster-facts.ts';
import {isKnown} from '../cluster/facts/fact.ts';
import {readCluster} from '../cluster/facts/read-cluster.ts';
import {ExitCode, ExpectedError} from '../errors.ts';
import type {Place} from '../ports/place.ts';
import type {Processes} from '../ports/processes.ts';

export {releaseName, toolPaths} from './cluster-flags.ts';

/** What the cluster says. @throws ExpectedError when it says nothing at all */
export async function clusterFactsAt(place: Place, processes: Processes): Promise<ClusterFacts> {
  const facts = clusterFactsOf(await readCluster(place, processes));
  const {server} = facts.versions;
  if (isKnown(server) || server.unknown === 'forbidden') return facts;
  throw new ExpectedError(`--from-cluster: the cluster does not answer: ${server.because}`, {
    code: 'CLUSTER_UNREACHABLE',
    exit: ExitCode.failed,
    suggestions: ['Try: kubectl cluster-info', 'Leave out --from-cluster'],
  });
}
