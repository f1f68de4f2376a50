import type {PollDeps} from '../cluster/helm/poll.ts';
import {apiFailure} from '../cluster/kubernetes/api-error.ts';
import {refText} from '../cluster/kubernetes/object-refs.ts';
import type {KubernetesObject} from '../cluster/kubernetes/objects.ts';
import {listObjects, REQUIRED_MS} from '../cluster/kubernetes/resources.ts';
import {runsIn} from '../cluster/release/inventory.ts';
import {anySignal, untilAborted} from '../ground/async.ts';
import {clusterOf} from '../ground/call.ts';
import type {ProcessResult} from '../ground/command-line.ts';
import {completedText, ExpectedError, failed, interrupted, RUN_AGAIN} from '../ground/errors.ts';
import {durationText} from '../ground/text.ts';
import {isConflict, isTransient, toolFailure} from '../ground/tool-errors.ts';
import {tryCluster} from '../ground/unreachable.ts';
import {canBeHeld, heldObjects} from './held-objects.ts';
import {whileTemporary} from './repeat-call.ts';
import type {RunWait, Step} from './step.ts';
import {type TriedUndo, undosOf, withUndo} from './undo-steps.ts';

export interface RunStepsDeps extends Omit<PollDeps, 'kubernetes'> {
  /** Required by steps that wait for runs. */
  kubernetes?: PollDeps['kubernetes'];
  /** For one call of helm, which has no timeout of its own for API requests. */
  timeoutMs?: number;
  /** Steps that the same operation has completed before, which a failure lists as well. */
  completed?: Step[];
  /** Receives what a failure leaves to revert; without it, the failure lists that. */
  undos?: TriedUndo[];
  /** `text` says what a step waits for. */
  onStep(step: Step, state: StepState, text?: string): void;
}

/** `ending` is an interrupted step whose tool has not ended yet. A step that fails is never `done`. */
export type StepState = 'started' | 'waiting' | 'ending' | 'done';

/** Time for helm to save its record after an interrupt. */
const EXIT_TIMEOUT_MS = 10_000;

/** Runs the steps in order; a loop without decisions. @throws ExpectedError */
export async function runSteps(steps: readonly Step[], deps: RunStepsDeps): Promise<void> {
  const done: Step[] = [];
  const tried: Step[] = [];
  const onStep: RunStepsDeps['onStep'] = (step, state, text) => {
    if (state === 'started') tried.push(step);
    deps.onStep(step, state, text);
  };
  try {
    await runInOrder(steps, done, {...deps, onStep});
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    const undos = undosOf(tried, done);
    deps.undos?.push(...undos);
    throw deps.undos === undefined ? await withUndo(error, undos, deps.kubernetes) : error;
  } finally {
    deps.completed?.push(...done);
  }
}

async function runInOrder(steps: readonly Step[], done: Step[], deps: RunStepsDeps): Promise<void> {
  const {interrupt, forceQuit} = deps.interrupts;
  const completed = [...(deps.completed ?? [])];
  const finished = (): string => completedText([...completed, ...done]);
  for (const step of steps) {
    if (interrupt.aborted) throw interrupted(finished() || 'Nothing was changed.', interrupt);
    deps.onStep(step, 'started');
    if (step.waitFor) {
      await waitForRuns(step.waitFor, deps, (runs) =>
        deps.onStep(step, 'waiting', `In flight: ${runs}`),
      );
      if (!interrupt.aborted) deps.onStep(step, 'done');
      continue;
    }
    const outcome = await runUncontested(step, deps);
    if (outcome === 'late' || outcome === 'stuck') {
      const message = `${step.title}: ${step.call.tool} did not complete within --timeout. ${ENDS[outcome]} ${finished()}`;
      throw failed('TIMED_OUT', message.trim(), [tryCluster(clusterOf(step.call)), RUN_AGAIN]);
    }
    if (outcome === 'left')
      throw interrupted(
        `${finished()}${step.call.tool} continues in the background: ${step.title}.`,
        forceQuit,
      );
    const isDone = outcome.exitCode === 0 || step.tolerates?.test(outcome.stderr);
    if (!isDone && interrupt.aborted)
      throw interrupted(`${finished()}Not completed: ${step.title}.`, interrupt);
    if (!isDone) throw await withHeld(toolFailure(step.call, outcome), step, deps);
    done.push(step);
    deps.onStep(step, 'done');
  }
}

/** A call that loses against another writer, or that the API server cannot serve at the moment, is repeated. */
async function runUncontested(step: Step, deps: RunStepsDeps): ReturnType<typeof runStep> {
  const signal = deps.interrupts.interrupt;
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await whileTemporary(() => runStep(step, deps), {signal, sleep: deps.sleep});
    const isLost =
      typeof outcome !== 'string' &&
      outcome.exitCode !== 0 &&
      isConflict(outcome) &&
      !step.tolerates?.test(outcome.stderr);
    if (!isLost || attempt === MAX_ATTEMPTS || deps.interrupts.interrupt.aborted) return outcome;
  }
}

/** The first Ctrl-C is forwarded, so that the tool can end gracefully; the second stops waiting for it. */
async function runStep(
  step: Step,
  deps: RunStepsDeps,
): Promise<ProcessResult | 'left' | 'late' | 'stuck'> {
  const {processes, interrupts, timeoutMs, onStep} = deps;
  const {interrupt, forceQuit} = interrupts;
  const running = processes.start(step.call);
  const listeners = new AbortController();
  const {signal} = listeners;
  interrupt.addEventListener(
    'abort',
    () => {
      onStep(step, 'ending');
      running.interrupt();
    },
    {once: true, signal},
  );
  const limitMs = step.call.tool === 'helm' ? timeoutMs : undefined;
  const late = after(limitMs);
  late.addEventListener('abort', running.interrupt, {once: true, signal});
  const gone = anySignal(
    forceQuit,
    after(limitMs === undefined ? undefined : limitMs + EXIT_TIMEOUT_MS),
  );
  const reporting = reportHeld(step, deps, signal);
  try {
    const outcome = await untilAborted(running.outcome, gone);
    if (outcome === undefined) running.leave();
    else if (late.aborted && !interrupt.aborted && outcome.exitCode !== 0) return 'late';
    return outcome ?? (forceQuit.aborted ? 'left' : 'stuck');
  } finally {
    listeners.abort();
    await reporting;
  }
}

/** What waits longer than this says what for. */
export const HELD_AFTER_MS = 15_000;

/** Reports every change of what holds up the step, until the signal. */
async function reportHeld(
  step: Step,
  {kubernetes, sleep, onStep}: RunStepsDeps,
  signal: AbortSignal,
): Promise<void> {
  let reported = '';
  while (kubernetes !== undefined && canBeHeld(step)) {
    await sleep(HELD_AFTER_MS, signal);
    if (signal.aborted) return;
    const text = (await heldObjects(step, kubernetes, signal)).map((each) => each.text).join('; ');
    if (text !== '' && text !== reported && !signal.aborted) onStep(step, 'waiting', text);
    reported = text;
  }
}

/** A wait that has timed out, with what held it up. */
async function withHeld(
  failure: ExpectedError,
  step: Step,
  {kubernetes, interrupts}: RunStepsDeps,
): Promise<ExpectedError> {
  if (failure.code !== 'TIMED_OUT' || kubernetes === undefined) return failure;
  const held = await heldObjects(step, kubernetes, interrupts.interrupt);
  if (held.length === 0) return failure;
  return failure.with([failure.message, ...held.map(({text}) => text)].join('\n'), [
    ...held.flatMap(({how}) => how ?? []),
    ...failure.suggestions,
  ]);
}

const after = (milliseconds: number | undefined): AbortSignal =>
  milliseconds === undefined ? new AbortController().signal : AbortSignal.timeout(milliseconds);

const ENDS = {
  late: 'It was interrupted.',
  stuck: 'It did not stop after an interrupt and continues in the background.',
} as const;

const MAX_ATTEMPTS = 4;

const POLL_INTERVAL_MS = 3000;

/** Lists Jobs and pods until no run is in flight, or until the signal; reports every change of the runs. @throws ExpectedError when the time is over */
async function waitForRuns(
  waitFor: RunWait,
  {kubernetes, interrupts, now, sleep}: RunStepsDeps,
  onRuns: (names: string) => void,
): Promise<void> {
  if (kubernetes === undefined) throw new TypeError('A wait for runs requires a client.');
  const end = now().getTime() + waitFor.timeoutSeconds * 1000;
  let seen = '';
  const options = {
    signal: interrupts.interrupt,
    idleMs: REQUIRED_MS,
    namespace: waitFor.kubeTarget.namespace,
  };
  while (!interrupts.interrupt.aborted) {
    const lists = await Promise.all(
      ['jobs.batch', 'pods'].map((kind) =>
        listObjects<KubernetesObject>(kubernetes, kind, options),
      ),
    );
    if (interrupts.interrupt.aborted) return;
    const isLate = now().getTime() >= end;
    const error = lists.find((list) => list.error)?.error;
    if (error === undefined) {
      const objects = lists.flatMap(({items}) => items);
      const runs = runsIn(objects, waitFor.noRunsOf);
      if (runs.length === 0) return;
      const names = runs.map(refText).join(', ');
      if (names !== seen) onRuns(names);
      seen = names;
      if (isLate) {
        const after = `Runs are still in flight after ${durationText(waitFor.timeoutSeconds * 1000)}: ${names}.`;
        throw failed('TIMED_OUT', `${after} They continue, and the release is still installed.`, [
          'Run the same command again with a longer --drain-timeout, for example 2h',
          waitFor.howToBreakOff,
        ]);
      }
    } else {
      const failure = apiFailure(error, waitFor.kubeTarget);
      if (isLate || !isTransient(failure)) throw failure;
    }
    await sleep(POLL_INTERVAL_MS, interrupts.interrupt);
  }
}
