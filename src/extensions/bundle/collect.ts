import {setTimeout as wait} from 'node:timers/promises';
import {apiFailure} from '../../cluster/kubernetes/api-error.ts';
import type {KubernetesClient} from '../../cluster/kubernetes/client.ts';
import type {KubernetesObject} from '../../cluster/kubernetes/objects.ts';
import {currentUser, type Permission} from '../../cluster/kubernetes/permissions.ts';
import {REQUEST_MS} from '../../cluster/kubernetes/resources.ts';
import {grantText} from '../../cluster/release/grants.ts';
import {isAboutSecrets} from '../../cluster/release/roles-to-read.ts';
import {anySignal} from '../../ground/async.ts';
import {type ClusterTarget, helmCommand, kubectlCommand} from '../../ground/command-line.ts';
import {ExitCode, type ExpectedError, type FailureCode, failed} from '../../ground/errors.ts';
import type {ReadErrorKind} from '../../ground/fact.ts';
import {userIn} from '../../ground/identity.ts';
import type {Interrupts} from '../../ground/system/system.ts';
import {type HostBundleOptions, type HostDeps, prepareDocker} from './collect/docker.ts';
import {prepareJournal} from './collect/journal.ts';
import {statusesOf} from './collect/log-items.ts';
import {
  type BundleOptions,
  type PrepareDeps,
  type PreparedBundle,
  prepareBundle,
} from './collect/prepare.ts';
import {BUNDLED_KINDS, type Gap} from './collect/read-objects.ts';
import {type RecordDeps, record, withRecording} from './collect/record.ts';
import {hasRunId, isOfReleases, nameContainsRun} from './collect/scope.ts';
import {
  type BundleReading,
  bundleInterrupted,
  type Collected,
  refuseUnwritable,
  type SaveDeps,
  type SaveOptions,
  saveBundle,
} from './write-bundle.ts';

/** Within this time, a signal reaches all processes of the group. */
const SIGNAL_MS = 100;

export interface FromHostOptions extends SaveOptions, Pick<HostBundleOptions, 'since'> {
  /** Docker container; if undefined, the systemd service. */
  container?: string | undefined;
  timeoutMs: number;
  isDryRun: boolean;
}

interface FromHostDeps extends SaveDeps, Omit<HostDeps, 'signal'> {
  files: SaveDeps['files'] & HostDeps['files'];
  interrupts: Interrupts;
}

/** Collects a bundle of an agent on this machine, without Kubernetes. @throws ExpectedError */
export async function collectFromHost(
  options: FromHostOptions,
  deps: FromHostDeps,
): Promise<Collected> {
  const {interrupt, forceQuit} = deps.interrupts;
  const signal = anySignal(AbortSignal.timeout(options.timeoutMs), interrupt);
  const {container} = options;
  const reading = {since: options.since, now: deps.now()};
  const reader = {...deps, signal};
  const preparing =
    container === undefined
      ? prepareJournal(reading, reader)
      : prepareDocker(container, reading, reader);
  const prepared = await preparing.catch(async (error: unknown) => {
    // Ctrl-C also stops docker and journalctl, which may be noticed first.
    await wait(SIGNAL_MS);
    throw interrupt.aborted ? bundleInterrupted(interrupt) : error;
  });
  // Before a log was read, there is nothing to keep.
  if (interrupt.aborted) throw bundleInterrupted(interrupt);
  if (options.isDryRun) return {desired: prepared};
  const {name, api} = prepared;
  return {
    ...(await saveBundle(prepared, name, options, deps, {api, signal, forceQuit})),
    interrupt,
  };
}

export interface FromClusterOptions extends BundleOptions, SaveOptions {
  timeoutMs: number;
  isDryRun: boolean;
  /** How long logs are followed; if undefined, only existing logs are collected. */
  followingMs?: number | undefined;
}

type Api = Omit<KubernetesClient, 'connect'>;

interface Deps
  extends SaveDeps,
    Omit<PrepareDeps, 'api' | 'signal'>,
    Omit<RecordDeps, 'api' | 'until'> {
  openApi(signal: AbortSignal): Promise<Api>;
  interrupts: Interrupts;
  /** Called before anything is written. */
  onPrepared(prepared: PreparedBundle): void;
}

/** Collects a bundle of the agents in a namespace. @throws ExpectedError */
export async function collectFromCluster(
  options: FromClusterOptions,
  deps: Deps,
): Promise<Collected> {
  const ended = new AbortController();
  const signal = anySignal(
    AbortSignal.timeout(options.timeoutMs),
    deps.interrupts.interrupt,
    ended.signal,
  );
  const opening = deps.openApi(signal);
  try {
    return await collect(options, deps, {api: await opening, signal});
  } finally {
    ended.abort();
    await opening.then(
      (api) => api.close(),
      () => undefined,
    );
  }
}

async function collect(
  options: FromClusterOptions,
  deps: Deps,
  {api, signal}: {api: Api; signal: AbortSignal},
): Promise<Collected> {
  const {followingMs, kubeTarget, isDryRun} = options;
  const {interrupt, forceQuit} = deps.interrupts;
  if (followingMs !== undefined && !isDryRun)
    await refuseUnwritable(kubeTarget.namespace, options, deps);
  const prepared = await prepareBundle(options, {...deps, api, signal});
  if (interrupt.aborted && !prepared.scope.objects.some(isOfReleases))
    throw bundleInterrupted(interrupt);
  if (prepared.releases.length === 0 && !prepared.scope.objects.some(isOfReleases))
    throw emptyError(
      prepared,
      options,
      await missingAccess(prepared.gaps, kubeTarget, {api, signal}),
    );
  // The run of --watch may not exist yet.
  if (followingMs === undefined) requireExisting(prepared, options);
  deps.onPrepared(prepared);
  if (isDryRun) return {desired: prepared};
  if (followingMs !== undefined) return follow(prepared, {...options, followingMs}, deps, api);
  return {...(await saved(prepared, options, deps, {api, signal, forceQuit}, api)), interrupt};
}

/** Adds how to grant missing read access. */
async function saved(
  prepared: PreparedBundle,
  options: FromClusterOptions,
  deps: Deps,
  reading: BundleReading,
  api: Api,
) {
  const {kubeTarget} = options;
  const {file, bundle} = await saveBundle(prepared, kubeTarget.namespace, options, deps, reading);
  return {
    file,
    bundle,
    access: await missingAccess(bundle.gaps, kubeTarget, {api, signal: reading.forceQuit}),
  };
}

/** Follows the logs of runs as they appear, then writes the bundle. */
async function follow(
  {knownSecrets, releases}: PreparedBundle,
  options: FromClusterOptions & {followingMs: number},
  deps: Deps,
  api: Api,
): Promise<Collected> {
  const {interrupts} = deps;
  const {kubeTarget, followingMs, timeoutMs} = options;
  const until = anySignal(AbortSignal.timeout(followingMs), interrupts.interrupt);
  const recording = await record(
    {...options, namespace: kubeTarget.namespace, releases},
    {...deps, api, until},
  );
  // The first Ctrl-C may have ended the recording; the next one then acts as the first one.
  const interrupt = interrupts.interrupt.aborted ? interrupts.forceQuit : interrupts.interrupt;
  const signal = anySignal(AbortSignal.timeout(timeoutMs), interrupt);
  const existing = await prepareBundle(options, {...deps, api, signal});
  deps.onPrepared(existing);
  const all = withRecording(
    {...existing, knownSecrets: [...knownSecrets, ...existing.knownSecrets]},
    recording,
    api,
  );
  const reading = {api: all.api, signal, forceQuit: interrupts.forceQuit};
  return {...(await saved(all.prepared, options, deps, reading, api)), interrupt};
}

/** What read errors mean for the whole bundle; others mean that the cluster is unreachable. */
const FAILURES: Readonly<
  Partial<Record<ReadErrorKind, readonly [code: FailureCode, ...advice: string[]]>>
> = {
  forbidden: ['FORBIDDEN'],
  aborted: ['TIMED_OUT', 'Wait longer with --timeout'],
};

/** Errors that are not about the namespace. */
const ABOUT_ACCESS: readonly ReadErrorKind[] = ['unreachable', 'not-logged-in', 'web-page'];

/** An empty bundle would be misleading. `access` says how to grant read access. */
export function emptyError(
  {gaps, present}: PreparedBundle,
  {kubeTarget, release}: Pick<BundleOptions, 'kubeTarget' | 'release'>,
  access?: string,
): ExpectedError {
  const {namespace} = kubeTarget;
  const serious = gaps.find(({isMinor, isOfSecrets}) => !isMinor && !isOfSecrets);
  if (serious === undefined) {
    const others = present?.releases ?? [];
    const what = release === undefined ? 'Scalr agent' : `Scalr agent release ${release}`;
    return failed(
      'RELEASE_NOT_FOUND',
      `No ${what} found in namespace ${namespace}.`,
      others.length > 0
        ? [`Existing releases: ${others.join(', ')}`, 'Omit --release to collect all releases']
        : [
            'Set the namespace with --namespace',
            `List releases: ${helmCommand(kubeTarget, 'list', '--all-namespaces')}`,
          ],
    );
  }
  const {error, what} = serious;
  const [code, ...advice] = FAILURES[error.kind] ?? ['CLUSTER_UNREACHABLE'];
  if (ABOUT_ACCESS.includes(error.kind)) {
    const failure = apiFailure(error, kubeTarget);
    return failure.with(`${failure.message} No bundle was written.`, failure.suggestions);
  }
  return failed(
    code,
    `Cannot read namespace ${namespace}. No bundle was written. ${what}: ${error.message}`,
    [
      ...advice,
      ...(code === 'FORBIDDEN'
        ? []
        : [
            `Check the API server: ${kubectlCommand(kubeTarget, 'get', '--raw', '/readyz?verbose')}`,
          ]),
      ...(access === undefined ? [] : [access]),
    ],
    {exit: code === 'TIMED_OUT' ? ExitCode.timedOut : ExitCode.failed},
  );
}

/** Rejects unknown runs and containers, because a bundle without them would look complete. @throws ExpectedError */
export function requireExisting(
  {scope, present, gaps}: PreparedBundle,
  {run, container, kubeTarget}: Pick<BundleOptions, 'run' | 'container' | 'kubeTarget'>,
): void {
  const runs = present?.runs ?? [];
  // If pods could not be listed, unknown names are accepted.
  if (gaps.some(({what}) => what === 'Pod objects')) return;
  // Its events exist for an hour, and its Job may still exist.
  const isThere = ({metadata}: KubernetesObject): boolean =>
    nameContainsRun(metadata.name, run as string);
  if (
    run !== undefined &&
    !scope.pods.some((pod) => hasRunId(pod, run)) &&
    !scope.objects.some(isThere)
  )
    throw failed('INVALID_SETTING', `Run ${run} not found in namespace ${kubeTarget.namespace}.`, [
      runs.length > 0
        ? `Existing runs: ${runs.join(', ')}`
        : 'No runs found: the pods of a run are deleted one minute after it ends',
      `Follow the run from its start: --watch --run ${run}`,
    ]);
  // Includes containers that have not started.
  const containers = scope.pods.flatMap((pod) => [
    ...statusesOf(pod),
    ...(pod.spec?.initContainers ?? []),
    ...(pod.spec?.containers ?? []),
  ]);
  const known = [...new Set(containers.map(({name}) => name))].toSorted();
  if (container !== undefined && known.length > 0 && !known.includes(container))
    throw failed(
      'INVALID_SETTING',
      `Container ${container} not found in namespace ${kubeTarget.namespace}.`,
      [`Existing containers: ${known.join(', ')}`],
    );
}

/** Everything that a bundle reads. Optional kinds too, because a role may name kinds that the cluster does not have. Pure. */
function permissionsOfBundle(namespace: string, secrets: readonly string[]): Permission[] {
  const kinds = BUNDLED_KINDS.map(({resource}) => resource);
  const resources = [...secrets, 'pods/log', ...kinds];
  return [
    ...resources.flatMap((resource) =>
      ['get', 'list'].map((verb) => ({verb, resource, namespace})),
    ),
    ...['nodes', 'persistentvolumes'].flatMap((resource) =>
      ['get', 'list'].map((verb) => ({verb, resource})),
    ),
  ];
}

const WITHOUT_SECRETS =
  'These roles do not allow reading Secrets. The bundle contains no Helm release, and Secret values are recognized only by format or key name.';

/** How an administrator grants this account the read access of a bundle; undefined if nothing was forbidden. */
export async function missingAccess(
  gaps: readonly Gap[],
  kubeTarget: ClusterTarget,
  {api, signal}: {api: Pick<KubernetesClient, 'post'>; signal: AbortSignal},
): Promise<string | undefined> {
  const refused = gaps.filter(({error, isMinor}) => error.kind === 'forbidden' && !isMinor);
  if (refused.length === 0) return undefined;
  const needsSecrets = refused.every(({error}) => isAboutSecrets(error.message));
  const {namespace} = kubeTarget;
  const [refusedUser] = gaps.flatMap(({error}) => userIn(error.message) ?? []);
  const {value: user = refusedUser} = await currentUser(api, {signal, idleMs: REQUEST_MS});
  return grantText(
    permissionsOfBundle(namespace, needsSecrets ? ['secrets'] : []),
    {
      purpose: 'collect-logs',
      namespace,
      user,
      note: needsSecrets ? undefined : WITHOUT_SECRETS,
      hasOwnSecretsRole: true,
    },
    kubeTarget,
  );
}
