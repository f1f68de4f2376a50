import {explainSnapshot} from '../checks/diagnose/explain.ts';
import {readSnapshot} from '../checks/diagnose/read-snapshot.ts';
import {rollback, uninstall} from '../cluster/helm/release-calls.ts';
import type {ReleaseRecord} from '../cluster/helm/release-record.ts';
import type {ClusterAccess} from '../cluster/helm/releases.ts';
import type {Event} from '../cluster/kubernetes/objects.ts';
import type {Snapshot} from '../cluster/kubernetes/snapshot.ts';
import {isPending, newestRevision} from '../cluster/release/read-release.ts';
import type {Call} from '../ground/call.ts';
import type {ProcessResult, ReleaseName} from '../ground/command-line.ts';
import {ExpectedError, maskSecrets, onFailure} from '../ground/errors.ts';
import type {ObjectFinding} from '../ground/finding.ts';
import {reportCommands} from '../ground/own-commands.ts';
import type {Files} from '../ground/system/system.ts';
import {toolFailure} from '../ground/tool-errors.ts';
import {whileTemporary} from './repeat-call.ts';
import {rollbackHints} from './rollback-steps.ts';
import type {Step} from './step.ts';

const SNAPSHOT_TIMEOUT_MS = 30_000;

type RollbackStep = Pick<Step, 'call' | 'tolerates'>;

interface RollBackDeps extends ClusterAccess {
  files: Pick<Files, 'write'>;
  now(): Date;
  diagnosticsPath: string;
  steps?: readonly RollbackStep[] | undefined;
  /** Even if Helm created no new revision. */
  isNeeded: boolean;
}

export interface RolledBack {
  /** The failure of the change with the result of the rollback. */
  failure: ExpectedError;
  isDone: boolean;
}

/** Saves the diagnostics if possible, then rolls a failed release back. */
export async function rollBack(
  name: ReleaseName,
  before: ReleaseRecord | undefined,
  failure: ExpectedError,
  deps: RollBackDeps,
): Promise<RolledBack> {
  const result = (isDone: boolean, text: string, ...more: readonly string[]): RolledBack => ({
    isDone,
    failure: failure.with(`${failure.message}\n${text}`, [...failure.suggestions, ...more]),
  });
  try {
    const reason = await whyNot(name, before, deps);
    if (reason !== undefined) return result(false, reason);
    const lost = await saveDiagnostics(name, deps).catch(onFailure((problem) => problem));
    await runRollback(rollbackOf(name, before, deps), deps);
    const done =
      before === undefined
        ? 'Rolled back: the release was uninstalled. Secrets and the namespace remain for the next install.'
        : `Rolled back to revision ${before.revision}.`;
    if (lost === undefined)
      return result(true, done, `Diagnostics from before the rollback: ${deps.diagnosticsPath}`);
    const unsaved = `Cannot save the diagnostics from before the rollback: ${lost.message}`;
    return result(true, `${done}\n${unsaved}`, ...lost.suggestions);
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return result(
      false,
      `Not rolled back: ${error.message}`,
      ...rollbackHints(rollbackOf(name, before, deps).map(({call}) => call)),
      ...error.suggestions,
    );
  }
}

const rollbackOf = (
  name: ReleaseName,
  before: ReleaseRecord | undefined,
  {steps}: RollBackDeps,
): readonly RollbackStep[] =>
  steps ?? [{call: before === undefined ? uninstall(name) : rollback(name, before.revision)}];

/** Why a rollback is not possible, or would change nothing. */
async function whyNot(
  name: ReleaseName,
  before: ReleaseRecord | undefined,
  deps: RollBackDeps,
): Promise<string | undefined> {
  const state = await newestRevision(name, deps);
  if (state === undefined || (state.revision === before?.revision && !deps.isNeeded))
    return 'Nothing to roll back: Helm created no new revision.';
  if (isPending(state)) return `Not rolled back: the release is ${state.status}.`;
  return before === undefined || before.status === 'deployed'
    ? undefined
    : `Not rolled back: the previous revision was ${before.status}.`;
}

/** @throws ExpectedError */
async function runRollback(
  steps: readonly RollbackStep[],
  {processes}: RollBackDeps,
): Promise<void> {
  for (const {call, tolerates} of steps) {
    const outcome = await runTwice(call, (same) => processes.start(same).outcome);
    if (outcome.exitCode !== 0 && !tolerates?.test(outcome.stderr))
      throw toolFailure(call, outcome);
  }
}

/**
 * A failed upgrade did not delete what it no longer renders. Helm fails on such an object, because the record of the upgrade lacks it; the
 * failed rollback has a record with all objects, so the next one succeeds.
 */
const NOT_IN_RECORD = /(?:\bno|original object) \w+ with the name "[^"]*" (?:not )?found/;

async function runTwice(
  call: Call,
  run: (call: Call) => Promise<ProcessResult>,
): Promise<ProcessResult> {
  const {signal} = new AbortController();
  const outcome = await whileTemporary(() => run(call), {signal});
  return outcome.exitCode !== 0 && NOT_IN_RECORD.test(outcome.stderr)
    ? whileTemporary(() => run(call), {signal})
    : outcome;
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
  causes: readonly ObjectFinding[],
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
