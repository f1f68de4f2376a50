import type {ClusterTarget} from '../ground/command-line.ts';
import {commandLine} from '../ground/command-line.ts';
import {ExitCode, ExpectedError} from '../ground/errors.ts';
import {deleteByHand, removeFinalizers} from '../kubernetes/kubectl.ts';
import {type Removal, removalText} from './removal.ts';
import {type RunStepsDeps, runSteps} from './run-steps.ts';
import type {UninstallPlan} from './uninstall.ts';
import type {KeptObject} from './uninstall-keeps.ts';
import {type LeftObject, verifyRemovals} from './verify-removals.ts';
import type {PollDeps} from './watch-release.ts';

interface UninstallDeps extends PollDeps, Pick<RunStepsDeps, 'onStep'> {
  timeoutMs: number;
  /** Plan for the current state of the cluster. */
  planAgain(): Promise<UninstallPlan>;
}

/** The result of an uninstall, verified with the API server. */
export interface Uninstalled {
  /** Deleted objects. */
  removed: readonly string[];
  /** Objects that are not deleted, or could not be verified. */
  notRemoved: readonly KeptObject[];
  exit: ExitCode;
}

interface Failure extends KeptObject {
  /** It may still succeed. */
  isLate: boolean;
}

/** Runs the plan of an uninstall and verifies that what it deletes is gone. @throws ExpectedError if the release cannot be uninstalled */
export async function uninstallRelease(
  {ofRelease, removals}: UninstallPlan,
  kubeTarget: ClusterTarget,
  deps: UninstallDeps,
): Promise<Uninstalled> {
  await runSteps(ofRelease, deps);
  const failures = new Map<Removal, Failure>();
  for (const removal of removals.filter(({steps}) => steps.length > 0)) {
    const failure = await remove(removal, kubeTarget, deps);
    if (failure) failures.set(removal, failure);
  }
  // Objects for which kubectl timed out are read once, for the reason.
  const isLate = [...failures.values()].some((each) => each.isLate);
  const tried = removals.filter((each) => !failures.has(each) || (failures.get(each)?.isLate && each.objects.length > 0));
  const left = await verifyRemovals(tried, deps.now().getTime() + (isLate ? 0 : deps.timeoutMs), deps);
  const notRemoved = removals.flatMap((removal): Failure[] => {
    if (tried.includes(removal)) return (left.get(removal) ?? []).map((each) => failureOf(each, removal, kubeTarget, deps.timeoutMs));
    return [failures.get(removal) as Failure];
  });
  return {
    removed: tried.flatMap((removal) => {
      const names = new Set(left.get(removal)?.map(({object}) => object));
      const gone = removal.objects.filter((each) => !names.has(each));
      return names.size === 0 || (removal.isListed && gone.length > 0) ? [removalText(removal, gone)] : [];
    }),
    // A PVC can be part of the release and of its data.
    notRemoved: [...new Map(notRemoved.map(({what, why, how}) => [what, {what, why, how}])).values()],
    exit: exitOf(notRemoved),
  };
}

function exitOf(failures: readonly Failure[]): ExitCode {
  if (failures.length === 0) return ExitCode.ok;
  return failures.every(({isLate}) => isLate) ? ExitCode.timedOut : ExitCode.failed;
}

/** A failure does not prevent other deletions. */
async function remove(
  {what, objects, steps, isShared, how}: Removal,
  kubeTarget: ClusterTarget,
  deps: UninstallDeps,
): Promise<Failure | undefined> {
  try {
    // Waiting for runs may have taken hours.
    const kept = isShared ? (await deps.planAgain()).keeps.find((each) => each.what === what.replace('All data in ', '')) : undefined;
    if (kept) return {...kept, isLate: false};
    await runSteps(steps, deps);
    return undefined;
  } catch (error) {
    if (!(error instanceof ExpectedError) || error.code === 'INTERRUPTED') throw error;
    const [object] = objects;
    const byHand = how ?? (object ? byHandOf(object, kubeTarget) : '');
    return {what, why: error.message, how: byHand, isLate: error.exit === ExitCode.timedOut};
  }
}

const byHandOf = ({kind, name}: LeftObject['object'], kubeTarget: ClusterTarget): string =>
  commandLine(deleteByHand(kubeTarget, kind, name));

/** Without what removes the finalizer, its work may be left undone: a disk, a DNS record. */
const releaseOf = ({kind, name}: LeftObject['object'], kubeTarget: ClusterTarget): string =>
  `Start the program that removes the finalizer. If it no longer exists: ${commandLine(removeFinalizers(kubeTarget, kind, name))}`;

const failureOf = ({object, why, isLate, isHeld}: LeftObject, {how}: Removal, kubeTarget: ClusterTarget, timeoutMs: number): Failure => ({
  what: `${object.kind} ${object.name}`,
  why: isLate ? `${why} (after ${timeoutMs / 1000} s)` : why,
  how: isHeld === true ? releaseOf(object, kubeTarget) : (how ?? byHandOf(object, kubeTarget)),
  isLate,
});
