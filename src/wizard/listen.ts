import {fromCluster} from '../answers/from-cluster.ts';
import {clusterFactsOf} from '../cluster/facts/cluster-facts.ts';
import {isKnown, knownValue} from '../cluster/facts/fact.ts';
import {readCluster} from '../cluster/facts/read-cluster.ts';
import {recommendFactsOf} from '../cluster/facts/recommend-facts.ts';
import {ExpectedError} from '../errors.ts';
import type {Place} from '../ports/place.ts';
import type {Processes} from '../ports/processes.ts';
import type {Heard} from './run-wizard.ts';

/** What the cluster says of itself; never fails. How long it may take is the affair of `processes`. */
export async function listen(place: Place, processes: Processes): Promise<Heard> {
  const where = place.kubeContext ? `Context ${place.kubeContext}` : 'The cluster';
  try {
    const facts = clusterFactsOf(await readCluster(place, processes));
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

/** Who waits longer is told for what. */
const NOTICE_MS = 1000;

interface Waiting {
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  say(text: string): void;
}

/** For who has nothing else to do until the cluster has spoken. */
export async function waitFor(listening: Promise<Heard>, {sleep, say}: Waiting): Promise<Heard> {
  const spoken = new AbortController();
  void sleep(NOTICE_MS, spoken.signal).then(() => spoken.signal.aborted || say('Waiting for the cluster …\n'));
  try {
    return await listening;
  } finally {
    spoken.abort();
  }
}

const silence = (where: string, because: string): Heard => ({
  facts: {},
  storageClasses: [],
  note: `${where} says nothing: ${because.replace(/[.?]?$/, '.')} A values.yaml can be made all the same.`,
});
