import type {KubernetesClient} from '../../cluster/kubernetes/client.ts';
import {anySignal} from '../../ground/async.ts';
import type {Interrupts} from '../../ground/system/system.ts';
import {
  type BundleOptions,
  type PrepareDeps,
  type PreparedBundle,
  prepareBundle,
} from './collect/prepare.ts';
import {type RecordDeps, record} from './collect/record.ts';
import {isOfReleases} from './collect/scope.ts';
import {withRecording} from './collect/with-recording.ts';
import {missingAccess} from './missing-access.ts';
import {emptyError, requireExisting} from './refuse-empty.ts';
import {
  bundleInterrupted,
  type Collected,
  refuseUnwritable,
  type SaveDeps,
  type SaveOptions,
  saveBundle,
} from './save-bundle.ts';

export interface FromClusterOptions extends BundleOptions, SaveOptions {
  timeoutMs: number;
  isDryRun: boolean;
  /** How long logs are followed; if undefined, only existing logs are collected. */
  followingMs?: number | undefined;
}

type Api = Omit<KubernetesClient, 'connect'>;

interface ApiReading {
  api: Api;
  signal: AbortSignal;
}

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
  {api, signal}: ApiReading,
): Promise<Collected> {
  const {followingMs, kubeTarget, isDryRun} = options;
  const {interrupt, forceQuit} = deps.interrupts;
  if (followingMs !== undefined && !isDryRun)
    await refuseUnwritable(kubeTarget.namespace, options, deps);
  const existing = await prepareBundle(options, {...deps, api, signal});
  const isEmpty = !existing.scope.objects.some(isOfReleases);
  if (interrupt.aborted && isEmpty) throw bundleInterrupted(interrupt);
  if (existing.releases.length === 0 && isEmpty) {
    const access = await missingAccess(existing.gaps, kubeTarget, {api, signal});
    throw emptyError(existing, options, access);
  }
  // The run of --watch may not exist yet.
  if (followingMs === undefined) requireExisting(existing, options);
  deps.onPrepared(existing);
  if (isDryRun) return {kind: 'listed', prepared: existing};
  const watched =
    followingMs === undefined
      ? {prepared: existing, signal, interrupt}
      : await follow(existing, {...options, followingMs}, deps, api);
  const signals = {signal: watched.signal, forceQuit};
  const saved = await saveBundle(watched.prepared, options, deps, signals);
  const access = await missingAccess(saved.bundle.gaps, kubeTarget, {api, signal: forceQuit});
  return {kind: 'saved', ...saved, access, interrupt: watched.interrupt};
}

/** What was followed, and the signals that stop what comes after it. */
interface Followed {
  prepared: PreparedBundle;
  signal: AbortSignal;
  interrupt: AbortSignal;
}

/** Follows the logs of runs as they appear, then reads what exists at the end. */
async function follow(
  {knownSecrets, releases}: PreparedBundle,
  options: FromClusterOptions & {followingMs: number},
  deps: Deps,
  api: Api,
): Promise<Followed> {
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
  const secrets = [...knownSecrets, ...existing.knownSecrets];
  return {
    prepared: withRecording({...existing, knownSecrets: secrets}, recording),
    signal,
    interrupt,
  };
}
