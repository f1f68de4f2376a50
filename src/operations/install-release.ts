import type {Cause} from '../diagnose/cause.ts';
import {explainSnapshot} from '../diagnose/explain.ts';
import {commandLine, type ReleaseName, reportCommands} from '../ground/command-line.ts';
import {ExpectedError, failed, maskSecrets, RUN_AGAIN} from '../ground/errors.ts';
import {toolFailure} from '../ground/tool-errors.ts';
import {releaseHistory, rollback, uninstall} from '../helm/helm.ts';
import type {ReleaseRecord} from '../helm/release-record.ts';
import type {ClusterAccess} from '../helm/releases.ts';
import type {Event, Snapshot} from '../kubernetes/objects.ts';
import type {Files} from '../ports/system.ts';
import {type InstallFacts, isPending, newestRevision} from '../release/read-release.ts';
import {readSnapshot} from '../release/read-snapshot.ts';
import {type RunStepsDeps, runSteps} from './run-steps.ts';
import {ofPhase, type Plan, type Step} from './step.ts';
import type {Rollback} from './upgrade.ts';
import {releaseText, requireReady, type WatchDeps, type Watched, watchRelease} from './watch-release.ts';

export interface BringUpDeps extends WatchDeps, Pick<RunStepsDeps, 'onStep'> {
  files: Files;
}

interface BringUpOptions {
  waits: boolean;
  /** On failure the release is rolled back, and the diagnostics are saved at this path. */
  rollBackWith?: string | undefined;
  /** How a change of an installed release is rolled back (default: with one call of helm). */
  rollback?: Pick<Rollback, 'steps'> | undefined;
}

/** Runs the plan of an install and watches until the release is ready. @throws ExpectedError */
export async function installRelease(
  {steps}: Plan,
  name: ReleaseName,
  {release}: InstallFacts,
  {waits, rollBackWith, rollback: given}: BringUpOptions,
  deps: BringUpDeps,
): Promise<Watched | undefined> {
  await requireSameRevision(name, release, deps);
  let isNeeded = false;
  const withoutHelm = new Set<Step>([...ofPhase(steps, 'drain'), ...ofPhase(steps, 'replace')].filter(({workloads}) => workloads));
  try {
    const onStep: typeof deps.onStep = (step, ...news) => {
      isNeeded ||= withoutHelm.has(step);
      deps.onStep(step, ...news);
    };
    await runSteps(steps, {...deps, onStep});
    if (!waits) return undefined;
    // Helm has ended, so its record can be read while the pods start.
    const record = requireRecord(name, deps);
    record.catch(() => undefined);
    const watched = await watchRelease(name, deps);
    requireReady(watched, releaseText(name, rollBackWith === undefined), deps);
    await record;
    return watched;
  } catch (error) {
    if (rollBackWith === undefined || !(error instanceof ExpectedError) || error.code === 'INTERRUPTED') throw error;
    throw await rollBack(name, release, error, {...deps, evidencePath: rollBackWith, steps: given?.steps, isNeeded});
  }
}

/** A user may have read the plan for minutes, while someone else changed the release. @throws ExpectedError */
async function requireSameRevision(name: ReleaseName, planned: ReleaseRecord | undefined, deps: ClusterAccess): Promise<void> {
  const state = await newestRevision(name, deps);
  const revision = state?.status === 'uninstalled' ? undefined : state?.revision;
  if (revision === planned?.revision) return;
  const change = revision === undefined ? 'was uninstalled' : `was changed to revision ${revision} (${state?.status})`;
  throw failed('RELEASE_BUSY', `Release ${name.release} ${change} after the plan was made. Nothing was changed.`, [
    `Check who else changes it: ${commandLine(releaseHistory(name))}`,
    RUN_AGAIN,
  ]);
}

/** Helm succeeds even if the last update of its release record failed. @throws ExpectedError */
async function requireRecord(name: ReleaseName, deps: BringUpDeps): Promise<void> {
  const state = await newestRevision(name, deps);
  if (state === undefined || !isPending(state)) return;
  throw failed(
    'RELEASE_BUSY',
    `Release ${name.release} is ready, but its Helm record is still ${state.status}. Helm could not update the record.`,
    ['Run the same command again with --take-over to repair the record'],
  );
}

const SNAPSHOT_TIMEOUT_MS = 30_000;

interface RollBackDeps extends ClusterAccess {
  files: Pick<Files, 'write'>;
  now(): Date;
  evidencePath: string;
  steps?: readonly Pick<Step, 'call' | 'tolerates'>[] | undefined;
  /** Even if Helm created no new revision. */
  isNeeded?: boolean;
}

/** Saves the diagnostics if possible, then rolls a failed release back. Returns the failure with the result of the rollback. */
async function rollBack(
  name: ReleaseName,
  before: ReleaseRecord | undefined,
  failure: ExpectedError,
  deps: RollBackDeps,
): Promise<ExpectedError> {
  const rollBackError = (what: string, ...suggestions: readonly string[]): ExpectedError =>
    failure.with(`${failure.message}\n${what}`, [...failure.suggestions, ...suggestions]);
  const {processes} = deps;
  try {
    const state = await newestRevision(name, deps);
    if (state === undefined || (state.revision === before?.revision && !deps.isNeeded))
      return rollBackError('Nothing to roll back: Helm created no new revision.');
    if (isPending(state)) return rollBackError(`Not rolled back: the release is ${state.status}.`);
    if (before !== undefined && before.status !== 'deployed')
      return rollBackError(`Not rolled back: the previous revision was ${before.status}.`);
    const lost = await keepEvidence(name, deps);
    for (const {call, tolerates} of deps.steps ?? [{call: before === undefined ? uninstall(name) : rollback(name, before.revision)}]) {
      const outcome = await processes.start(call).outcome;
      if (outcome.exitCode !== 0 && !tolerates?.test(outcome.stderr)) throw toolFailure(call, outcome);
    }
    const done =
      before === undefined
        ? 'Rolled back: the release was uninstalled. Secrets and the namespace remain for the next install.'
        : `Rolled back to revision ${before.revision}.`;
    if (lost === undefined) return rollBackError(done, `Diagnostics from before the rollback: ${deps.evidencePath}`);
    return rollBackError(`${done}\nCannot save the diagnostics from before the rollback: ${lost.message}`, ...lost.suggestions);
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return rollBackError(`Not rolled back: ${error.message}`, ...error.suggestions);
  }
}

/** Returns the error, if any: a rollback without diagnostics is better than a broken release. */
async function keepEvidence(name: ReleaseName, {kubernetes, files, now, evidencePath}: RollBackDeps): Promise<ExpectedError | undefined> {
  try {
    const {snapshot} = await readSnapshot(name, kubernetes, AbortSignal.timeout(SNAPSHOT_TIMEOUT_MS));
    const text = evidenceText(name, snapshot, explainSnapshot(snapshot, now()), now());
    await files.write(evidencePath, text, {isPrivate: true, flag: '--save'});
    return undefined;
  } catch (error) {
    if (error instanceof ExpectedError) return error;
    throw error;
  }
}

/** The state of a release that did not become ready, as JSON: no specs, which may contain secrets, and no passwords in strings. */
function evidenceText(name: ReleaseName, {workloads, pods, claims, events, logs}: Snapshot, causes: readonly Cause[], now: Date): string {
  const states = [...workloads, ...pods, ...claims].map(({kind, metadata: {name}, status}) => ({kind, name, status}));
  const {release} = name;
  const evidence = {release, time: now.toISOString(), causes, states, events: events.map(eventOf), logs, page: reportCommands(name)};
  return `${JSON.stringify(evidence, (_, value: unknown) => (typeof value === 'string' ? maskSecrets(value) : value), 2)}\n`;
}

const eventOf = ({type, reason, message, count, lastTimestamp, eventTime, involvedObject}: Event): object => ({
  type,
  reason,
  message,
  count,
  time: lastTimestamp ?? eventTime,
  object: `${involvedObject?.kind}/${involvedObject?.name}`,
});
