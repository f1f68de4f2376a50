import {defaultsOf, schemaOf} from '../../../charts/releases/schema.ts';
import type {Finding} from '../../../checks/diagnose/finding.ts';
import type {LogRecord} from '../../../checks/diagnose/log-matcher.ts';
import {type LiveDrift, type ObjectDrift, readLiveDrift} from '../../../cluster/diff/live-drift.ts';
import {releasesIn} from '../../../cluster/helm/releases.ts';
import type {ApiReader} from '../../../cluster/kubernetes/client.ts';
import {listAll} from '../../../cluster/kubernetes/resources.ts';
import type {NodeObject} from '../../../cluster/platform/readings.ts';
import {runsOfRelease} from '../../../cluster/release/inventory.ts';
import type {ClusterTarget} from '../../../ground/command-line.ts';
import type {Processes} from '../../../ground/system/system.ts';
import {getAt, jsonText, leafPaths, sameTree, setAt, type Values} from '../../../ground/tree.ts';
import {knownSecretsOf, type SecretContent} from '../redact/find-secrets.ts';
import type {KnownSecret} from '../redact/known-values.ts';
import {type LogItem, logItems, type Since} from './log-items.ts';
import {
  clockSkewFindings,
  type Enforcement,
  type Gap,
  type HideIn,
  objectFiles,
  readClusterScope,
  readEnforcement,
  readNamespace,
  type TextFile,
} from './read-objects.ts';
import {
  type BundledRelease,
  type BundleScope,
  bundleScope,
  helmReleaseOf,
  runIds,
} from './scope.ts';
import {
  type FoundRelease,
  findReleases,
  labeledReleases,
  readRelease,
  readToolVersions,
  toolsWithTimeout,
} from './tools.ts';

export interface BundleOptions {
  kubeTarget: ClusterTarget;
  /** Only this release; by default, all Scalr agent releases of the namespace. */
  release?: string | undefined;
  since: Since;
  run?: string | undefined;
  container?: string | undefined;
  ownVersion: string;
  /** Secrets are read to find their values elsewhere. */
  readsSecrets: boolean;
}

/** All data that is known before anything is written. */
export interface PreparedBundle {
  releases: readonly (BundledRelease & {
    status: string;
    values: Values | undefined;
    drift: readonly ObjectDrift[];
    replicas?: LiveDrift['replicas'];
  })[];
  scope: BundleScope;
  /** Existing releases and runs, including those that were not requested. */
  present?: {releases: readonly string[]; runs: readonly string[]};
  texts(hideIn: HideIn): readonly TextFile[];
  logs: readonly LogItem[];
  knownSecrets: readonly KnownSecret[];
  gaps: readonly Gap[];
  /** Requested by the user: Secrets were not searched, so their values may be in the bundle. */
  skipsSecrets?: boolean;
  /** Source of the logs, if they are not from containers. */
  noun?: 'unit';
  /** Subject of the bundle; by default a namespace. */
  about?: string;
  /** Data about the cluster outside the namespace; absent on a machine. */
  cluster?: BundledCluster;
  /** Clock skew: how far the clock of the cluster, used by objects and logs, is ahead of this machine. */
  skewMs?: number;
  /** Findings besides those of objects and values. */
  findings?(logs: readonly LogRecord[], now: Date): readonly Finding[];
}

export interface BundledCluster {
  server: string | undefined;
  /** Nodes with pods of the bundle. */
  nodes: readonly NodeObject[];
  /** Versions of this program, helm, kubectl and others, if available. */
  tools: Readonly<Record<string, string | null>>;
  /** Undefined if no release has a network policy. */
  enforcement: Enforcement | undefined;
}

export interface PrepareDeps {
  api: ApiReader;
  processes: Processes;
  /** HELM_DRIVER. */
  helmDriver: string | undefined;
  signal: AbortSignal;
  now(): Date;
  /** What the Scalr account shows of the releases; absent with --no-account. */
  readAccount?(
    releases: PreparedBundle['releases'],
    pods: BundleScope['pods'],
  ): Promise<{texts: TextFile[]; gaps: Gap[]}>;
}

/** Reads all data of the bundle. Read-only; unreadable parts are gaps. */
export async function prepareBundle(
  options: BundleOptions,
  {api, processes, helmDriver, signal, now, readAccount}: PrepareDeps,
): Promise<PreparedBundle> {
  const {kubeTarget} = options;
  const tools = toolsWithTimeout(processes, signal);
  const releases = releasesIn({kubernetes: api, processes: tools, helmDriver});
  const [namespace, found, versions, secrets] = await Promise.all([
    readNamespace(api, kubeTarget.namespace, signal),
    findReleases(kubeTarget, releases, signal),
    readToolVersions(kubeTarget, tools, signal),
    options.readsSecrets
      ? listAll(api, `/api/v1/namespaces/${encodeURIComponent(kubeTarget.namespace)}/secrets`, {
          signal,
        })
      : undefined,
  ]);
  const isDesired = ({name}: FoundRelease): boolean =>
    options.release === undefined || options.release === name;
  const read = await Promise.all(
    found.releases.filter(isDesired).map(async ({name}) => {
      const release = await readRelease(name, kubeTarget, releases, signal);
      const {differences, replicas} = await readLiveDrift(
        release.manifest,
        {kubeTarget, kubernetes: api},
        {signal},
      );
      return {...release, drift: differences, replicas};
    }),
  );
  const seen = found.gaps.length > 0 ? labeledReleases(namespace.objects) : found.releases;
  const known = seen.filter(isDesired).map((release, index) => {
    const {values, drift = [], replicas = {}} = read[index] ?? {};
    return {
      ...release,
      values,
      drift,
      replicas,
      runsOf: runsOfRelease(release.name, release, values),
    };
  });
  const scope = bundleScope(namespace.objects, known, options.run, options.release);
  const [around, account] = await Promise.all([
    readClusterScope(scope.objects, {api, signal, now}),
    readAccount?.(known, scope.pods) ?? {texts: [], gaps: []},
  ]);
  const nodes = around.objects.filter(({kind}) => kind === 'Node') as NodeObject[];
  const server = (around.version as {gitVersion?: string} | undefined)?.gitVersion;
  const policed = scope.objects.filter((object) =>
    known.some(({name}) => name === helmReleaseOf(object)),
  );
  const enforcement = await readEnforcement(policed, nodes, server, api, signal);
  const used = {'scalr-agent': options.ownVersion, ...versions.versions};
  const secretGap = secrets?.error
    ? [
        {
          what: `Secrets of namespace ${kubeTarget.namespace} (the bundle was not searched for their values)`,
          error: secrets.error,
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
      ...known.flatMap(differencesFile),
      ...account.texts,
    ],
    logs: logItems(scope.pods, kubeTarget.namespace, options),
    knownSecrets: knownSecretsOf((secrets?.items ?? []) as SecretContent[], scope.objects),
    skewMs: around.skewMs,
    skipsSecrets: !options.readsSecrets,
    findings: () => clockSkewFindings(around.skewMs, options.since, now()),
    gaps: [
      ...namespace.gaps,
      ...found.gaps,
      ...versions.gaps,
      ...read.flatMap(({gaps}) => gaps),
      ...secretGap,
      ...around.gaps,
      ...account.gaps,
      ...(enforcement?.gaps ?? []),
    ],
  };
}

type Differing = Pick<
  PreparedBundle['releases'][number],
  'name' | 'chart' | 'version' | 'values' | 'drift'
>;

/** The values of a release that differ from the defaults of its chart, these defaults, and its objects that differ in the cluster. Pure. */
export function differencesFile({name, chart, version, values, drift}: Differing): TextFile[] {
  if (values === undefined) return [];
  const all = defaultsOf(schemaOf({chart}), version);
  const own: Values = {};
  const defaults: Values = {};
  for (const path of leafPaths(values)) {
    const value = getAt(values, path);
    const preset = getAt(all, path);
    if (value === undefined || sameTree(value, preset)) continue;
    setAt(own, path, value);
    if (preset !== undefined) setAt(defaults, path, preset);
  }
  return [
    {
      name: `releases/${name}/differences.json`,
      text: jsonText({values: own, chartDefaults: defaults, inCluster: drift}),
    },
  ];
}
