import {agentReleases, readAllStatus, readStatus} from '../checks/status/read-status.ts';
import {hasChanged, type ReleaseStatus} from '../checks/status/status.ts';
import type {ClusterAccess} from '../cluster/helm/releases.ts';
import {contextName, contextNames} from '../cluster/release/read-release.ts';
import {
  readAccountStatus,
  unreadOfAccount,
  withAccount,
} from '../extensions/account/account-status.ts';
import {pooled, withTimeout} from '../ground/async.ts';
import type {ClusterTarget, ReleaseName} from '../ground/command-line.ts';
import {ExitCode, ExpectedError, failed, onFailure} from '../ground/errors.ts';
import {reportCommands} from '../ground/own-commands.ts';
import type {Processes} from '../ground/system/system.ts';
import {count, few} from '../ground/text.ts';
import type {Values} from '../ground/tree.ts';
import {newestInRepository} from '../operations/read-chart.ts';
import {Settings} from '../settings/settings.ts';
import {driftText} from '../ui/changes.ts';
import {statusText} from '../ui/status.ts';
import {
  type ClusterStatus,
  type ClustersDocument,
  clustersDocument,
  clustersTable,
  type StatusDocument,
  statusDocument,
  statusTable,
} from '../ui/status-list.ts';
import {optionalAccount} from './account.ts';
import type {CommandContext} from './operate.ts';
import {addressIn} from './release-address.ts';

/** What `status` compares. */
export interface StatusRequest {
  name: ReleaseName;
  /** The user has named the release or its namespace. */
  isNamed: boolean;
  /** Paths of the values files, and their merged content. */
  files: readonly string[];
  desired: Values | undefined;
  /** Differences and failed comparisons are failures. */
  isStrict: boolean;
  /** Reads the agents in the Scalr account too, if there is a token for it. */
  usesAccount: boolean;
  /** Asks the repository for the newest chart version. */
  asksNewest: boolean;
}

/** Shows one release; without a name, the only one of the cluster. @throws ExpectedError */
export async function showRelease(
  request: StatusRequest,
  access: ClusterAccess,
  context: CommandContext,
): Promise<StatusDocument> {
  const {files, isStrict, usesAccount, asksNewest} = request;
  const {now} = context.app;
  const {isJson, resultScreen, timeoutMs, say, show, exitWith} = context;
  const signal = AbortSignal.timeout(timeoutMs);
  const {name, status: inCluster} = await findStatus(request, access, context, signal);
  const [withAgents, newest] = await Promise.all([
    usesAccount ? statusWithAccount(name, inCluster, context) : inCluster,
    asksNewest && inCluster.chart
      ? newestInRepository(inCluster.chart.name, access.processes, signal)
      : undefined,
  ]);
  if (asksNewest && newest === undefined)
    say('The newest version is unknown: cannot read the chart repository.\n');
  const status =
    withAgents.chart && newest !== undefined
      ? {...withAgents, chart: {...withAgents.chart, newest}}
      : withAgents;
  if (!isJson) {
    show(statusText({name, status, files, now: now()}, resultScreen));
    const text = driftText(status.drift, resultScreen);
    if (text !== '') show(`\n${text}`);
    if (status.causes.length > 0)
      say(
        `Symptoms and remedies: ${context.docs}/guide/symptoms.md\nLogs and timeline in one page: ${reportCommands(name).join(', then ')}\n`,
      );
  }
  exitWith(exitOf(status, files, isStrict));
  return statusDocument(name, status, files);
}

/** The status of the named release; if the user named none and it does not exist, of the only one of the cluster. @throws ExpectedError */
async function findStatus(
  {name, isNamed, desired}: StatusRequest,
  access: ClusterAccess,
  {app, say}: CommandContext,
  signal: AbortSignal,
): Promise<{name: ReleaseName; status: ReleaseStatus}> {
  const read = async (each: ReleaseName) => ({
    name: each,
    status: await readStatus(each, {desired, signal}, {...access, now: app.now}),
  });
  return read(name).catch(async (error: unknown) => {
    if (isNamed || !(error instanceof ExpectedError && error.code === 'RELEASE_NOT_FOUND'))
      throw error;
    const [only, ...others] = await agentReleases(name.kubeTarget, access, signal).catch(
      onFailure(() => []),
    );
    if (only === undefined || others.length > 0) throw error;
    say(
      `Using release ${only.release} in namespace ${only.kubeTarget.namespace}, the only agent release of the cluster.\n`,
    );
    return read(only);
  });
}

/** Lists all agent releases of the cluster. @throws ExpectedError */
export async function showAllReleases(
  {name: {kubeTarget}, isStrict}: StatusRequest,
  access: ClusterAccess,
  {app: {now}, isJson, resultScreen, timeoutMs, show, exitWith}: CommandContext,
): Promise<{releases: readonly StatusDocument[]}> {
  const signal = AbortSignal.timeout(timeoutMs);
  const context = contextName(kubeTarget, access, signal).catch(() => '');
  const all = await readAllStatus(kubeTarget, {context, signal}, {...access, now});
  if (!isJson) show(statusTable(all, resultScreen));
  exitWith(worstExit(all.map(({status}) => exitOf(status, [], isStrict))));
  return {releases: all.map(({name, status}) => statusDocument(name, status, []))};
}

/** With `isStrict`, differences are failures, and so is what could not be compared: it is never equal. */
export function exitOf(
  {state, objects, isFullyCompared, drift}: ReleaseStatus,
  files: readonly string[],
  isStrict: boolean,
): ExitCode {
  if (state !== 'ready') return ExitCode.failed;
  if (!isStrict) return ExitCode.ok;
  if (objects === undefined || (files.length > 0 && drift === undefined)) return ExitCode.failed;
  if (hasChanged({objects}) || (drift?.differences.length ?? 0) > 0) return ExitCode.differences;
  return isFullyCompared ? ExitCode.ok : ExitCode.failed;
}

/** The exit code of several releases. */
export const worstExit = (exits: readonly ExitCode[]): ExitCode =>
  [ExitCode.failed, ExitCode.differences].find((exit) => exits.includes(exit)) ?? ExitCode.ok;

/** Adds what Scalr reports, if there is a token for the account in the values of the release; otherwise nothing is contacted. */
async function statusWithAccount(
  name: ReleaseName,
  status: ReleaseStatus,
  context: Pick<CommandContext, 'app' | 'version' | 'timeoutMs'>,
): Promise<ReleaseStatus> {
  const address = addressIn(status.installedValues, status.revision?.chart);
  if (address === undefined) return status;
  try {
    const client = await optionalAccount(address, new Settings(new Map()), context);
    if (client === undefined) return status;
    return withAccount(name, status, await readAccountStatus(client, status), context.app.now());
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return {...status, unread: [...status.unread, unreadOfAccount('Scalr account', error)]};
  }
}

/** Each cluster needs a process of kubectl. */
const MAX_CLUSTERS_AT_ONCE = 8;

interface ContextsDeps {
  processes: Processes;
  accessTo(kubeTarget: ClusterTarget): Promise<ClusterAccess>;
}

/** Lists the agent releases of the clusters of these contexts, or one named release in each. @throws ExpectedError if no context matches */
export async function showContexts(
  patterns: readonly string[],
  request: StatusRequest,
  {processes, accessTo}: ContextsDeps,
  context: CommandContext,
): Promise<ClustersDocument> {
  const {app, isJson, screen, resultScreen, timeoutMs, show, draw, exitWith} = context;
  const {kubeTarget} = request.name;
  const never = new AbortController().signal;
  const names = contextsMatching(
    patterns,
    await contextNames(kubeTarget, processes, AbortSignal.timeout(timeoutMs)),
  );
  let read = 0;
  const clusters = await pooled(names, MAX_CLUSTERS_AT_ONCE, async (name) => {
    const place = {...kubeTarget, kubeContext: name};
    const access = await accessTo(place);
    // A cluster that does not respond must not take the time of others.
    const cluster = await withTimeout(timeoutMs, never, (signal) =>
      readCluster(place, request, {...access, signal, now: app.now}),
    );
    await access.kubernetes.close();
    read += 1;
    if (screen.isLive) draw(`Read ${read} of ${count(names.length, 'cluster')}\n`);
    return cluster;
  });
  draw('');
  if (!isJson) show(clustersTable(clusters, resultScreen));
  const exits = clusters.flatMap(({releases}) =>
    releases.map(({status}) => exitOf(status, [], request.isStrict)),
  );
  exitWith(clusters.some(({failure}) => failure) ? ExitCode.failed : worstExit(exits));
  return clustersDocument(clusters);
}

async function readCluster(
  place: ClusterTarget & {kubeContext: string},
  {name: {release}, isNamed}: StatusRequest,
  {signal, ...deps}: ClusterAccess & {signal: AbortSignal; now(): Date},
): Promise<ClusterStatus> {
  const context = place.kubeContext;
  const options = {context: Promise.resolve(context), signal};
  const name = {release, kubeTarget: place};
  try {
    if (!isNamed) return {context, releases: await readAllStatus(place, options, deps)};
    return {
      context,
      releases: [{name, status: await readStatus(name, {...options, desired: undefined}, deps)}],
    };
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return {context, releases: [], failure: signal.aborted ? silent(context, error) : error};
  }
}

const silent = (context: string, cause: ExpectedError): ExpectedError =>
  failed(
    'CLUSTER_UNREACHABLE',
    `Cannot reach the Kubernetes API of context ${context} (timed out, --timeout).`,
    cause.suggestions,
    {
      cause,
    },
  );

const MAX_NAMES = 10;

/** The contexts that match a name or a pattern with *, in the order of the patterns. @throws ExpectedError for one without a match */
export function contextsMatching(
  patterns: readonly string[],
  contexts: readonly string[],
): string[] {
  if (contexts.length === 0)
    throw failed('CLUSTER_UNREACHABLE', 'The kubeconfig was not found, or has no contexts.', [
      'Check KUBECONFIG, or set --kubeconfig',
    ]);
  const found = patterns.flatMap((pattern) => {
    const text = pattern.replaceAll(/[\\^$.+?()[\]{}|]/g, '\\$&').replaceAll('*', '.*');
    const matching = contexts.filter(
      (each) => each === pattern || new RegExp(`^${text}$`).test(each),
    );
    if (matching.length > 0) return matching;
    throw failed('INVALID_SETTING', `No context of the kubeconfig matches ${pattern}.`, [
      `Contexts found: ${few(contexts, MAX_NAMES)}`,
    ]);
  });
  return [...new Set(found)];
}
