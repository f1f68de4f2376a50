import type {ClusterTarget} from '../ground/command-line.ts';
import {pooled} from '../ground/concurrency.ts';
import {ExitCode, ExpectedError, failed} from '../ground/errors.ts';
import {withTimeout} from '../ground/signals.ts';
import {count, few} from '../ground/text.ts';
import type {ClusterAccess} from '../helm/releases.ts';
import type {Processes} from '../ports/processes.ts';
import {contextNames} from '../release/read-release.ts';
import {readAllStatus, readStatus} from '../status/read-status.ts';
import {type ClusterStatus, type ClustersDocument, clustersDocument, clustersTable} from '../ui/status-list.ts';
import type {CommandContext} from './operate.ts';
import {exitOf, type StatusRequest, worstExit} from './status-release.ts';

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
  const names = contextsMatching(patterns, await contextNames(kubeTarget, processes, AbortSignal.timeout(timeoutMs)));
  let read = 0;
  const clusters = await pooled(names, MAX_CLUSTERS_AT_ONCE, async (name) => {
    const place = {...kubeTarget, kubeContext: name};
    const access = await accessTo(place);
    // A cluster that does not respond must not take the time of others.
    const cluster = await withTimeout(timeoutMs, never, (signal) => readCluster(place, request, {...access, signal, now: app.now}));
    await access.kubernetes.close();
    read += 1;
    if (screen.isLive) draw(`Read ${read} of ${count(names.length, 'cluster')}\n`);
    return cluster;
  });
  draw('');
  if (!isJson) show(clustersTable(clusters, resultScreen));
  const exits = clusters.flatMap(({releases}) => releases.map(({status}) => exitOf(status, [], request.isStrict)));
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
    return {context, releases: [{name, status: await readStatus(name, {...options, wanted: undefined}, deps)}]};
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return {context, releases: [], failure: signal.aborted ? silent(context, error) : error};
  }
}

const silent = (context: string, cause: ExpectedError): ExpectedError =>
  failed('CLUSTER_UNREACHABLE', `Cannot reach the Kubernetes API of context ${context} (timed out, --timeout).`, cause.suggestions, {
    cause,
  });

const MAX_NAMES = 10;

/** The contexts that match a name or a pattern with *, in the order of the patterns. @throws ExpectedError for one without a match */
export function contextsMatching(patterns: readonly string[], contexts: readonly string[]): string[] {
  const found = patterns.flatMap((pattern) => {
    const text = pattern.replaceAll(/[\\^$.+?()[\]{}|]/g, '\\$&').replaceAll('*', '.*');
    const matching = contexts.filter((each) => each === pattern || new RegExp(`^${text}$`).test(each));
    if (matching.length > 0) return matching;
    throw failed('INVALID_SETTING', `No context of the kubeconfig matches ${pattern}.`, [
      contexts.length === 0 ? 'The kubeconfig has no contexts. Set --kubeconfig' : `Contexts found: ${few(contexts, MAX_NAMES)}`,
    ]);
  });
  return [...new Set(found)];
}
