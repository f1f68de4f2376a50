import type {Cause} from '../diagnose/cause.ts';
import {explainSnapshot} from '../diagnose/explain.ts';
import {type ReleaseName, reportCommands} from '../ground/command-line.ts';
import {ExpectedError, maskSecrets, onFailure} from '../ground/errors.ts';
import {toolFailure} from '../ground/tool-errors.ts';
import {rollback, uninstall} from '../helm/helm.ts';
import type {ReleaseRecord} from '../helm/release-record.ts';
import type {ClusterAccess} from '../helm/releases.ts';
import type {Event, Snapshot} from '../kubernetes/objects.ts';
import type {Files} from '../ports/system.ts';
import {type InstallFacts, isPending, newestRevision} from '../release/read-release.ts';
import {readSnapshot} from '../release/read-snapshot.ts';
import {type RunStepsDeps, runSteps} from './run-steps.ts';
import {ofPhase, type Plan, type Step} from './step.ts';
import type {Rollback} from './upgrade.ts';
import {
  releaseText,
  requireReady,
  requireRecord,
  requireSameRevision,
  type WatchDeps,
  type Watched,
  watchRelease,
  withRecord,
} from './watch-release.ts';

export interface InstallReleaseDeps extends WatchDeps, Pick<RunStepsDeps, 'onStep'> {
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
  facts: InstallFacts,
  {waits, rollBackWith, rollback: given}: BringUpOptions,
  deps: InstallReleaseDeps,
): Promise<Watched | undefined> {
  const {release} = facts;
  await requireSameRevision(name, facts, deps);
  let isNeeded = false;
  const withoutHelm = new Set<Step>(
    [...ofPhase(steps, 'drain'), ...ofPhase(steps, 'replace')].filter(({workloads}) => workloads),
  );
  try {
    const onStep: typeof deps.onStep = (step, ...news) => {
      isNeeded ||= withoutHelm.has(step);
      deps.onStep(step, ...news);
    };
    const atFailure = async (failure: ExpectedError): Promise<never> => {
      throw rollBackWith === undefined ? await withRecord(failure, name, release, deps) : failure;
    };
    await runSteps(steps, {...deps, onStep}).catch(onFailure(atFailure));
    if (!waits) return undefined;
    // Helm has ended, so its record can be read while the pods start.
    const record = requireRecord(name, deps);
    record.catch(() => undefined);
    const watched = await watchRelease(name, deps);
    requireReady(watched, releaseText(name, rollBackWith === undefined), deps);
    await record;
    return watched;
  } catch (error) {
    if (
      rollBackWith === undefined ||
      !(error instanceof ExpectedError) ||
      error.code === 'INTERRUPTED'
    )
      throw error;
    throw await rollBack(name, release, error, {
      ...deps,
      diagnosticsPath: rollBackWith,
      steps: given?.steps,
      isNeeded,
    });
  }
}

const SNAPSHOT_TIMEOUT_MS = 30_000;

interface RollBackDeps extends ClusterAccess {
  files: Pick<Files, 'write'>;
  now(): Date;
  diagnosticsPath: string;
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
    const lost = await saveDiagnostics(name, deps).catch(onFailure((failure) => failure));
    for (const {call, tolerates} of deps.steps ?? [
      {call: before === undefined ? uninstall(name) : rollback(name, before.revision)},
    ]) {
      const outcome = await processes.start(call).outcome;
      if (outcome.exitCode !== 0 && !tolerates?.test(outcome.stderr))
        throw toolFailure(call, outcome);
    }
    const done =
      before === undefined
        ? 'Rolled back: the release was uninstalled. Secrets and the namespace remain for the next install.'
        : `Rolled back to revision ${before.revision}.`;
    if (lost === undefined)
      return rollBackError(done, `Diagnostics from before the rollback: ${deps.diagnosticsPath}`);
    return rollBackError(
      `${done}\nCannot save the diagnostics from before the rollback: ${lost.message}`,
      ...lost.suggestions,
    );
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return rollBackError(`Not rolled back: ${error.message}`, ...error.suggestions);
  }
}

/** @throws ExpectedError, which is only reported: a rollback without diagnostics is better than a broken release */
async function saveDiagnostics(
  name: ReleaseName,
  {kubernetes, files, now, diagnosticsPath}: RollBackDeps,
): Promise<undefined> {
  const {snapshot} = await readSnapshot(name, kubernetes, AbortSignal.timeout(SNAPSHOT_TIMEOUT_MS));
  const text = diagnosticsText(name, snapshot, explainSnapshot(snapshot, now()), now());
  await files.write(diagnosticsPath, text, {isPrivate: true, flag: '--save'});
}

/** The state of a release that did not become ready, as JSON: no specs, which may contain secrets, and no passwords in strings. */
function diagnosticsText(
  name: ReleaseName,
  {workloads, pods, claims, events, logs}: Snapshot,
  causes: readonly Cause[],
  now: Date,
): string {
  const states = [...workloads, ...pods, ...claims].map(({kind, metadata: {name}, status}) => ({
    kind,
    name,
    status,
  }));
  const {release} = name;
  const diagnostics = {
    release,
    time: now.toISOString(),
    causes,
    states,
    events: events.map(eventOf),
    logs,
    page: reportCommands(name),
  };
  return `${JSON.stringify(diagnostics, (_, value: unknown) => (typeof value === 'string' ? maskSecrets(value) : value), 2)}\n`;
}

const eventOf = ({
  type,
  reason,
  message,
  count,
  lastTimestamp,
  eventTime,
  involvedObject,
}: Event): object => ({
  type,
  reason,
  message,
  count,
  time: lastTimestamp ?? eventTime,
  object: `${involvedObject?.kind}/${involvedObject?.name}`,
});
