import {defaultsOf, schemaOf} from '../../../charts/releases/schema.ts';
import type {LogRecord} from '../../../checks/diagnose/log-matcher.ts';
import {causesOfMissing, causesOfRelease} from '../../../checks/status/release-causes.ts';
import {type LiveDrift, type ObjectDrift, readLiveDrift} from '../../../cluster/diff/live-drift.ts';
import type {Releases} from '../../../cluster/helm/release-record.ts';
import {releasesIn} from '../../../cluster/helm/releases.ts';
import type {ApiReader} from '../../../cluster/kubernetes/client.ts';
import type {KubernetesObject} from '../../../cluster/kubernetes/objects.ts';
import {secretsRequiredBy} from '../../../cluster/kubernetes/pod-specs.ts';
import {listAll} from '../../../cluster/kubernetes/resources.ts';
import type {NodeObject} from '../../../cluster/platform/readings.ts';
import {runsOfRelease} from '../../../cluster/release/inventory.ts';
import type {ClusterTarget} from '../../../ground/command-line.ts';
import type {ObjectFinding} from '../../../ground/finding.ts';
import {jsonText} from '../../../ground/json.ts';
import type {Processes} from '../../../ground/system/system.ts';
import {getAt, leafPaths, sameTree, setAt, type Values} from '../../../ground/tree.ts';
import {knownSecretsOf, type SecretContent} from '../redact/find-secrets.ts';
import type {KnownSecret} from '../redact/known-values.ts';
import type {Gap} from './gap.ts';
import {type LogItem, logItems, type Since} from './log-items.ts';
import {
  clockSkewFindings,
  type Enforcement,
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
  /** Namespace, container or journal; part of the file name. */
  name: string;
  /** Selects the cluster in printed commands; absent on a machine. */
  kubeTarget?: ClusterTarget;
  releases: readonly (BundledRelease & {
    status: string;
    values: Values | undefined;
    drift: readonly ObjectDrift[];
    replicas?: LiveDrift['replicas'];
    /** What `status` shows of the release itself. */
    causes: readonly ObjectFinding[];
  })[];
  scope: BundleScope;
  /** Existing releases and runs, including those that were not requested. */
  present?: {releases: readonly string[]; runs: readonly string[]};
  texts(hideIn: HideIn): readonly TextFile[];
  logs: readonly LogItem[];
  /** Reads logs by their path. */
  api: Pick<ApiReader, 'stream'>;
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
  findings?(logs: readonly LogRecord[], now: Date): readonly ObjectFinding[];
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

/** Reads all data of the bundle. Read-only; unreadable parts are gaps. One list of what is read, and one of what it becomes: splitting it would hide the order. */
export async function prepareBundle(
  options: BundleOptions,
  deps: PrepareDeps,
): Promise<PreparedBundle> {
  const {kubeTarget} = options;
  const {api, signal, now} = deps;
  const tools = toolsWithTimeout(deps.processes, signal);
  const helm = releasesIn({kubernetes: api, processes: tools, helmDriver: deps.helmDriver});
  const [namespace, found, versions, secrets] = await Promise.all([
    readNamespace(api, kubeTarget.namespace, signal),
    findReleases(kubeTarget, helm, signal),
    readToolVersions(kubeTarget, tools, signal),
    readSecrets(options, deps),
  ]);
  const isDesired = ({name}: FoundRelease): boolean =>
    options.release === undefined || options.release === name;
  const read = await Promise.all(
    found.releases.filter(isDesired).map(({name}) => readInstalled(name, kubeTarget, helm, deps)),
  );
  const seen = found.gaps.length > 0 ? labeledReleases(namespace.objects) : found.releases;
  const releases = seen.filter(isDesired).map((release) => {
    const installed = read.find(({name}) => name === release.name);
    return bundledRelease(
      release,
      installed,
      causesIn(installed, {namespace, secrets, kubeTarget}),
    );
  });
  const scope = bundleScope(namespace.objects, releases, options);
  const [around, account] = await Promise.all([
    readAround(scope, releases, deps),
    deps.readAccount?.(releases, scope.pods) ?? {texts: [], gaps: []},
  ]);
  const {server, nodes, enforcement, skewMs} = around;
  const used = {'scalr-agent': options.ownVersion, ...versions.versions};
  const parts = [namespace, found, versions, ...read, secrets, around, account];
  return {
    name: kubeTarget.namespace,
    kubeTarget,
    releases,
    scope,
    present: {releases: seen.map(({name}) => name), runs: runIds(namespace.objects, releases)},
    cluster: {server, nodes, tools: used, enforcement},
    texts: (hideIn) => [
      {name: 'tools.json', text: jsonText(used)},
      ...around.files,
      ...objectFiles([...scope.objects, ...around.objects], hideIn),
      ...read.flatMap(({files}) => files(hideIn)),
      ...releases.flatMap(differencesFile),
      ...account.texts,
    ],
    logs: logItems(scope.pods, kubeTarget.namespace, options),
    api,
    knownSecrets: knownSecretsOf(secrets.items, scope.objects),
    skewMs,
    skipsSecrets: !options.readsSecrets,
    findings: () => clockSkewFindings(skewMs, options.since, now()),
    gaps: parts.flatMap(({gaps}) => gaps),
  };
}

/** Read to find their values elsewhere, unless the user refused it. */
async function readSecrets(
  {kubeTarget: {namespace}, readsSecrets}: BundleOptions,
  {api, signal}: PrepareDeps,
): Promise<{items: readonly SecretContent[]; gaps: Gap[]; wereRead: boolean}> {
  if (!readsSecrets) return {items: [], gaps: [], wereRead: false};
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets`;
  const {items, error} = await listAll(api, path, {signal});
  if (error === undefined) return {items: items as SecretContent[], gaps: [], wereRead: true};
  const what = `Secrets of namespace ${namespace} (the bundle was not searched for their values)`;
  return {
    items: items as SecretContent[],
    gaps: [{what, error, isOfSecrets: true}],
    wereRead: false,
  };
}

/** Helm data of a release, and how its objects differ in the cluster. */
async function readInstalled(
  name: string,
  kubeTarget: ClusterTarget,
  helm: Releases,
  {api, signal}: PrepareDeps,
) {
  const release = await readRelease(name, kubeTarget, helm, signal);
  const target = {kubeTarget, kubernetes: api};
  const {differences, replicas} = await readLiveDrift(release.manifest, target, {signal});
  return {...release, name, drift: differences, replicas};
}

type InstalledData = Awaited<ReturnType<typeof readInstalled>>;

interface Surroundings {
  kubeTarget: ClusterTarget;
  namespace: {objects: readonly KubernetesObject[]};
  secrets: Awaited<ReturnType<typeof readSecrets>>;
}

/** Problems of the record and of the Secrets of a release, as `status` shows them. Missing objects are part of the drift. */
function causesIn(
  installed: InstalledData | undefined,
  {kubeTarget, namespace, secrets}: Surroundings,
): readonly ObjectFinding[] {
  if (installed === undefined) return [];
  const name = {release: installed.name, kubeTarget};
  const found = new Set(secrets.items.map(({metadata}) => metadata.name));
  const workloads = namespace.objects.filter((each) => helmReleaseOf(each) === installed.name);
  const missing = secretsRequiredBy(workloads).filter((each) => !found.has(each));
  return [
    ...causesOfRelease(name, installed.revision, undefined),
    ...causesOfMissing(name, [], secrets.wereRead ? missing : []),
  ];
}

/** A release with its Helm data, if that could be read. */
function bundledRelease(
  release: FoundRelease,
  installed: InstalledData | undefined,
  causes: readonly ObjectFinding[],
): PreparedBundle['releases'][number] {
  const {values, drift = [], replicas = {}} = installed ?? {};
  return {
    ...release,
    values,
    drift,
    replicas,
    causes,
    runsOf: runsOfRelease(release.name, release, values),
  };
}

/** The cluster around the objects of a bundle. */
async function readAround(
  {objects}: BundleScope,
  releases: PreparedBundle['releases'],
  deps: PrepareDeps,
) {
  const around = await readClusterScope(objects, deps);
  const nodes = around.objects.filter(({kind}) => kind === 'Node') as NodeObject[];
  const server = (around.version as {gitVersion?: string} | undefined)?.gitVersion;
  const ofReleases = objects.filter((object) =>
    releases.some(({name}) => name === helmReleaseOf(object)),
  );
  const enforcement = await readEnforcement(ofReleases, {nodes, server}, deps);
  const version = {name: 'version.json', text: jsonText(around.version ?? null)};
  return {
    ...around,
    nodes,
    server,
    enforcement,
    files: enforcement === undefined ? [version] : [version, enforcement.file],
    gaps: [...around.gaps, ...(enforcement?.gaps ?? [])],
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
