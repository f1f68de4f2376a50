import {discoverCluster} from '../answers/discover-cluster.ts';
import {fromCluster, unreadFacts} from '../answers/from-cluster.ts';
import type {Source} from '../answers/sources.ts';
import type {ClusterAccess} from '../cluster/cluster-access.ts';
import {clusterFactsOf} from '../cluster/facts/cluster-facts.ts';
import {isKnown} from '../cluster/facts/fact.ts';
import {readCluster} from '../cluster/facts/read-cluster.ts';
import {recommendFactsOf} from '../cluster/facts/recommend-facts.ts';
import {ExitCode, ExpectedError, type Warning} from '../errors.ts';
import type {Place} from '../ports/place.ts';
import {cloud, nodeOs} from '../settings/cluster.ts';
import {httpProxy, httpsProxy, noProxy} from '../settings/network.ts';
import {chart, namespace, release} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';

export {releaseName, toolPaths} from './cluster-flags.ts';

/** What the cluster says, as answers and for the choice of a chart. */
export interface Cluster {
  answers: Source;
  facts: ReturnType<typeof recommendFactsOf>;
  /** What it was asked for and did not tell, as warnings. */
  unread?(settings: Settings): Warning[];
}

/** Settings that decide whether the cluster has to be asked for answers. */
export const ANSWERED_BY_CLUSTER = [namespace, release, chart, cloud, nodeOs, httpProxy, httpsProxy, noProxy];

/** The answers of a cluster that an install is for; undefined where nothing is open or it says nothing. */
export async function openAnswers(place: Place, said: Settings, access: ClusterAccess): Promise<Cluster | undefined> {
  const hasProxy = said.isExplicit(httpProxy) || said.isExplicit(httpsProxy);
  const open = [chart, cloud, nodeOs, ...(hasProxy ? [noProxy] : [])].filter((setting) => !said.isExplicit(setting));
  if (open.length === 0) return undefined;
  const {answers, facts} = await discoverCluster(place, access);
  return answers && {answers, facts};
}

/** @throws ExpectedError when it says nothing at all */
export async function clusterAt(place: Place, access: ClusterAccess): Promise<Cluster> {
  const facts = clusterFactsOf(await readCluster(place, access));
  const {server} = facts.versions;
  if (isKnown(server) || server.unknown === 'forbidden')
    return {answers: fromCluster(facts), facts: recommendFactsOf(facts), unread: (settings) => unreadFacts(facts, settings)};
  throw new ExpectedError(`--from-cluster: the cluster does not answer: ${server.because}`, {
    code: 'CLUSTER_UNREACHABLE',
    exit: ExitCode.failed,
    suggestions: ['Try: kubectl cluster-info', 'Leave out --from-cluster'],
  });
}
