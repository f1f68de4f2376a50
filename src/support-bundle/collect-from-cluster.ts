import type {Pod} from '../cluster/objects.ts';
import {helmCommand, kubectlCommand} from '../command-line.ts';
import {type ErrorCode, ExitCode, ExpectedError} from '../errors.ts';
import type {KubernetesClient} from '../kubernetes/client.ts';
import type {Interrupts} from '../ports/interrupts.ts';
import type {ApiErrorKind} from '../ports/log-stream.ts';
import type {Processes} from '../ports/processes.ts';
import {anySignal} from '../signals.ts';
import {type Collected, interrupted, refuseUnwritable, type SaveDeps, type SaveOptions, saveBundle} from './archive/save-bundle.ts';
import {accessCommands} from './collect/access-commands.ts';
import {type LogItem, statusesOf} from './collect/log-items.ts';
import {type AskedTools, askTools, type BundleOptions, type Prepared, prepareBundle} from './collect/prepare.ts';
import {record, withRecording} from './collect/record.ts';
import {hasRunId, isInName, isOfReleases} from './collect/scope.ts';

export interface FromClusterOptions extends BundleOptions, SaveOptions {
  timeoutMs: number;
  isDryRun: boolean;
  /** How long logs are followed; when undefined, only what exists is collected. */
  followingMs?: number | undefined;
}

type Api = Omit<KubernetesClient, 'connect'>;

interface Deps extends SaveDeps {
  openApi(over: AbortSignal): Promise<Api>;
  processes: Processes;
  interrupts: Interrupts;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  onLog(item: LogItem): void;
  /** Before anything is written. */
  onPrepared(prepared: Prepared): void;
}

/** A bundle of the agents of a namespace. @throws ExpectedError */
export async function collectFromCluster(options: FromClusterOptions, deps: Deps): Promise<Collected> {
  const ended = new AbortController();
  const over = anySignal(AbortSignal.timeout(options.timeoutMs), deps.interrupts.asked, ended.signal);
  const opening = deps.openApi(over);
  const asked = askTools(options.place, deps.processes, over);
  const answered = Promise.allSettled([asked.releases, asked.versions]);
  try {
    return await collect(options, deps, {api: await opening, asked, over});
  } finally {
    ended.abort();
    await answered;
    await opening.then(
      (api) => api.close(),
      () => undefined,
    );
  }
}

async function collect(
  options: FromClusterOptions,
  deps: Deps,
  {api, asked: tools, over}: {api: Api; asked: AskedTools; over: AbortSignal},
): Promise<Collected> {
  const {followingMs, place, isDryRun} = options;
  const {asked, insisted} = deps.interrupts;
  if (followingMs !== undefined && !isDryRun) await refuseUnwritable(place.namespace, options, deps);
  const prepared = await prepareBundle(options, {api, asked: tools, over, now: deps.now});
  if (asked.aborted && !prepared.scope.objects.some(isOfReleases)) throw interrupted(asked);
  if (isEmpty(prepared)) throw emptyError(prepared, options, await accessCommands(prepared.gaps, place.namespace, {api, over}));
  // A run to follow may begin later.
  if (followingMs === undefined) refuseUnknown(prepared, options);
  deps.onPrepared(prepared);
  if (isDryRun) return {wanted: prepared};
  if (followingMs !== undefined) return follow(prepared, {...options, followingMs}, deps, api);
  return {...(await saved(prepared, options, deps, {api, over, insisted}, api)), asked};
}

/** With what an account would need that could not read all of it. */
async function saved(prepared: Prepared, options: FromClusterOptions, deps: Deps, reading: Parameters<typeof saveBundle>[4], api: Api) {
  const {namespace} = options.place;
  const {file, bundle} = await saveBundle(prepared, namespace, options, deps, reading);
  return {file, bundle, access: await accessCommands(bundle.gaps, namespace, {api, over: reading.insisted})};
}

/** Follows the logs of runs as they appear, and then writes everything. */
async function follow(
  {seeds, releases}: Prepared,
  options: FromClusterOptions & {followingMs: number},
  deps: Deps,
  api: Api,
): Promise<Collected> {
  const {processes, interrupts, now} = deps;
  const {place, followingMs, timeoutMs} = options;
  const until = anySignal(AbortSignal.timeout(followingMs), interrupts.asked);
  const recording = await record({...options, namespace: place.namespace, releases}, {...deps, api, until});
  // The first Ctrl-C may have ended the recording; the next one means what the first one means otherwise.
  const asked = interrupts.asked.aborted ? interrupts.insisted : interrupts.asked;
  const over = anySignal(AbortSignal.timeout(timeoutMs), asked);
  const existing = await prepareBundle(options, {api, asked: askTools(place, processes, over), over, now});
  deps.onPrepared(existing);
  const all = withRecording({...existing, seeds: [...seeds, ...existing.seeds]}, recording, api);
  const reading = {api: all.api, over, insisted: interrupts.insisted};
  return {...(await saved(all.prepared, options, deps, reading, api)), asked};
}

const CODES: Readonly<Partial<Record<ApiErrorKind, ErrorCode>>> = {
  'not-logged-in': 'NOT_LOGGED_IN',
  forbidden: 'FORBIDDEN',
  over: 'TIMED_OUT',
};
const ADVICE: Readonly<Partial<Record<ErrorCode, readonly string[]>>> = {
  NOT_LOGGED_IN: ['Log in to the cluster again, then repeat the command'],
  FORBIDDEN: ['Ask an administrator to run both commands, then repeat this one'],
  TIMED_OUT: ['Allow more time with --timeout'],
};
const UNANSWERED: readonly ErrorCode[] = ['TIMED_OUT', 'CLUSTER_UNREACHABLE'];

const isEmpty = ({releases, scope}: Prepared): boolean => releases.length === 0 && !scope.objects.some(isOfReleases);

/** A bundle without anything in it would only look like one. `access` are the commands that let this account read. */
export function emptyError(
  {gaps, present}: Prepared,
  {place, release}: Pick<BundleOptions, 'place' | 'release'>,
  access: readonly string[] = [],
): ExpectedError {
  const {namespace} = place;
  const serious = gaps.find(({isMinor, isOfSecrets}) => !isMinor && !isOfSecrets);
  if (serious === undefined) {
    const others = present?.releases ?? [];
    const what = release === undefined ? 'nothing of a Scalr agent' : `no release ${release} of a Scalr agent`;
    return new ExpectedError(`There is ${what} in namespace ${namespace}.`, {
      code: 'RELEASE_NOT_FOUND',
      exit: ExitCode.usage,
      suggestions:
        others.length > 0
          ? [`Releases that are there: ${others.join(', ')}`, 'Leave out --release for all of them']
          : ['Name the namespace with --namespace', `List releases: ${helmCommand(place, 'list', '--all-namespaces')}`],
    });
  }
  const {trouble, what} = serious;
  const code = CODES[trouble.kind] ?? 'CLUSTER_UNREACHABLE';
  return new ExpectedError(`Nothing of namespace ${namespace} could be read, and no bundle was written. ${what}: ${trouble.message}`, {
    code,
    exit: code === 'TIMED_OUT' ? ExitCode.timedOut : ExitCode.failed,
    suggestions: [
      ...(ADVICE[code] ?? []),
      ...(UNANSWERED.includes(code) ? [`Check the API server: ${kubectlCommand(place, 'get', '--raw', '/readyz?verbose')}`] : []),
      ...access,
    ],
  });
}

type Named = Pick<BundleOptions, 'run' | 'container' | 'place'>;

/** What a name for nothing would leave in the bundle looks like all there is. @throws ExpectedError */
export function refuseUnknown(prepared: Prepared, wish: Named): void {
  const {scope, present: {runs = []} = {}, gaps} = prepared;
  // What may be among the pods that could not be listed is not known.
  if (gaps.some(({what}) => what === 'Pod objects')) return;
  const {run, container, place} = wish;
  if (run !== undefined && !isThere(run, scope))
    throw unknown(`There is no run ${run} in namespace ${place.namespace}.`, [
      runs.length > 0 ? `Runs that are there: ${runs.join(', ')}` : 'No run is there: its pods vanish a minute after it',
      `Follow it from its beginning: --watch --run ${run}`,
    ]);
  const known = [...new Set(scope.pods.flatMap(containerNames))].toSorted();
  if (container !== undefined && known.length > 0 && !known.includes(container))
    throw unknown(`There is no container ${container} in namespace ${place.namespace}.`, [
      `Containers that are there: ${known.join(', ')}`,
    ]);
}

/** Its events stay for an hour, and its Job may. */
const isThere = (run: string, {pods, objects}: Prepared['scope']): boolean =>
  pods.some((pod) => hasRunId(pod, run)) || objects.some(({metadata}) => isInName(metadata.name, run));

/** Also of those that have not begun. */
const containerNames = (pod: Pod): string[] =>
  [...statusesOf(pod), ...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])].map(({name}) => name);

const unknown = (message: string, suggestions: readonly string[]): ExpectedError =>
  new ExpectedError(message, {code: 'INVALID_SETTING', exit: ExitCode.usage, suggestions});
