import type {Values} from '../../charts/tree.ts';
import type {NodeObject} from '../../cluster/facts/readings.ts';
import {labelsOfRuns} from '../../cluster/inventory.ts';
import {type LiveDrift, type ObjectDrift, readLiveDrift} from '../../cluster/live-drift.ts';
import type {ApiReader} from '../../kubernetes/client.ts';
import {listAll} from '../../kubernetes/queries.ts';
import type {Place, Processes} from '../../ports/processes.ts';
import {skewFindings} from '../findings/clock-skew.ts';
import type {Finding} from '../findings/evidence.ts';
import {jsonText} from '../json.ts';
import {type SecretContent, seedsOf} from '../redact/find-secrets.ts';
import type {Seed} from '../redact/known-values.ts';
import {type Enforcement, readEnforcement, readSurroundings} from './cluster-scope.ts';
import {type LogItem, logItems, type Since} from './log-items.ts';
import {type HideIn, objectFiles, type TextFile} from './object-files.ts';
import type {LogRecord} from './read-logs.ts';
import {type Gap, readNamespace} from './read-namespace.ts';
import {type BundledRelease, releaseOf, runIds, type Scope, scopeOf} from './scope.ts';
import {
  type FoundRelease,
  type FoundReleases,
  findReleases,
  labelledReleases,
  patientTools,
  readRelease,
  readTools,
  type Tools,
  type ToolVersions,
} from './tools.ts';

export interface BundleOptions {
  place: Place;
  /** Only this one; without it every release of a Scalr agent in the namespace. */
  release?: string | undefined;
  since: Since;
  run?: string | undefined;
  container?: string | undefined;
  /** Of this program. */
  ownVersion: string;
  /** Secrets are read, so that what is in them can be found elsewhere. */
  readsSecrets: boolean;
}

/** Everything that is known before the first byte is written. */
export interface Prepared {
  releases: readonly (BundledRelease & {
    status: string;
    values: Values | undefined;
    drift: readonly ObjectDrift[];
    replicas?: LiveDrift['replicas'];
  })[];
  scope: Scope;
  /** What there is in the namespace, wanted or not. */
  present?: {releases: readonly string[]; runs: readonly string[]};
  texts(hideIn: HideIn): readonly TextFile[];
  logs: readonly LogItem[];
  seeds: readonly Seed[];
  gaps: readonly Gap[];
  /** As the user asked for: what is in Secrets was not searched for, so it may be in the bundle. */
  skipsSecrets?: boolean;
  /** What its logs are of, where that is not containers. */
  noun?: 'unit';
  /** What it is a bundle of; without it a namespace. */
  about?: string;
  /** What is known of the cluster around the namespace; a machine has none. */
  cluster?: Cluster;
  /** How far the clock of the cluster, by which its objects and logs count, is ahead of that of this machine. */
  skewMs?: number;
  /** What stands out beyond objects and values. */
  findings?(logs: readonly LogRecord[], now: Date): readonly Finding[];
}

export interface Cluster {
  server: string | undefined;
  /** That run pods of the bundle. */
  nodes: readonly NodeObject[];
  /** Of this program, of helm, kubectl and others, where they are there. */
  tools: Readonly<Record<string, string | null>>;
  /** Undefined where no release has a network policy. */
  enforcement: Enforcement | undefined;
}

interface Deps {
  api: ApiReader;
  asked: AskedTools;
  over: AbortSignal;
  now(): Date;
}

/** Finds out what belongs into the bundle; changes nothing, and what may not be read is a gap. */
export async function prepareBundle(wish: BundleOptions, {api, asked, over, now}: Deps): Promise<Prepared> {
  const {place} = wish;
  const {tools} = asked;
  const [namespace, found, versions, secrets] = await Promise.all([
    readNamespace(api, place.namespace, over),
    asked.releases,
    asked.versions,
    wish.readsSecrets ? listAll(api, `/api/v1/namespaces/${encodeURIComponent(place.namespace)}/secrets`, {over}) : undefined,
  ]);
  const isWanted = ({name}: FoundRelease): boolean => wish.release === undefined || wish.release === name;
  const read = await Promise.all(
    found.releases.filter(isWanted).map(async ({name}) => {
      const release = await readRelease(name, place, tools, over);
      const {differences, replicas} = await readLiveDrift(release.manifest, place, api, {over});
      return {...release, drift: differences, replicas};
    }),
  );
  const seen = found.gaps.length > 0 ? labelledReleases(namespace.objects) : found.releases;
  const known = seen.filter(isWanted).map((release, index) => {
    const {values, drift = [], replicas = {}} = read[index] ?? {};
    return {...release, values, drift, replicas, runsOf: runsOf(release, values)};
  });
  const scope = scopeOf(namespace.objects, known, wish.run, wish.release);
  const around = await readSurroundings(scope.objects, {api, over, now});
  const nodes = around.objects.filter(({kind}) => kind === 'Node') as NodeObject[];
  const server = (around.version as {gitVersion?: string} | undefined)?.gitVersion;
  const policed = scope.objects.filter((object) => known.some(({name}) => name === releaseOf(object)));
  const enforcement = await readEnforcement(policed, nodes, server, api, over);
  const used = {'scalr-agent': wish.ownVersion, ...versions.versions};
  const secretGap = secrets?.trouble
    ? [
        {
          what: `Secrets of namespace ${place.namespace} (their contents were not searched for)`,
          trouble: secrets.trouble,
          isOfSecrets: true,
        },
      ]
    : [];
  return {
    releases: known,
    scope,
    present: {releases: seen.map(({name}) => name), runs: runIds(namespace.objects, known)},
    cluster: {server, nodes, tools: used, enforcement},
    texts: (hideIn) => [
      {name: 'tools.json', text: jsonText(used)},
      {name: 'version.json', text: jsonText(around.version ?? null)},
      ...objectFiles([...scope.objects, ...around.objects], hideIn),
      ...(enforcement === undefined ? [] : [enforcement.file]),
      ...read.flatMap(({files}) => files(hideIn)),
    ],
    logs: logItems(scope.pods, place.namespace, wish),
    seeds: seedsOf((secrets?.items ?? []) as SecretContent[], scope.objects),
    skewMs: around.skewMs,
    skipsSecrets: !wish.readsSecrets,
    findings: () => skewFindings(around.skewMs, wish.since, now()),
    gaps: [
      ...namespace.gaps,
      ...found.gaps,
      ...versions.gaps,
      ...read.flatMap(({gaps}) => gaps),
      ...secretGap,
      ...around.gaps,
      ...(enforcement?.gaps ?? []),
    ],
  };
}

const runsOf = ({name, chart, version}: FoundRelease, values: Values | undefined): BundledRelease['runsOf'] =>
  chart === 'agent-local' ? undefined : {chart, version, release: name, taskLabels: labelsOfRuns(values ?? {})};

/** What can be asked before the API server is reached. */
export interface AskedTools {
  tools: Tools;
  releases: Promise<FoundReleases>;
  versions: Promise<ToolVersions>;
}

/** Starts them at once: each takes longer to start than to answer. */
export function askTools(place: Place, processes: Processes, over: AbortSignal): AskedTools {
  const tools = patientTools(processes, over);
  return {tools, releases: findReleases(place, tools, over), versions: readTools(place, tools, over)};
}
