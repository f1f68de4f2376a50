import {ExitCode, ExpectedError} from '../errors.ts';
import type {Step} from '../plan/step.ts';
import type {Outcome} from '../ports/processes.ts';
import {toolFailure} from '../ports/tool-failure.ts';
import {type WaitingWorld, waitForRuns} from './wait-for-runs.ts';

interface World extends WaitingWorld {
  /** `runs` names those that a step waits for. */
  onStep(step: Step, state: 'started' | 'waiting' | 'ending', runs?: string): void;
}

/** Runs the steps in order; a loop without decisions. @throws ExpectedError */
export async function runSteps(steps: readonly Step[], world: World): Promise<void> {
  const {asked, insisted} = world.interrupts;
  const done: Step[] = [];
  for (const step of steps) {
    if (asked.aborted) throw interrupted(finished(done), asked);
    world.onStep(step, 'started');
    if (step.waitFor) {
      await waitForRuns(step, step.waitFor, world, (runs) => world.onStep(step, 'waiting', runs));
      continue;
    }
    const outcome = await runStep(step, world);
    if (outcome === 'left') throw interrupted(`${finished(done)} ${step.call.tool} goes on alone with: ${step.title}.`, insisted);
    const isDone = outcome.exitCode === 0 || step.tolerates?.test(outcome.stderr);
    if (!isDone && asked.aborted) throw interrupted(finished(done), asked);
    if (!isDone) throw toolFailure(step.call, outcome);
    done.push(step);
  }
}

/** The first Ctrl-C is passed on, and the tool may end in good order; the second leaves it alone. */
async function runStep(step: Step, {processes, interrupts, onStep}: World): Promise<Outcome | 'left'> {
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
  try {
    const outcome = await Promise.race([running.outcome, left]);
    if (outcome === 'left') running.leave();
    return outcome;
  } finally {
    listeners.abort();
  }
}

const finished = (done: readonly Step[]): string =>
  done.length === 0 ? 'Nothing was changed.' : `Done before: ${done.map(({title}) => title).join('; ')}.`;

/** A signal ended it; `reason` of the signal is its name. */
export const interrupted = (what: string, {reason}: AbortSignal): ExpectedError =>
  new ExpectedError(`Interrupted. ${what}`, {
    code: 'INTERRUPTED',
    exit: reason === 'SIGTERM' ? ExitCode.terminated : ExitCode.interrupted,
    suggestions: ['Run the same command again: it goes on from there'],
  });
