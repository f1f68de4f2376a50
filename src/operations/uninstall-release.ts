import type {PollDeps} from '../cluster/helm/poll.ts';
import {errorLine} from '../cluster/kubernetes/api-error.ts';
import {deleteByHand} from '../cluster/kubernetes/deletions.ts';
import {
  type EndingObject,
  endingText,
  howToEnd,
  isEnding,
} from '../cluster/kubernetes/ending-objects.ts';
import {groupVersionOf, pluralOfKind} from '../cluster/kubernetes/kinds.ts';
import {refText} from '../cluster/kubernetes/object-refs.ts';
import {getObject, REQUIRED_MS} from '../cluster/kubernetes/resources.ts';
import {withTimeout} from '../ground/async.ts';
import {callText} from '../ground/call-arguments.ts';
import type {ClusterTarget} from '../ground/command-line.ts';
import {ExitCode, ExpectedError, failed, interrupted, isInterrupt} from '../ground/errors.ts';
import {type Removal, removalText} from './removal.ts';
import {HELD_AFTER_MS, type RunStepsDeps, runSteps} from './run-steps.ts';
import type {RemovedObject} from './step.ts';
import {isKept} from './step-permissions.ts';
import type {UninstallPlan} from './uninstall.ts';
import {type LeftBehind, RETAINED} from './uninstall-keeps.ts';

interface UninstallDeps extends PollDeps, Pick<RunStepsDeps, 'onStep'> {
  timeoutMs: number;
  /** Receives what the verification waits for. */
  onWait(text: string): void;
  /** Plan for the current state of the cluster. */
  planAgain(): Promise<UninstallPlan>;
}

export interface Uninstalled {
  removed: readonly string[];
  /** Objects that are not deleted, or could not be verified. */
  notRemoved: readonly LeftBehind[];
  exit: ExitCode;
}

interface Failure extends LeftBehind {
  /** It may still succeed. */
  isLate: boolean;
}

/** Runs the plan of an uninstall and verifies that what it deletes is gone. @throws ExpectedError if the release cannot be uninstalled */
export async function uninstallRelease(
  {ofRelease, removals}: UninstallPlan,
  kubeTarget: ClusterTarget,
  deps: UninstallDeps,
): Promise<Uninstalled> {
  const end = ofRelease.findIndex(({isFinal}) => isFinal) + 1;
  await runSteps(ofRelease.slice(0, end), deps);
  if (end > 0) await requireUninstalled(kubeTarget, deps);
  await runSteps(ofRelease.slice(end), deps);
  const failures = new Map<Removal, Failure>();
  for (const removal of removals.filter(({steps}) => steps.length > 0)) {
    const failure = await remove(removal, kubeTarget, deps);
    if (failure) failures.set(removal, failure);
  }
  // Objects for which kubectl timed out are read once, for the reason.
  const isLate = [...failures.values()].some((each) => each.isLate);
  const tried = removals.filter(
    (each) => !failures.has(each) || (failures.get(each)?.isLate && each.objects.length > 0),
  );
  const left = await verifyRemovals(
    tried,
    deps.now().getTime() + (isLate ? 0 : deps.timeoutMs),
    deps,
  );
  const notRemoved = removals.flatMap((removal): Failure[] => {
    if (tried.includes(removal))
      return (left.get(removal) ?? []).map((each) =>
        failureOf(each, removal, kubeTarget, deps.timeoutMs),
      );
    return [failures.get(removal) as Failure];
  });
  return {
    removed: tried.flatMap((removal) => {
      const names = new Set(left.get(removal)?.map(({object}) => object));
      const gone = removal.objects.filter((each) => !names.has(each));
      return names.size === 0 || (removal.isListed && gone.length > 0)
        ? [removalText(removal, gone)]
        : [];
    }),
    // A PVC can be part of the release and of its data.
    notRemoved: [
      ...new Map(
        notRemoved.map(({what, code, why, how}) => [what, {what, code, why, how}]),
      ).values(),
    ],
    exit: exitOf(notRemoved),
  };
}

function exitOf(failures: readonly Failure[]): ExitCode {
  if (failures.length === 0) return ExitCode.ok;
  return failures.every((each) => each.isLate) ? ExitCode.timedOut : ExitCode.failed;
}

/** Another operator may install it meanwhile: its new pods are not those to wait for. @throws ExpectedError */
async function requireUninstalled(
  {namespace}: ClusterTarget,
  {planAgain}: UninstallDeps,
): Promise<void> {
  const plan = await planAgain().catch((error: unknown) => {
    if (error instanceof ExpectedError && error.code === 'RELEASE_NOT_FOUND') return undefined;
    throw error;
  });
  if (!plan?.ofRelease.some(({isFinal}) => isFinal)) return;
  throw failed(
    'RELEASE_BUSY',
    `The release was installed again in namespace ${namespace} during the uninstall. Its new pods keep running.`,
    ['Check who else installs it, then run the same command again'],
  );
}

/** A failure does not prevent other deletions. */
async function remove(
  {what, objects, steps, keptAs, how}: Removal,
  kubeTarget: ClusterTarget,
  deps: UninstallDeps,
): Promise<Failure | undefined> {
  try {
    // Waiting for runs may have taken hours.
    const kept = keptAs && (await deps.planAgain()).keeps.find((each) => each.what === keptAs);
    if (kept) return {...kept, code: 'NOT_REMOVED', isLate: false};
    await runSteps(steps, deps);
    return undefined;
  } catch (error) {
    if (!(error instanceof ExpectedError) || isInterrupt(error)) throw error;
    const [object] = objects;
    const byHand = how ?? (object ? byHandOf(object, kubeTarget) : '');
    const isLate = error.code === 'TIMED_OUT';
    return {what, code: codeOf(isLate), why: error.message, how: byHand, isLate};
  }
}

const codeOf = (isLate: boolean): LeftBehind['code'] =>
  isLate ? 'DELETION_PENDING' : 'NOT_REMOVED';

const byHandOf = (object: LeftObject['object'], kubeTarget: ClusterTarget): string =>
  callText(deleteByHand(kubeTarget, object));

const failureOf = (
  {object, why, isLate, ending, code = codeOf(isLate)}: LeftObject,
  {how}: Removal,
  kubeTarget: ClusterTarget,
  timeoutMs: number,
): Failure => ({
  what: refText(object),
  code,
  why: isLate ? `${why} (after ${timeoutMs / 1000} s)` : why,
  how: (ending && howToEnd(ending, kubeTarget)) ?? how ?? byHandOf(object, kubeTarget),
  isLate,
});

/** An object that should be deleted. */
interface LeftObject {
  object: RemovedObject;
  why: string;
  /** The deletion is only slow. */
  isLate: boolean;
  /** It is being deleted, so deleting it again has no effect. */
  ending?: EndingObject;
  /** Default: follows from `isLate`. */
  code?: LeftBehind['code'];
}

const POLL_INTERVAL_MS = 1000;

/** Polls the API server until all objects are deleted, cannot be deleted, or the timeout expires; reports every change of what holds them up. Returns the remaining objects of each removal. @throws ExpectedError when interrupted */
async function verifyRemovals(
  removals: readonly Removal[],
  endsAt: number,
  {kubernetes, interrupts, now, sleep, onWait}: UninstallDeps,
): Promise<ReadonlyMap<Removal, readonly LeftObject[]>> {
  const {interrupt} = interrupts;
  const reportsAt = now().getTime() + HELD_AFTER_MS;
  let open = removals.flatMap((removal) => removal.objects.map((object) => ({removal, object})));
  let reported = '';
  const left = new Map<Removal, LeftObject[]>();
  for (;;) {
    const found = await Promise.all(
      open.map(async (each) => ({
        ...each,
        state: await withTimeout(REQUIRED_MS, interrupt, (signal) =>
          stateOf(each.object, kubernetes, signal),
        ),
      })),
    );
    if (interrupt.aborted) throw interrupted('The deletions were not verified.', interrupt);
    const isOver = now().getTime() >= endsAt;
    for (const {removal, object, state} of found) {
      if (state === undefined || (state.isLate && !isOver)) continue;
      left.set(removal, [...(left.get(removal) ?? []), {object, ...state}]);
    }
    const late = found.filter(({state}) => state?.isLate);
    if (late.length === 0 || isOver) return left;
    const text = late.map(({object, state}) => `${refText(object)}: ${state?.why}`).join('; ');
    if (now().getTime() >= reportsAt && text !== reported) {
      onWait(text);
      reported = text;
    }
    open = late;
    await sleep(POLL_INTERVAL_MS, interrupt);
  }
}

/** Undefined once it is deleted. */
async function stateOf(
  {kind, name, namespace, groupVersion = groupVersionOf(kind)}: RemovedObject,
  kubernetes: PollDeps['kubernetes'],
  signal: AbortSignal,
): Promise<Omit<LeftObject, 'object'> | undefined> {
  const where = {groupVersion, ...(namespace === undefined ? {} : {namespace})};
  const {object, error} = await getObject<EndingObject>(kubernetes, pluralOfKind(kind), name, {
    signal,
    idleMs: REQUIRED_MS,
    ...where,
  });
  if (error)
    return {
      code: 'NOT_CHECKED',
      why: `cannot verify the deletion: ${errorLine(error)}`,
      isLate: error.kind !== 'forbidden',
    };
  if (object === undefined) return undefined;
  if (isEnding(object)) return {why: endingText(object), isLate: true, ending: object};
  if (kind === 'PersistentVolume') return stateOfVolume(object);
  if (isKept(object)) return {why: 'its annotation helm.sh/resource-policy is keep', isLate: false};
  return {why: 'it still exists: it was not deleted, or was created again', isLate: false};
}

/** Deleted by Kubernetes, after its PVC. */
function stateOfVolume({spec, status}: EndingObject): Pick<LeftObject, 'why' | 'isLate'> {
  if (status?.phase === 'Failed')
    return {
      why: `its data remains: the storage driver failed to delete it (${status.message ?? 'no reason given'})`,
      isLate: false,
    };
  if (spec?.persistentVolumeReclaimPolicy === 'Retain') return {why: RETAINED, isLate: false};
  if (status?.phase === 'Bound')
    return {
      why: `it is still bound to PVC ${spec?.claimRef?.namespace}/${spec?.claimRef?.name}`,
      isLate: true,
    };
  return {why: 'its data remains: the storage driver has not deleted it yet', isLate: true};
}
