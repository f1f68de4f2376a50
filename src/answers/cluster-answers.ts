import {versionStatus} from '../charts/charts.ts';
import {scalrChart} from '../charts/releases/chart-name.ts';
import {isUsable, newestOf, type Target} from '../charts/releases/target.ts';
import type {ReleaseRecord} from '../cluster/helm/release-record.ts';
import type {ClusterAccess} from '../cluster/helm/releases.ts';
import {apiFailure} from '../cluster/kubernetes/api-error.ts';
import {serverVersion} from '../cluster/kubernetes/discovery.ts';
import {REQUIRED_MS} from '../cluster/kubernetes/resources.ts';
import {mayRun} from '../cluster/kubernetes/scheduling.ts';
import {nodeProvisioner} from '../cluster/platform/autoscalers.ts';
import type {NodeCapacity} from '../cluster/platform/capacity.ts';
import {
  type ClusterFacts,
  clusterFactsOf,
  recommendFactsOf,
  type ScalrRelease,
  type StorageClass,
} from '../cluster/platform/cluster-facts.ts';
import {type NodePool, nodePoolsOf} from '../cluster/platform/node-pools.ts';
import {readCluster} from '../cluster/platform/readings.ts';
import {newestRevision} from '../cluster/release/read-release.ts';
import type {ClusterTarget, ReleaseName} from '../ground/command-line.ts';
import {ExpectedError, failed} from '../ground/errors.ts';
import {isKnown, knownValue} from '../ground/fact.ts';
import type {SettingFinding} from '../ground/finding.ts';
import {count} from '../ground/text.ts';
import {serverProblem, unreachableSteps} from '../ground/unreachable.ts';
import {tokenSecret, tokenSecretKey} from '../settings/agent.ts';
import {cloud, nodeOs} from '../settings/cluster.ts';
import type {Setting} from '../settings/define.ts';
import {httpProxy, httpsProxy, noProxy} from '../settings/network.ts';
import {chart, chartVersion, namespace, release} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {clientCertFile, clientCertSecret, clientKeyFile} from '../settings/tls.ts';
import {writtenSettings} from '../values/reading/read-values.ts';
import {fromCluster, unreadFacts} from './discovered.ts';
import type {SettingsSource} from './sources.ts';

/** Facts of the cluster, as answers and for the chart recommendation. */
export interface ClusterAnswers {
  answers: SettingsSource;
  facts: ReturnType<typeof recommendFactsOf>;
  /** Requested facts that could not be read, as warnings. */
  unread?(settings: Settings): SettingFinding[];
}

/** Settings that decide what is read from the cluster. */
export const ANSWERED_BY_CLUSTER = [
  namespace,
  release,
  chart,
  cloud,
  nodeOs,
  httpProxy,
  httpsProxy,
  noProxy,
  tokenSecret,
  tokenSecretKey,
  clientCertFile,
  clientKeyFile,
  clientCertSecret,
];

/** Values of unset settings from the cluster and the release. @throws ExpectedError if the cluster is unreachable */
export async function openAnswers(
  name: ReleaseName,
  given: Settings,
  access: ClusterAccess,
): Promise<ClusterAnswers | undefined> {
  const hasProxy = given.isExplicit(httpProxy) || given.isExplicit(httpsProxy);
  const open = [chart, cloud, nodeOs, ...(hasProxy ? [noProxy] : [])].filter(
    (setting) => !given.isExplicit(setting),
  );
  const [{answers, facts}, installed, {error}] = await Promise.all([
    open.length === 0
      ? {answers: {name: 'cluster', answer: () => undefined} as const, facts: {}}
      : discoverCluster(name.kubeTarget, access),
    newestRevision(name, access).catch(() => undefined),
    serverVersion(access.kubernetes, {signal: new AbortController().signal, idleMs: REQUIRED_MS}),
  ]);
  // Without kubectl, missing settings come first: the user can set them at once.
  if (error && error.kind !== 'forbidden' && error.cause === undefined)
    throw apiFailure(error, name.kubeTarget, 'version');
  return answers && {answers: withInstalled(answers, name, given, installed), facts};
}

/** The chart of an installed release takes precedence over the recommendation, and the release keeps its chart version and its Secrets. */
function withInstalled(
  answers: SettingsSource,
  {release: releaseName}: ReleaseName,
  given: Settings,
  installed: ReleaseRecord | undefined,
): SettingsSource {
  const found = scalrChart(installed?.chart ?? '');
  if (installed === undefined || found === undefined || installed.status === 'uninstalled')
    return answers;
  const written = installedSettings(installed, found);
  const kept: readonly Setting[] = [
    ...(given.isExplicit(tokenSecret) ? [] : [tokenSecret, tokenSecretKey]),
    ...(given.isExplicit(clientCertFile) ? [clientCertSecret] : []),
  ];
  const isSameChart = (given.get(chart) ?? found.chart) === found.chart;
  // Answers that are the default need no mention.
  const ofRelease = new Map<Setting, unknown>([
    [chart, found.chart],
    ...(isSameChart && isUsable(found) && found.version !== newestOf(found.chart)
      ? [[chartVersion, found.version] as const]
      : []),
    ...kept
      .map((setting) => [setting, written.get(setting.id)] as const)
      .filter(([setting, value]) => value !== given.get(setting)),
  ]);
  return {
    name: 'cluster',
    answer: (setting) => ofRelease.get(setting) ?? answers.answer(setting),
    because: (setting) =>
      ofRelease.get(setting) === undefined ? answers.because?.(setting) : `release ${releaseName}`,
  };
}

/** @throws ExpectedError if the cluster is unreachable */
export async function clusterAt(
  kubeTarget: ClusterTarget,
  access: ClusterAccess,
): Promise<ClusterAnswers> {
  const facts = clusterFactsOf(await readCluster(kubeTarget, access));
  const {server} = facts.versions;
  if (isKnown(server) || server.unknown === 'forbidden')
    return {
      answers: fromCluster(facts),
      facts: recommendFactsOf(facts),
      unread: (settings) => unreadFacts(facts, settings),
    };
  const code = server.unknown === 'not-logged-in' ? 'NOT_LOGGED_IN' : 'CLUSTER_UNREACHABLE';
  throw failed(code, `${serverProblem(server)}.`, [
    ...(server.steps ?? unreachableSteps(server.because, kubeTarget)),
    'Run the command without --from-cluster',
  ]);
}

/** The settings in the values of an installed release, by ID; empty for a version that is too old to be read. Pure. */
const installedSettings = (
  {values}: Pick<ReleaseRecord, 'values'>,
  target: Target,
): ReadonlyMap<string, unknown> =>
  versionStatus(target.chart, target.version).standing === 'older-than-known'
    ? new Map()
    : writtenSettings(values, target);

/** Facts read from a cluster, or the reason why they could not be read. */
export interface DiscoveredCluster {
  answers?: SettingsSource;
  facts: ReturnType<typeof recommendFactsOf>;
  storageClasses: readonly StorageClass[];
  /** The Linux nodes that are ready. */
  nodes?: readonly NodeCapacity[];
  /** Pods without a node selector may get to a node that cannot run them. */
  hasWindows?: boolean;
  /** What adds nodes for pods that fit on none: Autopilot adds nodes for pending pods */
  addsNodes?: string | undefined;
  /** Agents that are installed with Helm. */
  releases: readonly ScalrRelease[];
  nodePools: readonly NodePool[];
  /** Pods resolve names through the address of the metadata service; undefined if that is not known. */
  usesMetadataDns?: boolean;
  /** Platform, version and size in a few words, or why they are unknown. */
  summary: string;
  /** The cluster answered. */
  isRead: boolean;
}

/** Reads the facts of a cluster as answers; never fails. `access` sets the timeout. */
export async function discoverCluster(
  kubeTarget: ClusterTarget,
  access: ClusterAccess,
): Promise<DiscoveredCluster> {
  try {
    const readings = await readCluster(kubeTarget, access);
    const facts = clusterFactsOf(readings);
    const {server} = facts.versions;
    if (!isKnown(server) && server.unknown !== 'forbidden')
      return notDiscovered(serverProblem(server));
    const nodes = knownValue(facts.nodes);
    return {
      answers: fromCluster(facts),
      facts: recommendFactsOf(facts),
      storageClasses: knownValue(facts.storageClasses) ?? [],
      ...(nodes === undefined ? {} : {nodes: nodes.filter(takesAgents)}),
      hasWindows: nodes?.some((node) => node.os === 'windows' && mayRun({}, node)) ?? false,
      addsNodes: knownValue(nodeProvisioner({facts, readings, now: new Date()})),
      releases: knownValue(facts.releases)?.releases ?? [],
      nodePools: nodePoolsOf(nodes ?? []),
      ...(isKnown(facts.dns.usesMetadataAddress)
        ? {usesMetadataDns: facts.dns.usesMetadataAddress.value}
        : {}),
      summary: summaryOf(facts),
      isRead: true,
    };
  } catch (error) {
    if (error instanceof ExpectedError) return notDiscovered(error.message);
    throw error;
  }
}

function summaryOf({versions, platform, nodes}: ClusterFacts): string {
  const {[knownValue(platform.cloud) ?? '']: name} = cloud.labels ?? {};
  const version = isKnown(versions.server)
    ? `Kubernetes ${versions.server.value}`
    : 'no permission to read the version';
  return [
    ...(name === undefined || name === 'Other' ? [] : [name]),
    version,
    ...(isKnown(nodes) ? [count(nodes.value.filter(takesAgents).length, 'node')] : []),
  ].join(', ');
}

const takesAgents = ({os, isReady, isSchedulable}: NodeCapacity): boolean =>
  os === 'linux' && isReady && isSchedulable;

const notDiscovered = (because: string): DiscoveredCluster => ({
  facts: {},
  storageClasses: [],
  releases: [],
  nodePools: [],
  summary: because.replace(/[.?]+$/, ''),
  isRead: false,
});
