import {fromCluster} from '../answers/from-cluster.ts';
import type {Source} from '../answers/sources.ts';
import {clusterFactsOf} from '../cluster/facts/cluster-facts.ts';
import {isKnown} from '../cluster/facts/fact.ts';
import {readCluster} from '../cluster/facts/read-cluster.ts';
import {recommendFactsOf} from '../cluster/facts/recommend-facts.ts';
import {ExitCode, ExpectedError} from '../errors.ts';
import type {Place} from '../ports/place.ts';
import type {Processes} from '../ports/processes.ts';

export {releaseName, toolPaths} from './cluster-flags.ts';

/** What the cluster says, as answers and for the choice of a chart. */
export interface Cluster {
  answers: Source;
  facts: ReturnType<typeof recommendFactsOf>;
}

/** @throws ExpectedError when it says nothing at all */
export async function clusterAt(place: Place, processes: Processes): Promise<Cluster> {
  const facts = clusterFactsOf(await readCluster(place, processes));
  const {server} = facts.versions;
  if (isKnown(server) || server.unknown === 'forbidden') return {answers: fromCluster(facts), facts: recommendFactsOf(facts)};
  throw new ExpectedError(`--from-cluster: the cluster does not answer: ${server.because}`, {
    code: 'CLUSTER_UNREACHABLE',
    exit: ExitCode.failed,
    suggestions: ['Try: kubectl cluster-info', 'Leave out --from-cluster'],
  });
}
