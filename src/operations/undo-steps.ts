import type {ClusterAccess} from '../cluster/helm/releases.ts';
import {pluralOfKind} from '../cluster/kubernetes/kinds.ts';
import {isSameRef, refText} from '../cluster/kubernetes/object-refs.ts';
import type {Workload} from '../cluster/kubernetes/objects.ts';
import {getObject, REQUIRED_MS} from '../cluster/kubernetes/resources.ts';
import type {ReleaseName} from '../ground/command-line.ts';
import {ExpectedError, onFailure, RUN_AGAIN} from '../ground/errors.ts';
import {sentences} from '../ground/text.ts';
import {toolFailure} from '../ground/tool-errors.ts';
import {whileTemporary} from './repeat-call.ts';
import type {Step, Undo} from './step.ts';

type Kubernetes = ClusterAccess['kubernetes'];

/** The undo of a step that ran. The last one may have failed after its change. */
export type TriedUndo = Undo & {isDone: boolean};

/** An undo with the state of its object: 0 replicas also if it cannot be read, undefined if it does not exist. */
type Found = TriedUndo & {replicas: number | undefined};

/** Whether the change is still there, and was not reverted by somebody else. */
const isLeft = ({restores, replicas}: Found): boolean =>
  restores === 'object' ? replicas === undefined : replicas === 0;

/** What a failure leaves: of several steps, the last one for each object. */
export function undosOf(tried: readonly Step[], done: readonly Step[]): TriedUndo[] {
  const undos = tried
    .slice(done.findLastIndex(({isFinal}) => isFinal) + 1)
    .flatMap((step) => (step.undo ?? []).map((each) => ({...each, isDone: done.includes(step)})));
  return undos.filter(
    ({object}, index) => undos.findLastIndex((each) => isSameRef(each.object, object)) === index,
  );
}

/** The failure with the changes that remain, and how to revert them. */
export async function withUndo(
  failure: ExpectedError,
  undos: readonly TriedUndo[],
  kubernetes: Kubernetes | undefined,
): Promise<ExpectedError> {
  const found = await Promise.all(undos.map((each) => read(each, kubernetes)));
  const left = found.filter(isLeft);
  const others = found.filter((each) => each.isDone && !isLeft(each));
  const deleted = others.filter(({replicas}) => replicas === undefined);
  const texts = [
    ...left.map(({text}) => text),
    ...listed(deleted, 'already deleted'),
    ...listed(
      others.filter(({restores, replicas}) => restores === 'replicas' && replicas),
      'scaled up again by another user or program',
    ),
  ];
  if (texts.length === 0) return failure;
  const byHand = [...new Set(left.flatMap((each) => each.byHand))];
  const steps = [
    ...(deleted.length === 0 || failure.suggestions.includes(RUN_AGAIN) ? [] : [RUN_AGAIN]),
    ...failure.suggestions,
  ];
  // Commands for another cluster would change that one.
  const isElsewhere = failure.code === 'TARGET_CHANGED';
  return failure.with(
    sentences(failure.message, ...texts),
    isElsewhere ? [...steps, ...byHand] : [...byHand, ...steps],
  );
}

function listed(some: readonly Found[], state: string): string[] {
  const names = some.map(({object}) => refText(object));
  return names.length === 0
    ? []
    : [`${names.join(' and ')} ${names.length === 1 ? 'is' : 'are'} ${state}.`];
}

async function read(undo: TriedUndo, kubernetes: Kubernetes | undefined): Promise<Found> {
  if (kubernetes === undefined) return {...undo, replicas: 0};
  const {namespace} = undo.call.kubeTarget;
  const {object, error} = await getObject<Workload>(
    kubernetes,
    `${pluralOfKind(undo.object.kind)}.apps`,
    undo.object.name,
    {signal: AbortSignal.timeout(REQUIRED_MS), idleMs: REQUIRED_MS, namespace},
  );
  if (error === undefined && object === undefined) return {...undo, replicas: undefined};
  return {...undo, replicas: object?.spec?.replicas ?? 0};
}

/** Reverts what the failed steps have changed, and says so; what cannot be reverted is listed with its command. */
export async function revert(
  failure: ExpectedError,
  undos: readonly TriedUndo[],
  {release}: ReleaseName,
  {kubernetes, processes}: ClusterAccess,
): Promise<ExpectedError> {
  // Nothing can be reverted in another cluster.
  if (failure.code === 'TARGET_CHANGED') return withUndo(failure, undos, kubernetes);
  const found = await Promise.all(undos.map((each) => read(each, kubernetes)));
  const texts: string[] = [];
  const left: TriedUndo[] = [];
  for (const undo of found.filter(isLeft)) {
    const problem = await problemOfRevert(undo, processes);
    if (problem !== undefined) left.push(undo);
    texts.push(problem ?? undo.reverted);
  }
  if (texts.length === 0) return failure;
  if (left.length === 0) texts.push(`Release ${release} runs as before.`);
  const reverted = failure.with(sentences(failure.message, ...texts), failure.suggestions);
  return withUndo(reverted, left, kubernetes);
}

const REVERT_MS = 60_000;

/** Why the change could not be reverted, as a sentence; undefined if it was. */
async function problemOfRevert(
  {call}: TriedUndo,
  processes: ClusterAccess['processes'],
): Promise<string | undefined> {
  const signal = AbortSignal.timeout(REVERT_MS);
  const outcome = await whileTemporary(() => processes.start(call).outcome, {signal}).catch(
    onFailure((failure) => failure),
  );
  if (outcome instanceof ExpectedError) return outcome.message;
  return outcome.exitCode === 0 ? undefined : `${toolFailure(call, outcome).message}.`;
}
