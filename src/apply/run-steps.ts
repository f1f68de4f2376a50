import {commandLine} from '../command-line.ts';
import {ExitCode, ExpectedError, interrupted} from '../errors.ts';
import type {Step} from '../plan/step.ts';
import type {Outcome} from '../ports/processes.ts';
import {placeIn, toolFailure, tryCluster} from '../tool-errors.ts';
import {waitForRuns} from './wait-for-runs.ts';
import type {PollDeps} from './watch-release.ts';

interface RunStepsDeps extends PollDeps {
  /** For one call of helm, which waits for an answer of the API server for ever. */
  timeoutMs?: number;
  /** `runs` names those that a step waits for. */
  onStep(step: Step, state: 'started' | 'waiting' | 'ending', runs?: string): void;
}

/** What helm gets to write down that it was asked to end. */
const FAREWELL_MS = 10_000;

/** Runs the steps in order; a loop without decisions. @throws ExpectedError */
export async function runSteps(steps: readonly Step[], world: RunStepsDeps): Promise<void> {
  const done: Step[] = [];
  try {
    await runInOrder(steps, done, world);
  } catch (error) {
    throw error instanceof ExpectedError ? withUndo(error, done) : error;
  }
}

/** The failure with what it leaves changed, and how to take that back. */
function withUndo(failure: ExpectedError, done: readonly Step[]): ExpectedError {
  const undos = done.slice(done.findLastIndex(({isFinal}) => isFinal) + 1).flatMap(({undo}) => undo ?? []);
  if (undos.length === 0) return failure;
  return new ExpectedError([failure.message.replace(/(?<![.!?])$/, '.'), ...undos.map(({text}) => text)].join(' '), {
    ...failure,
    suggestions: [...undos.map(({title, call}) => `${title}: ${commandLine(call)}`), ...failure.suggestions],
    cause: failure.cause,
  });
}

async function runInOrder(steps: readonly Step[], done: Step[], world: RunStepsDeps): Promise<void> {
  const {asked, insisted} = world.interrupts;
  for (const step of steps) {
    if (asked.aborted) throw interrupted(finished(done) || 'Nothing was changed.', asked);
    world.onStep(step, 'started');
    if (step.waitFor) {
      await waitForRuns(step.waitFor, world, (runs) => world.onStep(step, 'waiting', runs));
      continue;
    }
    const outcome = await runStep(step, world);
    if (outcome === 'late' || outcome === 'stuck') throw tooLate(step, done, outcome);
    if (outcome === 'left') throw interrupted(`${finished(done)}${step.call.tool} goes on alone with: ${step.title}.`, insisted);
    const isDone = outcome.exitCode === 0 || step.tolerates?.test(outcome.stderr);
    if (!isDone && asked.aborted) throw interrupted(`${finished(done)}Broken off: ${step.title}.`, asked);
    if (!isDone) throw toolFailure(step.call, outcome);
    done.push(step);
  }
}

/** The first Ctrl-C is passed on, and the tool may end in good order; the second leaves it alone. */
async function runStep(step: Step, {processes, interrupts, timeoutMs, onStep}: RunStepsDeps): Promise<Outcome | 'left' | 'late' | 'stuck'> {
  const {asked, insisted} = interrupts;
  const running = processes.start(step.call);
  const listeners = new AbortController();
  const {signal} = listeners;
  const left = new Promise<'left'>((resolve) => insisted.addEventListener('abort', () => resolve('left'), {once: true, signal}));
  asked.addEventListener(
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
  const gone = after(limitMs === undefined ? undefined : limitMs + FAREWELL_MS);
  const stuck = new Promise<'stuck'>((resolve) => gone.addEventListener('abort', () => resolve('stuck'), {once: true, signal}));
  try {
    const outcome = await Promise.race([running.outcome, left, stuck]);
    if (typeof outcome === 'string') running.leave();
    else if (late.aborted && !asked.aborted && outcome.exitCode !== 0) return 'late';
    return outcome;
  } finally {
    listeners.abort();
  }
}

const after = (milliseconds: number | undefined): AbortSignal =>
  milliseconds === undefined ? new AbortController().signal : AbortSignal.timeout(milliseconds);

const ENDS = {late: 'It was asked to end, and did.', stuck: 'It was asked to end, did not, and goes on alone.'} as const;

const tooLate = ({call: {tool, args}, title}: Step, done: readonly Step[], how: keyof typeof ENDS): ExpectedError =>
  new ExpectedError(`${title}: ${tool} did not come to an end within --timeout. ${ENDS[how]} ${finished(done)}`.trim(), {
    code: 'TIMED_OUT',
    exit: ExitCode.timedOut,
    suggestions: [tryCluster(placeIn(args)), 'Run the same command again: it goes on from there'],
  });

const finished = (done: readonly Step[]): string => (done.length === 0 ? '' : `Done before: ${done.map(({title}) => title).join('; ')}. `);
