import {readLiveDrift} from '../cluster/diff/live-drift.ts';
import {REQUIRED_MS} from '../cluster/kubernetes/resources.ts';
import {type InstallFacts, newestRevision} from '../cluster/release/read-release.ts';
import type {ReleaseName} from '../ground/command-line.ts';
import {ExpectedError, isInterrupt, onFailure, RUN_AGAIN} from '../ground/errors.ts';
import type {Files} from '../ground/system/system.ts';
import {ToolFailure} from '../ground/tool-errors.ts';
import {rollBack} from './roll-back.ts';
import {rollbackHints} from './rollback-steps.ts';
import {type RunStepsDeps, runSteps} from './run-steps.ts';
import type {Plan} from './step.ts';
import {requireStored} from './stored-secrets.ts';
import {revert, type TriedUndo, withUndo} from './undo-steps.ts';
import type {Rollback} from './upgrade-rollback.ts';
import {
  releaseText,
  requireReady,
  requireRecord,
  requireSameRevision,
  type WatchDeps,
  type WatchResult,
  watchRelease,
  withRecord,
} from './watch-release.ts';

export interface InstallReleaseDeps extends WatchDeps, Pick<RunStepsDeps, 'onStep'> {
  files: Files;
}

/** A plan, and what it was made from. */
interface PlannedInstall {
  plan: Plan;
  name: ReleaseName;
  facts: InstallFacts;
}

interface BringUpOptions {
  waits: boolean;
  /** On failure the release is rolled back, and the diagnostics are saved at this path. */
  rollBackWith?: string | undefined;
  /** How a change of an installed release is rolled back (default: with one call of helm). */
  rollback?: Pick<Rollback, 'steps'> | undefined;
}

/** Runs the plan of an install, watches until the release is ready, and reads the Secrets again that it has written. @throws ExpectedError */
export async function installRelease(
  planned: PlannedInstall,
  options: BringUpOptions,
  deps: InstallReleaseDeps,
): Promise<WatchResult | undefined> {
  const watched = await bringUp(planned, options, deps);
  await requireStored(planned.plan, planned.name, deps.kubernetes);
  return watched;
}

/** After a failure, what ran before runs again if that is safe. @throws ExpectedError */
async function bringUp(
  {plan, name, facts}: PlannedInstall,
  options: BringUpOptions,
  deps: InstallReleaseDeps,
): Promise<WatchResult | undefined> {
  await requireSameRevision(name, facts, deps);
  const undos: TriedUndo[] = [];
  const change: Change = {name, facts, options, undos};
  try {
    const atFailure = async (failure: ExpectedError): Promise<never> => {
      throw await withReason(failure, change, deps);
    };
    await runSteps(plan.steps, {...deps, undos}).catch(onFailure(atFailure));
    return options.waits ? await watchUntilReady(name, options, deps) : undefined;
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    throw await recovered(error, change, deps);
  }
}

/** What was about to be changed, and what a failure has left of it. */
interface Change {
  name: ReleaseName;
  facts: InstallFacts;
  options: BringUpOptions;
  undos: readonly TriedUndo[];
}

async function watchUntilReady(
  name: ReleaseName,
  {rollBackWith}: BringUpOptions,
  deps: InstallReleaseDeps,
): Promise<WatchResult> {
  // Helm has ended, so its record can be read while the pods start.
  const record = requireRecord(name, deps);
  record.catch(() => undefined);
  const watched = await watchRelease(name, deps);
  requireReady(watched, releaseText(name, rollBackWith === undefined), deps);
  await record;
  return watched;
}

/** The failure of a step, with the state of the record of Helm. The same command can continue after every step. */
async function withReason(
  failure: ExpectedError,
  {name, facts, options}: Change,
  deps: InstallReleaseDeps,
): Promise<ExpectedError> {
  const isUnknown = failure instanceof ToolFailure && !failure.isKnown;
  const explained = isUnknown
    ? failure.with(failure.message, [RUN_AGAIN, ...failure.suggestions])
    : failure;
  if (options.rollBackWith !== undefined) return explained;
  return withRecord(explained, name, facts.release, deps);
}

/** The failure after a rollback, or after the steps before it were reverted. */
async function recovered(
  failure: ExpectedError,
  change: Change,
  deps: InstallReleaseDeps,
): Promise<ExpectedError> {
  const {name, facts, options, undos} = change;
  if (isInterrupt(failure)) return withUndo(failure, undos, deps.kubernetes);
  if (options.rollBackWith === undefined) return restored(failure, change, deps);
  const rolledBack = await rollBack(name, facts.release, failure, {
    ...deps,
    diagnosticsPath: options.rollBackWith,
    steps: options.rollback?.steps,
    isNeeded: undos.length > 0,
  });
  return rolledBack.isDone ? rolledBack.failure : restored(rolledBack.failure, change, deps);
}

/** Starts the agent that the steps have stopped or deleted, unless Helm has already changed what it needs. */
async function restored(
  failure: ExpectedError,
  change: Change,
  deps: InstallReleaseDeps,
): Promise<ExpectedError> {
  const {name, options, undos} = change;
  if (undos.length === 0) return failure;
  if (await isIntact(change, deps)) return revert(failure, undos, name, deps);
  const calls = options.rollback?.steps.map(({call}) => call) ?? [];
  const byHand = rollbackHints(calls);
  const left = undos.map((each) => (calls.length === 0 ? each : {...each, byHand}));
  return withUndo(failure, left, deps.kubernetes);
}

/** True if Helm made no new revision, or a failed one that changed no more than the metadata of an object. */
async function isIntact({name, facts, undos}: Change, deps: InstallReleaseDeps): Promise<boolean> {
  const signal = AbortSignal.timeout(INTACT_MS);
  const newest = await newestRevision(name, deps, signal).catch(onFailure(() => null));
  if (newest === null) return false;
  if (newest?.revision === facts.newestRevision) return true;
  // A helm that was killed can have created workloads that run beside the old ones.
  if (newest?.status.startsWith('pending')) return false;
  const stopped = undos.map(({object}) => `${object.kind} ${object.name}`);
  const others = facts.installed.filter(
    ({kind, metadata}) => !stopped.includes(`${kind} ${metadata.name}`),
  );
  const {differences, failures} = await readLiveDrift(
    others,
    {...deps, kubeTarget: name.kubeTarget},
    {signal, idleMs: REQUIRED_MS},
  );
  const isChanged = differences.some(
    ({problem, paths}) =>
      problem === 'missing' ||
      (problem !== 'added' && paths.some((path) => !path.startsWith('metadata.'))),
  );
  return failures.length === 0 && !isChanged;
}

const INTACT_MS = 30_000;
