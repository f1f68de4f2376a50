import {scalrChart} from '../../charts/releases/chart-name.ts';
import {type LiveDrift, readLiveDrift} from '../../cluster/diff/live-drift.ts';
import {POLL_INTERVAL_MS} from '../../cluster/helm/poll.ts';
import {objectsIn, type ReleaseRecord} from '../../cluster/helm/release-record.ts';
import {type ClusterAccess, releasesIn} from '../../cluster/helm/releases.ts';
import {apiFailure} from '../../cluster/kubernetes/api-error.ts';
import type {KubernetesClient} from '../../cluster/kubernetes/client.ts';
import type {KubernetesObject, Pod} from '../../cluster/kubernetes/objects.ts';
import {secretsRequiredBy} from '../../cluster/kubernetes/pod-specs.ts';
import {
  getObject,
  type Listing,
  listObjects,
  podLog,
  REQUIRED_MS,
  type Reader,
} from '../../cluster/kubernetes/resources.ts';
import {ServerClock} from '../../cluster/kubernetes/server-clock.ts';
import {cachedClient, limitedClient} from '../../cluster/kubernetes/with-retries.ts';
import {isOfRun, type RunsOf, runsOfRelease} from '../../cluster/release/inventory.ts';
import {readController, unrecordedAgents} from '../../cluster/release/managers.ts';
import {contextName, newestRevision} from '../../cluster/release/read-release.ts';
import {isAboutSecrets, rolesToRead, withRoles} from '../../cluster/release/roles-to-read.ts';
import {type Clock, pooled, withTimeout} from '../../ground/async.ts';
import {type ClusterTarget, kubectlCommand, type ReleaseName} from '../../ground/command-line.ts';
import {ExpectedError, failed, onFailure} from '../../ground/errors.ts';
import type {ReadError} from '../../ground/fact.ts';
import {type ObjectFinding, remediesOf, unknownOf} from '../../ground/finding.ts';
import {listCommand} from '../../ground/own-commands.ts';
import {isTransient} from '../../ground/tool-errors.ts';
import type {Values} from '../../ground/tree.ts';
import {tryCluster} from '../../ground/unreachable.ts';
import {type ReleaseSnapshot, readSnapshot} from '../diagnose/read-snapshot.ts';
import {rootsOf} from '../diagnose/snapshot-queries.ts';
import {notFound} from './release-causes.ts';
import {chartOf, type ReleaseStatus, statusOf} from './status.ts';

interface ReadStatusOptions {
  /** Values to compare with. */
  desired: Values | undefined;
  /** Name of the context, if it is known. */
  context?: Promise<string>;
  signal: AbortSignal;
}

/** Reads the status once, without parts that the account cannot read. Read-only. @throws ExpectedError */
export const readStatus = (
  name: ReleaseName,
  options: ReadStatusOptions,
  deps: ReadStatusDeps,
): Promise<ReleaseStatus> => readOnce(name, options, deps).catch(withRoles(name, deps.kubernetes));

type ReadStatusDeps = ClusterAccess & {now(): Date};

async function readOnce(
  name: ReleaseName,
  options: ReadStatusOptions,
  given: ReadStatusDeps,
): Promise<ReleaseStatus> {
  const {desired, signal} = options;
  const clock = new ServerClock(given.now);
  const kubernetes = clock.setBy(given.kubernetes);
  const deps = {...given, kubernetes};
  const parts = await readParts(name, options, deps);
  const {seen, record, live} = parts;
  const revision = record.value;
  const snapshot = seen.value?.snapshot;
  const workloads = snapshot?.workloads ?? [];
  const isAbsent =
    record.failure === undefined && (revision === undefined || revision.status === 'uninstalled');
  const [unrecorded] = isAbsent ? unrecordedAgents(workloads, []) : [];
  if (isAbsent && unrecorded === undefined) throw await notFound(name, revision, deps, signal);
  if (revision !== undefined && scalrChart(revision.chart) === undefined)
    throw notAnAgentRelease(name, revision.chart);
  requireSeen(parts);
  const chart = chartOf(revision, seen.value);
  const runs =
    chart && runsOfRelease(name.release, {...chart, chart: chart.name}, revision?.values);
  const {namespace} = name.kubeTarget;
  const reading = {signal, idleMs: REQUIRED_MS};
  const recorded = isAbsent ? undefined : revision;
  return statusOf({
    name,
    context: parts.context.value ?? '',
    now: clock.now(),
    revision: recorded,
    given: recorded?.values,
    unrecorded,
    controller: await readController(name.kubeTarget, workloads, kubernetes, reading),
    releaseSnapshot: seen.value,
    live: isAbsent ? undefined : live.value,
    missingSecrets: recorded
      ? await missingSecrets(workloads, kubernetes, {...reading, namespace})
      : [],
    runLogs:
      seen.value && runs
        ? await readRunLogs(seen.value.objects, runs, kubernetes, {namespace, signal})
        : [],
    unread: await withRemedies(unreadIn(parts, name), name, kubernetes),
    desired,
  });
}

/** Secrets that the pods require and that do not exist. Helm stores releases in Secrets, so a user who reads those can read these. */
async function missingSecrets(
  workloads: readonly KubernetesObject[],
  kubernetes: Reader,
  options: {signal: AbortSignal; idleMs: number; namespace: string},
): Promise<string[]> {
  const found = await Promise.all(
    secretsRequiredBy(workloads).map(async (name) => ({
      name,
      ...(await getObject(kubernetes, 'secrets', name, options)),
    })),
  );
  return found
    .filter(({object, error}) => object === undefined && error === undefined)
    .map(({name}) => name);
}

/** What a status is made of; each part can be unreadable. */
interface StatusParts {
  context: Attempt<string>;
  seen: Attempt<ReleaseSnapshot>;
  record: Attempt<ReleaseRecord | undefined>;
  live: Attempt<LiveDrift>;
}

async function readParts(
  name: ReleaseName,
  {context: known, signal}: ReadStatusOptions,
  deps: ReadStatusDeps,
): Promise<StatusParts> {
  const {kubernetes, processes} = deps;
  const {kubeTarget} = name;
  const recorded = newestRevision(name, deps, signal);
  const compared = recorded.then((found) =>
    readLiveDrift(
      objectsIn(found?.manifest ?? ''),
      {kubeTarget, kubernetes, processes},
      {signal, idleMs: REQUIRED_MS},
    ),
  );
  const [context, seen, record, live] = await Promise.all([
    attempt('kubeconfig context', known ?? contextName(kubeTarget, deps, signal)),
    attempt('workloads', readSnapshot(name, kubernetes, signal)),
    attempt('Helm release', recorded),
    attempt('release objects', compared),
  ]);
  return {context, seen, record, live};
}

/** @throws ExpectedError if nothing of the release could be read */
function requireSeen({seen, record}: StatusParts): void {
  const isNothingSeen = seen.value === undefined || rootsOf(seen.value.snapshot).length === 0;
  if (record.failure && isNothingSeen) throw seen.failure ?? record.failure;
  if (seen.failure && !isForbidden(seen.failure)) throw seen.failure;
}

/** Without its record, nothing of a release can be compared. */
function unreadIn({seen, record, live}: StatusParts, name: ReleaseName): ObjectFinding[] {
  const parts = record.failure ? [seen, record] : [seen, record, live];
  const uncompared = (live.value?.failures ?? []).map((failure) => ({
    what: 'release objects',
    failure,
  }));
  return [...parts, ...uncompared].flatMap((each) => unreadOf(each, name));
}

/** One remedy for Secrets, and one for everything else that the user cannot read. */
async function withRemedies(
  unread: readonly ObjectFinding[],
  name: ReleaseName,
  kubernetes: KubernetesClient,
): Promise<ObjectFinding[]> {
  const given = new Set<string>();
  const answered: ObjectFinding[] = [];
  for (const each of unread) {
    const scope = isAboutSecrets(each.message) ? 'everything' : 'workloads';
    if (!isForbidden(each)) answered.push(each);
    else if (given.has(scope))
      answered.push({...each, remedies: remediesOf('Apply the roles above')});
    else {
      given.add(scope);
      const remedy = await rolesToRead(name, {message: each.message, scope}, kubernetes);
      answered.push({...each, remedies: remediesOf(remedy)});
    }
  }
  return answered;
}

/** All agents of the charts in all namespaces, including those that Helm has no record of. @throws ExpectedError */
export async function agentReleases(
  kubeTarget: ClusterTarget,
  access: ClusterAccess,
  signal: AbortSignal,
): Promise<ReleaseName[]> {
  const options = {signal, idleMs: REQUIRED_MS};
  const [listed, ...workloads] = await Promise.all([
    releasesIn(access).list(kubeTarget, {...options, everywhere: true}),
    ...['deployments.apps', 'daemonsets.apps'].map((kind) =>
      listObjects<KubernetesObject>(access.kubernetes, kind, options),
    ),
  ]);
  const refused = refusedListing(listed, workloads);
  if (refused)
    await withRoles({kubeTarget}, access.kubernetes)(apiFailure(refused, kubeTarget, 'list'));
  const {items} = listed;
  const ours = items.filter(({chart}) => scalrChart(chart) !== undefined);
  const unrecorded = unrecordedAgents(
    workloads.flatMap((each) => each.items),
    items,
  );
  const all = [...ours, ...unrecorded.map(({release, namespace}) => ({name: release, namespace}))];
  return [...new Map(all.map((each) => [`${each.namespace}/${each.name}`, each])).values()].map(
    ({name: release, namespace}) => ({
      release,
      kubeTarget: {...kubeTarget, namespace},
    }),
  );
}

/** Without the records of Helm, workloads show the agents. */
function refusedListing(
  records: Listing,
  workloads: readonly Listing<KubernetesObject>[],
): ReadError | undefined {
  if (records.error === undefined) return undefined;
  const unlisted = workloads.find(({error}) => error)?.error;
  const objects = workloads.flatMap(({items}) => items);
  const isShown = records.error.kind === 'forbidden' && unrecordedAgents(objects, []).length > 0;
  return isShown ? unlisted : (unlisted ?? records.error);
}

/** Requests, and releases. */
const MAX_READ_AT_ONCE = 8;

/** The status of all agent releases of a cluster. @throws ExpectedError if there is none */
export async function readAllStatus(
  kubeTarget: ClusterTarget,
  {context, signal}: {context: Promise<string>; signal: AbortSignal},
  everything: ClusterAccess & {now(): Date},
): Promise<{name: ReleaseName; status: ReleaseStatus}[]> {
  // Releases of one namespace are read from the same lists.
  const access = {
    ...everything,
    kubernetes: cachedClient(limitedClient(everything.kubernetes, MAX_READ_AT_ONCE), signal),
  };
  const names = await agentReleases(kubeTarget, access, signal);
  const read = await pooled(names, MAX_READ_AT_ONCE, (name) =>
    readStatus(name, {desired: undefined, context, signal}, access).then(
      (status) => [{name, status}],
      onFailure(without),
    ),
  );
  if (read.flat().length > 0) return read.flat();
  throw failed('RELEASE_NOT_FOUND', 'No agent release found in any namespace.', [
    `Check the cluster: ${kubectlCommand(kubeTarget, 'cluster-info')}`,
    'Start the wizard to install an agent: scalr-agent install',
  ]);
}

/** A release that was uninstalled after it was listed. */
function without(failure: ExpectedError): [] {
  if (failure.code === 'RELEASE_NOT_FOUND') return [];
  throw failure;
}

interface Attempt<T> {
  what: string;
  value?: T;
  failure?: ExpectedError;
}

async function attempt<T>(what: string, reading: Promise<T>): Promise<Attempt<T>> {
  try {
    return {what, value: await reading};
  } catch (failure) {
    if (!(failure instanceof ExpectedError) || failure.code === 'TOOL_NOT_FOUND') throw failure;
    return {what, failure};
  }
}

const isForbidden = ({code}: {code: string}): boolean => code === 'FORBIDDEN';

const unreadOf = ({what, failure}: Attempt<unknown>, {kubeTarget}: ReleaseName): ObjectFinding[] =>
  failure ? [unknownOf(what, failure, tryCluster(kubeTarget))] : [];

export const notAnAgentRelease = (
  {release, kubeTarget}: ReleaseName,
  chart: string,
): ExpectedError =>
  failed(
    'OBJECT_NOT_OWNED',
    `Release ${release} in namespace ${kubeTarget.namespace} is not a Scalr agent release (chart ${chart}).`,
    [
      'Select the agent release with --release and --namespace',
      `List agents: ${listCommand(kubeTarget)}`,
    ],
  );

interface WatchStatusDeps extends ClusterAccess, Clock {
  /** Ends the watch. */
  end: AbortSignal;
  /** For a single query. */
  timeoutMs: number;
  /** Ends the watch too, if it returns true. */
  onStatus(status: ReleaseStatus): boolean;
  /** The API is temporarily unreachable. */
  onError(error: ExpectedError): void;
}

/** Reads the status repeatedly until its end; true if `onStatus` ended it. @throws ExpectedError if the release does not exist or was deleted */
export async function watchStatus(
  name: ReleaseName,
  desired: Values | undefined,
  deps: WatchStatusDeps,
): Promise<boolean> {
  const {end} = deps;
  let isSeen = false;
  while (!end.aborted) {
    try {
      const status = await withTimeout(deps.timeoutMs, end, (signal) =>
        readStatus(name, {desired, signal}, deps),
      );
      if (end.aborted) return false;
      if (deps.onStatus(status)) return true;
      isSeen = true;
    } catch (error) {
      if (end.aborted) return false;
      if (!(error instanceof ExpectedError && isSeen && isTransient(error))) throw error;
      deps.onError(error);
    }
    await deps.sleep(POLL_INTERVAL_MS, end);
  }
  return false;
}

/** Maximum number of runs, newest first. */
const MAX_RUNS = 3;
/** A run installs providers and modules at its start. */
const START_BYTES = 64 * 1024;

/** The first part of the logs of runs in the cluster that this account can read. */
async function readRunLogs(
  objects: readonly KubernetesObject[],
  of: RunsOf,
  kubernetes: Reader,
  {namespace, signal}: {namespace: string; signal: AbortSignal},
): Promise<string[]> {
  // Pods of agent-k8s without a specific label only resemble runs.
  const isCertain = of.chart !== 'agent-k8s' || Object.keys(of.taskLabels).length > 0;
  const pods = objects.filter(
    (object) => isCertain && object.kind === 'Pod' && isOfRun(object, of),
  ) as Pod[];
  const newest = pods
    .toSorted((one, other) => (ageOf(one) < ageOf(other) ? 1 : -1))
    .slice(0, MAX_RUNS);
  const options = {signal, idleMs: REQUIRED_MS, namespace, limitBytes: START_BYTES};
  const logs = await Promise.all(
    newest.flatMap(({metadata, status}) =>
      [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
        .filter(({state}) => state?.running || state?.terminated)
        .map(({name}) => podLog(kubernetes, metadata.name, name, options)),
    ),
  );
  return logs.flatMap(({text}) => (text === '' ? [] : [text]));
}

const ageOf = ({metadata}: Pod): string => metadata.creationTimestamp ?? '';
