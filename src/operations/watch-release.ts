import {registered} from '../checks/diagnose/agent-log.ts';
import {explainSnapshot, isReady, type Progress, progress} from '../checks/diagnose/explain.ts';
import {EMPTY_SNAPSHOT, readSnapshot} from '../checks/diagnose/read-snapshot.ts';
import {POLL_INTERVAL_MS, type PollDeps} from '../cluster/helm/poll.ts';
import {releaseHistory} from '../cluster/helm/release-calls.ts';
import type {ReleaseRecord} from '../cluster/helm/release-record.ts';
import type {ClusterAccess} from '../cluster/helm/releases.ts';
import {describePods} from '../cluster/kubernetes/kubectl.ts';
import {REQUEST_MS} from '../cluster/kubernetes/resources.ts';
import {type InstallFacts, isPending, newestRevision} from '../cluster/release/read-release.ts';
import {anySignal, withTimeout} from '../ground/async.ts';
import {callText} from '../ground/call-arguments.ts';
import {ownCommand, type ReleaseName} from '../ground/command-line.ts';
import {
  ExpectedError,
  failed,
  interrupted,
  isInterrupt,
  onFailure,
  RUN_AGAIN,
} from '../ground/errors.ts';
import {headline, type ObjectFinding, remedyTexts, unknownOf} from '../ground/finding.ts';
import {REPEATS} from '../ground/known-failures.ts';
import type {Interrupts} from '../ground/system/system.ts';
import {sentences} from '../ground/text.ts';
import {isTransient} from '../ground/tool-errors.ts';
import {tryCluster} from '../ground/unreachable.ts';

/** The first polls are faster: many releases are ready in less than a second. */
const FIRST_MS = 200;
/** A ready agent without a log message counts as ready after this time. */
const READY_WITHOUT_LOG_MS = 15_000;
/** Shorter API errors are not reported. */
const MIN_ERROR_MS = 3000;
/** For all requests of one poll. */
const SNAPSHOT_TIMEOUT_MS = 30_000;

export interface WatchResult {
  state: 'ready' | 'failed' | 'timed-out' | 'interrupted';
  /** The state in the log of the agent, if it could be read. */
  agent: 'registered' | 'unknown';
  causes: readonly ObjectFinding[];
}

export interface WatchDeps extends PollDeps {
  timeoutMs: number;
  onProgress(lines: readonly Progress[], causes: readonly ObjectFinding[]): void;
}

/** Watches a release until it is ready, cannot become ready, or the time is over. Does not use the wait of Helm. */
export async function watchRelease(name: ReleaseName, deps: WatchDeps): Promise<WatchResult> {
  const {now, interrupts, onProgress} = deps;
  const signal = anySignal(interrupts.interrupt, AbortSignal.timeout(deps.timeoutMs));
  let seen = EMPTY_SNAPSHOT;
  let seenAt = now();
  let failed: ExpectedError | undefined;
  let readySince: number | undefined;
  let pauseMs = FIRST_MS;
  for (;;) {
    const found = await withTimeout(SNAPSHOT_TIMEOUT_MS, signal, (timeout) =>
      readSnapshot(name, deps.kubernetes, timeout),
    ).catch(onFailure((failure) => failure));
    const at = now();
    if (!(found instanceof ExpectedError)) [seen, seenAt, failed] = [found, at, undefined];
    // A poll that timed out has less information than the previous one.
    else failed = signal.aborted ? (failed ?? found) : found;
    const lasting = at.getTime() - seenAt.getTime() >= MIN_ERROR_MS ? failed : undefined;
    if (lasting !== undefined && !isTransient(lasting)) throw lasting;
    const {snapshot, gaps} = seen;
    const causes = [
      ...explainSnapshot(snapshot, seenAt),
      ...gaps,
      ...(lasting === undefined
        ? []
        : [unknownOf('API server', lasting, tryCluster(name.kubeTarget))]),
    ];
    onProgress(progress(snapshot, causes), causes);
    const agent = registered(snapshot, seenAt) === true ? 'registered' : 'unknown';
    if (found === seen) {
      if (
        snapshot.workloads.length === 0 &&
        isGone(await newestRevision(name, deps, signal).catch(() => null))
      )
        throw uninstalledMeanwhile(name);
      readySince = isReady(snapshot, at) ? (readySince ?? at.getTime()) : undefined;
      if (
        readySince !== undefined &&
        (agent === 'registered' || at.getTime() - readySince >= READY_WITHOUT_LOG_MS)
      )
        return {state: 'ready', agent, causes};
      if (causes.some(({verdict}) => verdict === 'error')) return {state: 'failed', agent, causes};
    }
    if (signal.aborted)
      return {state: interrupts.interrupt.aborted ? 'interrupted' : 'timed-out', agent, causes};
    await deps.sleep(pauseMs, signal);
    pauseMs = Math.min(pauseMs * 2, POLL_INTERVAL_MS);
  }
}

/** True without a record of the release, or with one that is only history; null is not known. */
const isGone = (record: Pick<ReleaseRecord, 'status'> | null | undefined): boolean =>
  record === undefined || (record?.status.startsWith('uninstall') ?? false);

const uninstalledMeanwhile = (name: ReleaseName, ...more: readonly string[]): ExpectedError =>
  failed(
    'RELEASE_BUSY',
    sentences(`Release ${name.release} was uninstalled after the plan was made.`, ...more),
    [`Ask who uninstalled it. To install it again, run: ${ownCommand('install', name)}`],
  );

/** A helm that has ended without an answer can leave a record that blocks the next one, or fails because the release is gone. */
export async function withRecord(
  failure: ExpectedError,
  name: ReleaseName,
  before: ReleaseRecord | undefined,
  deps: ClusterAccess,
): Promise<ExpectedError> {
  if (failure.code === 'RELEASE_BUSY' || isInterrupt(failure)) return failure;
  const state = await newestRevision(name, deps, AbortSignal.timeout(REQUEST_MS)).catch(
    () => before,
  );
  if (isGone(state) && !isGone(before)) {
    const {message, suggestions} = uninstalledMeanwhile(name);
    return failure.with(sentences(failure.message, message), suggestions);
  }
  if (state === undefined || !isPending(state)) return failure;
  // They fail while the record is pending.
  const others = failure.suggestions.filter((each) => !REPEATS.has(each));
  return failure.with(
    sentences(
      failure.message,
      `Helm has ended, but its record of the release is still ${state.status}.`,
    ),
    ['Run the same command again with --take-over', ...others],
  );
}

/** A user may have read the plan for minutes, while someone else changed the release. @throws ExpectedError */
export async function requireSameRevision(
  name: ReleaseName,
  {release, newestRevision: planned}: InstallFacts,
  deps: ClusterAccess,
): Promise<void> {
  const state = await newestRevision(name, deps);
  if (state?.revision === planned && (release === undefined || isGone(state) === isGone(release)))
    return;
  if (isGone(state)) throw uninstalledMeanwhile(name, 'Nothing was changed.');
  const change = `was changed to revision ${state?.revision} (${state?.status})`;
  throw failed(
    'RELEASE_BUSY',
    `Release ${name.release} ${change} after the plan was made. Nothing was changed.`,
    [`Check who else changes it: ${callText(releaseHistory(name))}`, RUN_AGAIN],
  );
}

/** Helm succeeds even if the last update of its release record failed. @throws ExpectedError */
export async function requireRecord(name: ReleaseName, deps: ClusterAccess): Promise<void> {
  const state = await newestRevision(name, deps);
  if (isGone(state)) throw uninstalledMeanwhile(name);
  if (state === undefined || !isPending(state)) return;
  throw failed(
    'RELEASE_BUSY',
    `Release ${name.release} is ready, but its Helm record is still ${state.status}. Helm could not update the record.`,
    ['Run the same command again with --take-over to repair the record'],
  );
}

/** Names what was watched in messages. */
interface WatchedText {
  /** "Release mine" */
  what: string;
  /** What remains after an interrupt, as a sentence. */
  remains: string;
  /** Next steps besides those of the causes. */
  hints: readonly string[];
}

/** @throws ExpectedError if it did not become ready, with causes and next steps */
export function requireReady(
  {
    state,
    causes,
    agent,
  }: Pick<WatchResult, 'state' | 'causes'> & Partial<Pick<WatchResult, 'agent'>>,
  {what, remains, hints}: WatchedText,
  {timeoutMs, interrupts: {interrupt}}: {timeoutMs: number; interrupts: Interrupts},
): void {
  if (state === 'ready') return;
  const withCauses = (message: string): string => [message, ...causes.map(headline)].join('\n');
  if (state === 'interrupted') throw interrupted(withCauses(remains), interrupt);
  const isLate = state === 'timed-out';
  const missing =
    causes.length === 0 && agent === 'unknown'
      ? ' The log of the agent does not show that it is registered.'
      : '';
  throw failed(
    isLate ? 'TIMED_OUT' : 'NOT_READY',
    withCauses(
      isLate
        ? `${what} is not ready after ${timeoutMs / 1000} s.${missing}`
        : `${what} cannot become ready.`,
    ),
    [...new Set([...remedyTexts(causes), ...hints])],
    {causes},
  );
}

export const releaseText = (name: ReleaseName, isLeft: boolean): WatchedText => ({
  what: `Release ${name.release}`,
  remains: `Release ${name.release} is installed, but it is not verified that the agent is ready.`,
  hints: isLeft
    ? [
        `Nothing was rolled back. Inspect the pods: ${callText(describePods(name.kubeTarget))}`,
        `Collect the logs: ${ownCommand('collect-logs', name)}`,
      ]
    : [],
});
