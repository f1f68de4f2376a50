import {readSnapshot} from '../apply/read-snapshot.ts';
import {EVERY_MS, type PollDeps} from '../apply/watch-release.ts';
import type {Values} from '../charts/tree.ts';
import type {ClusterAccess} from '../cluster/cluster-access.ts';
import {scalrChart} from '../cluster/facts/releases.ts';
import type {ListedRelease} from '../cluster/inventory-readings.ts';
import {readLiveDrift} from '../cluster/live-drift.ts';
import {contextName, givenValues, installedObjects, newestRevision, REQUIRED_MS} from '../cluster/read-facts.ts';
import {helmCommand} from '../command-line.ts';
import {rootsOf} from '../diagnose/readiness.ts';
import {ExitCode, ExpectedError} from '../errors.ts';
import {listReleases} from '../helm/helm.ts';
import type {Place, ReleaseName} from '../ports/processes.ts';
import {withTimeout} from '../signals.ts';
import {isPassing, jsonFrom, toolFailure, tryCluster} from '../tool-errors.ts';
import {notFound} from './release-causes.ts';
import {readRunLogs} from './run-logs.ts';
import {chartOf, howToFindRuns, type Status, statusOf, type Unread} from './status.ts';

interface Wish {
  /** The values to compare with. */
  wanted: Values | undefined;
  /** Until then an answer is waited for. */
  over: AbortSignal;
}

/** Looks once, and goes on without what may not be read. Changes nothing. @throws ExpectedError */
export async function readStatus(name: ReleaseName, {wanted, over}: Wish, world: ClusterAccess & {now(): Date}): Promise<Status> {
  const {kubernetes, processes, now} = world;
  const [context, seen, record, given, live] = await Promise.all([
    // A pod of the cluster has none, and needs none.
    attempt('the context', contextName(name, processes, over)),
    attempt('workloads', readSnapshot(name, kubernetes, over)),
    attempt('the record of the release', newestRevision(name, processes, over)),
    // Asked for before it is known whether there is a release: helm takes its time.
    attempt('the installed values', givenValues(name, processes, over)),
    attempt(
      'the objects of the release',
      installedObjects(name, processes, over).then((rendered) =>
        readLiveDrift(rendered, name.place, kubernetes, {over, idleMs: REQUIRED_MS}),
      ),
    ),
  ]);
  const revision = record.value;
  if (record.failure === undefined && (revision === undefined || revision.status === 'uninstalled')) {
    throw await notFound(name, revision, world, over);
  }
  if (revision !== undefined && scalrChart(revision.chart) === undefined) throw ofAnother(name, revision.chart);
  const isNothingSeen = seen.value === undefined || rootsOf(seen.value.snapshot).length === 0;
  if (record.failure && isNothingSeen) throw seen.failure ?? record.failure;
  if (seen.failure && !isRefused(seen.failure)) throw seen.failure;
  const unread = [seen, record, ...(record.failure ? [] : [given, live])].flatMap((each) => unreadOf(each, name));
  const uncompared = (live.value?.failures ?? []).flatMap((failure) => unreadOf({what: 'objects of the release', failure}, name));
  const runs = howToFindRuns(name, chartOf(revision, seen.value), given.value);
  const {namespace} = name.place;
  return statusOf({
    runLogs: seen.value && runs ? await readRunLogs(seen.value.objects, runs, {kubernetes, namespace, over}) : [],
    name,
    context: context.value ?? '',
    now: now(),
    revision,
    given: given.value,
    look: seen.value,
    live: live.value,
    unread: [...unread, ...uncompared],
    wanted,
  });
}

/** Every release of an agent chart, of all namespaces. @throws ExpectedError */
export async function agentReleases(
  place: Place,
  {processes}: Pick<ClusterAccess, 'processes'>,
  over: AbortSignal,
): Promise<ReleaseName[]> {
  const call = listReleases(place, {everywhere: true});
  const listed = await processes.run(call, {over});
  if (listed.exitCode !== 0) throw toolFailure(call, listed);
  return jsonFrom<ListedRelease[]>(call, listed.stdout)
    .filter(({chart}) => scalrChart(chart) !== undefined)
    .map(({name: release, namespace}) => ({release, place: {...place, namespace}}));
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

const isRefused = ({code}: ExpectedError): boolean => code === 'FORBIDDEN';

const unreadOf = ({what, failure}: Attempt<unknown>, {place}: ReleaseName): Unread[] =>
  failure ? [{what, code: failure.code, reason: failure.message, remedy: failure.suggestions[0] ?? tryCluster(place)}] : [];

/** The release is not of a Scalr agent chart. */
export const ofAnother = ({release, place}: ReleaseName, chart: string): ExpectedError =>
  new ExpectedError(`Release ${release} in namespace ${place.namespace} is of the chart ${chart}, not of a Scalr agent.`, {
    code: 'OBJECT_OF_ANOTHER',
    exit: ExitCode.usage,
    suggestions: [
      'Name the release of the agent with --release and --namespace',
      `List all: ${helmCommand(place, 'list', '--all-namespaces')}`,
    ],
  });

interface WatchStatusDeps extends PollDeps {
  /** For every single look. */
  timeoutMs: number;
  onStatus(status: Status): void;
  /** Nobody answers at the moment. */
  onTrouble(trouble: ExpectedError): void;
}

/** Looks again and again until somebody interrupts it. @throws ExpectedError when there is nothing to look at, or no more */
export async function watchStatus(name: ReleaseName, wanted: Values | undefined, world: WatchStatusDeps): Promise<void> {
  const {asked} = world.interrupts;
  let isSeen = false;
  while (!asked.aborted) {
    try {
      const status = await withTimeout(world.timeoutMs, asked, (over) => readStatus(name, {wanted, over}, world));
      if (asked.aborted) return;
      world.onStatus(status);
      isSeen = true;
    } catch (error) {
      if (asked.aborted) return;
      if (!(error instanceof ExpectedError && isSeen && isPassing(error))) throw error;
      world.onTrouble(error);
    }
    await world.sleep(EVERY_MS, asked);
  }
}
