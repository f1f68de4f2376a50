import {scalrChart} from '../charts/define.ts';
import type {Call, ClusterTarget, ProcessResult} from '../ground/command-line.ts';
import {ExpectedError} from '../ground/errors.ts';
import {type Fact, follow, isKnown, known, unknown} from '../ground/fact.ts';
import {isMap, type Values} from '../ground/tree.ts';
import {listReleases, releaseValues} from '../helm/helm.ts';
import type {ClusterAccess} from '../kubernetes/cluster-access.ts';
import {servedResources} from '../kubernetes/discovery.ts';
import {jsonOf, listFact, objectFact, REQUEST_MS, unknownBy} from '../kubernetes/fact-readers.ts';
import {type Reader, serverVersion} from '../kubernetes/resources.ts';
import {runsLinux} from './capacity.ts';
import {LISTED, NAMED, type NodeObject, OPTIONAL, type Readings, type ReleaseReading} from './readings.ts';

/** Runs helm; a missing tool counts as a failed call. */
type Ask = (call: Call) => Promise<ProcessResult>;

interface ReadOptions {
  place: ClusterTarget;
  kubernetes: Reader;
  options: {signal: AbortSignal; idleMs: number};
}

/**
 * Reads the data for all facts in parallel. Read-only. Dependent requests follow as soon as possible.
 * Never fails: unreadable facts are unknown, with a reason.
 */
export async function readCluster(
  place: ClusterTarget,
  {kubernetes, processes}: Pick<ClusterAccess, 'kubernetes' | 'processes'>,
): Promise<Readings> {
  const stop = new AbortController();
  const asking: ReadOptions = {place, kubernetes, options: {signal: stop.signal, idleMs: REQUEST_MS}};
  const ask: Ask = async (call) => {
    try {
      return await processes.run(call, {signal: stop.signal});
    } catch (error) {
      if (error instanceof ExpectedError) return {exitCode: 1, stdout: '', stderr: error.message};
      throw error;
    }
  };
  const [version, listed, named, served, releases] = await Promise.all([
    readVersion(asking).then((found) => {
      // Helm would wait without a limit for an API server that does not answer.
      if (isSilent(found)) stop.abort();
      return found;
    }),
    readListed(asking),
    readNamed(asking),
    readServed(asking),
    readReleases(place, ask),
  ]);
  const readings = {namespace: place.namespace, serverVersion: version, ...listed, ...named, ...served, releases};
  if (!isSilent(version)) return readings;
  return Object.fromEntries(
    Object.entries(readings).map(([key, fact]) => [key, key === 'namespace' ? fact : version]),
  ) as unknown as Readings;
}

/** The version may be hidden from accounts that may read the rest. */
const isSilent = (version: Fact<string>): boolean => !isKnown(version) && version.unknown !== 'forbidden';

async function readVersion({kubernetes, options}: ReadOptions): Promise<Fact<string>> {
  const {version, trouble} = await serverVersion(kubernetes, options);
  if (trouble) return unknownBy(trouble);
  return version === undefined ? unknown('failed', 'the API server did not return its version') : known(version, 'kubectl version');
}

async function byKey<K extends string, T>(names: Readonly<Record<K, string>>, read: (name: string) => Promise<T>): Promise<Record<K, T>> {
  const entries = await Promise.all(Object.entries<string>(names).map(async ([key, name]) => [key, await read(name)]));
  return Object.fromEntries(entries) as Record<K, T>;
}

type Listed = Pick<Readings, keyof typeof LISTED>;
type Named = Pick<Readings, keyof typeof NAMED | 'namespaceObject'>;
type Served = Pick<Readings, keyof typeof OPTIONAL | 'resources'>;

async function readListed(asking: ReadOptions): Promise<Listed & Pick<Readings, 'kubeletDns'>> {
  const listed: Listed = await byKey(LISTED, (kind) => listFact(asking.kubernetes, kind, asking.options));
  return {...listed, kubeletDns: await readKubeletDns(listed.nodes, asking)};
}

async function readNamed({place, kubernetes, options}: ReadOptions): Promise<Named> {
  const [named, namespaceObject] = await Promise.all([
    byKey(NAMED, (spelled) => {
      const [kind = '', name = ''] = spelled.split('/');
      return objectFact(kubernetes, kind, name, {...options, namespace: 'kube-system'});
    }),
    objectFact(kubernetes, 'namespaces', place.namespace, options),
  ]);
  return {...(named as Pick<Readings, keyof typeof NAMED>), namespaceObject};
}

async function readServed({kubernetes, options}: ReadOptions): Promise<Served> {
  const {served, trouble} = await servedResources(kubernetes, options);
  const resources: Readings['resources'] =
    served.size > 0 || trouble === undefined ? known([...served.keys()], 'kubectl api-resources') : unknownBy(trouble);
  const missing = (kind: string): Fact<never> => follow(resources, () => unknown('not-served', `the API server does not serve ${kind}`));
  const lists = await byKey(OPTIONAL, async (kind) => {
    const groupVersion = served.get(kind);
    return groupVersion === undefined ? missing(kind) : listFact(kubernetes, kind, {...options, groupVersion});
  });
  return {resources, ...lists};
}

interface Configz {
  kubeletconfig?: {clusterDNS?: readonly string[]};
}

async function readKubeletDns(nodes: Readings['nodes'], {kubernetes, options}: ReadOptions): Promise<Readings['kubeletDns']> {
  const [node] = isKnown(nodes) ? nodes.value.filter((each) => runsLinux(each) && isOfGoogle(each)) : [];
  if (node === undefined) return isKnown(nodes) ? unknown('undetermined', 'read on GKE only') : nodes;
  const {name} = node.metadata;
  const source = `kubelet of ${name}, clusterDNS`;
  const answer = await kubernetes.get(`/api/v1/nodes/${encodeURIComponent(name)}/proxy/configz`, options);
  if (answer.trouble) return unknownBy(answer.trouble);
  if (!isMap(answer.body as Values)) return unknown('failed', `unexpected response for ${source}`);
  return known((answer.body as Configz).kubeletconfig?.clusterDNS ?? [], source);
}

const isOfGoogle = ({spec}: NodeObject): boolean => spec?.providerID?.startsWith('gce://') ?? false;

async function readReleases(place: ClusterTarget, ask: Ask): Promise<Readings['releases']> {
  const everywhere = await listOf(place, ask, true);
  if (isKnown(everywhere)) return known({scope: 'cluster', releases: everywhere.value}, everywhere.source);
  // An account that cannot list the Secrets of all namespaces may still list those of this one.
  const here = everywhere.unknown === 'forbidden' ? await listOf(place, ask, false) : everywhere;
  return follow(here, (releases, source) => known({scope: 'namespace', releases}, source));
}

/** Helm prints null where nothing was given. */
const isMapOrNull = (answer: unknown): boolean => answer === null || isMap(answer);

async function listOf(place: ClusterTarget, ask: Ask, everywhere: boolean): Promise<Fact<ReleaseReading[]>> {
  const source = everywhere ? 'helm list --all-namespaces' : `helm list --namespace ${place.namespace}`;
  const listed = jsonOf<Omit<ReleaseReading, 'values'>[]>(await ask(listReleases(place, {everywhere})), source, Array.isArray);
  if (!isKnown(listed)) return listed;
  // Other charts in the namespace may have the name of the release; their values are not needed.
  const wanted = listed.value.filter(({chart, namespace}) => scalrChart(chart) !== undefined || namespace === place.namespace);
  const releases = wanted.map(async (each): Promise<ReleaseReading> => {
    if (scalrChart(each.chart) === undefined) return {...each, values: unknown('undetermined', `${each.chart} is not a Scalr agent chart`)};
    const outcome = await ask(releaseValues({release: each.name, place: {...place, namespace: each.namespace}}));
    const values = jsonOf<Values>(outcome, `helm get values ${each.name}`, isMapOrNull);
    return {...each, values: follow(values, (given, from) => known(given ?? {}, from))};
  });
  return known(await Promise.all(releases), source);
}
