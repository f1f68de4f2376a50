import {isMap, type Values} from '../../charts/tree.ts';
import {ExpectedError} from '../../errors.ts';
import {listReleases, releaseValues} from '../../helm/helm.ts';
import {getNamed, kubeletConfiguration, listEverywhere, listResources, serverVersion} from '../../kubernetes/kubectl.ts';
import type {Place} from '../../ports/place.ts';
import type {Call, Outcome, Processes, Running} from '../../ports/processes.ts';
import {failureOf, jsonOf, listsOf, objectsOf} from './answers.ts';
import {type Fact, follow, isKnown, known, unknown} from './fact.ts';
import {LISTED, NAMED, type NodeObject, OPTIONAL, type Readings, type ReleaseReading} from './readings.ts';
import {scalrChart} from './releases.ts';
import {runsLinux} from './usable-nodes.ts';

/** Asks kubectl or helm; a tool that is not there is one more reason to know nothing. */
type Ask = (call: Call) => Promise<Outcome>;

/** For a single request of a reading. */
export const REQUEST_SECONDS = 5;

/**
 * Reads what facts are made of; changes nothing. Few calls, because each starts kubectl and with it the login plugin of
 * the provider, and all of them at once; what depends on an answer follows as soon as that is there. Never fails:
 * what cannot be read is unknown with the reason.
 */
export async function readCluster(place: Place, processes: Processes): Promise<Readings> {
  const {ask, stopWith} = asking(processes);
  const version = readVersion(place, ask, stopWith);
  const [serverVersion, listed, named, served, releases] = await Promise.all([
    version,
    readListed(place, ask),
    readNamed(place, ask),
    readServed(place, ask),
    readReleases(place, ask),
  ]);
  return {namespace: place.namespace, serverVersion, ...listed, ...named, ...served, releases};
}

/** Once it is known that nobody answers, whoever still waits is told so: kubectl tries five times, and helm knows no limit. */
function asking(processes: Processes): {ask: Ask; stopWith: (outcome: Outcome) => void} {
  const running = new Set<Running>();
  let last: Outcome | undefined;
  const ask: Ask = async (call) => {
    if (last) return last;
    const started = processes.start(call);
    running.add(started);
    try {
      const outcome = await started.outcome;
      return last ?? outcome;
    } catch (error) {
      if (error instanceof ExpectedError) return {exitCode: 1, stdout: '', stderr: error.message};
      throw error;
    } finally {
      running.delete(started);
    }
  };
  const stopWith = (outcome: Outcome): void => {
    last = outcome;
    for (const each of running) each.interrupt();
  };
  return {ask, stopWith};
}

async function readVersion(place: Place, ask: Ask, stopWith: (outcome: Outcome) => void): Promise<Fact<string>> {
  const outcome = await ask(serverVersion(place, REQUEST_SECONDS));
  const answer = jsonOf<{serverVersion?: {gitVersion?: string}}>(outcome, 'kubectl version', isMap);
  // The version may be kept from some who may read the rest.
  if (!isKnown(answer) && answer.unknown !== 'forbidden') stopWith(outcome);
  return follow(
    answer,
    ({serverVersion: server}, source): Fact<string> =>
      server?.gitVersion ? known(server.gitVersion, source) : unknown('failed', 'the API server did not say its version'),
  );
}

const byKey = <K extends string, T>(names: Readonly<Record<K, string>>, answers: Readonly<Record<string, T>>): Record<K, T> =>
  Object.fromEntries(Object.entries<string>(names).map(([key, name]) => [key, answers[name]])) as Record<K, T>;

type Listed = Pick<Readings, keyof typeof LISTED>;
type Named = Pick<Readings, keyof typeof NAMED | 'namespaceObject'>;
type Served = Pick<Readings, keyof typeof OPTIONAL | 'resources'>;

async function readListed(place: Place, ask: Ask): Promise<Listed & Pick<Readings, 'kubeletDns'>> {
  const kinds = Object.values(LISTED);
  const listed: Listed = byKey(LISTED, listsOf(await ask(listEverywhere(place, kinds, REQUEST_SECONDS)), kinds));
  return {...listed, kubeletDns: await readKubeletDns(listed.nodes, place, ask)};
}

async function readNamed(place: Place, ask: Ask): Promise<Named> {
  const namespace = `namespaces/${place.namespace}`;
  const objects = [...Object.values(NAMED), namespace];
  const answers = objectsOf(await ask(getNamed({...place, namespace: 'kube-system'}, objects, REQUEST_SECONDS)), objects);
  return {...byKey(NAMED, answers), namespaceObject: answers[namespace] as Named['namespaceObject']};
}

async function readServed(place: Place, ask: Ask): Promise<Served> {
  const outcome = await ask(listResources(place, REQUEST_SECONDS));
  const names = outcome.stdout.split('\n').filter((line) => /^[\w.-]+$/.test(line));
  // One broken API of an add-on makes it fail, with all the others listed.
  const resources: Readings['resources'] = names.length > 0 ? known(names, 'kubectl api-resources') : failureOf(outcome);
  const kinds = Object.values(OPTIONAL).filter((kind) => names.includes(kind));
  const lists = kinds.length > 0 ? listsOf(await ask(listEverywhere(place, kinds, REQUEST_SECONDS)), kinds) : {};
  const missing = (kind: string): Fact<never> => follow(resources, () => unknown('not-served', `the API server has no ${kind}`));
  const all = Object.fromEntries(Object.values(OPTIONAL).map((kind) => [kind, lists[kind] ?? missing(kind)]));
  return {resources, ...byKey(OPTIONAL, all)};
}

interface Configz {
  kubeletconfig?: {clusterDNS?: readonly string[]};
}

async function readKubeletDns(nodes: Readings['nodes'], place: Place, ask: Ask): Promise<Readings['kubeletDns']> {
  const [node] = isKnown(nodes) ? nodes.value.filter((each) => runsLinux(each) && isOfGoogle(each)) : [];
  if (node === undefined) return isKnown(nodes) ? unknown('undetermined', 'asked for on GKE only') : nodes;
  const {name} = node.metadata;
  const answer = jsonOf<Configz>(await ask(kubeletConfiguration(place, name, REQUEST_SECONDS)), `kubelet of ${name}, clusterDNS`, isMap);
  return follow(answer, ({kubeletconfig}, source) => known(kubeletconfig?.clusterDNS ?? [], source));
}

const isOfGoogle = ({spec}: NodeObject): boolean => spec?.providerID?.startsWith('gce://') ?? false;

async function readReleases(place: Place, ask: Ask): Promise<Readings['releases']> {
  const everywhere = await listOf(place, ask, true);
  if (isKnown(everywhere)) return known({scope: 'cluster', releases: everywhere.value}, everywhere.source);
  // Who may not list the Secrets of all namespaces may still see those of this one.
  const here = everywhere.unknown === 'forbidden' ? await listOf(place, ask, false) : everywhere;
  return follow(here, (releases, source) => known({scope: 'namespace', releases}, source));
}

/** Helm prints null where nothing was given. */
const isMapOrNull = (answer: unknown): boolean => answer === null || isMap(answer);

async function listOf(place: Place, ask: Ask, everywhere: boolean): Promise<Fact<ReleaseReading[]>> {
  const source = everywhere ? 'helm list --all-namespaces' : `helm list --namespace ${place.namespace}`;
  const listed = jsonOf<Omit<ReleaseReading, 'values'>[]>(await ask(listReleases(place, {everywhere})), source, Array.isArray);
  if (!isKnown(listed)) return listed;
  // What else is in the namespace may have the name of the release; nobody needs its values.
  const wanted = listed.value.filter(({chart, namespace}) => scalrChart(chart) !== undefined || namespace === place.namespace);
  const releases = wanted.map(async (each): Promise<ReleaseReading> => {
    if (scalrChart(each.chart) === undefined)
      return {...each, values: unknown('undetermined', `${each.chart} is no chart of Scalr agents`)};
    const outcome = await ask(releaseValues({release: each.name, place: {...place, namespace: each.namespace}}));
    const values = jsonOf<Values>(outcome, `helm get values ${each.name}`, isMapOrNull);
    return {...each, values: follow(values, (given, from) => known(given ?? {}, from))};
  });
  return known(await Promise.all(releases), source);
}
