import {ExitCode, ExpectedError} from '../errors.ts';
import type {Step} from '../plan/step.ts';
import type {Interrupts} from '../ports/interrupts.ts';
import type {Outcome, Processes} from '../ports/processes.ts';
import {toolFailure} from './tool-failure.ts';

interface World {
  processes: Processes;
  interrupts: Interrupts;
  onStep(step: Step, state: 'started' | 'done' | 'waiting'): void;
  /** The command that goes on from here. */
  again: string;
}

/** Runs the steps in order; a loop without decisions. @throws ExpectedError */
export async function runSteps(steps: readonly Step[], world: World): Promise<void> {
  const done: Step[] = [];
  for (const step of steps) {
    if (world.interrupts.asked.aborted) throw interrupted(done, world.again);
    world.onStep(step, 'started');
    const outcome = await runStep(step, world);
    if (world.interrupts.asked.aborted && outcome.exitCode !== 0) throw interrupted(done, world.again);
    if (outcome.exitCode !== 0 && !step.tolerates?.test(outcome.stderr)) throw toolFailure(step.call, outcome);
    world.onStep(step, 'done');
    done.push(step);
  }
}

/** Ctrl-C is passed on, and the tool may end in good order; only a second one leaves it alone. */
async function runStep(step: Step, {processes, interrupts, onStep, again}: World): Promise<Outcome> {
  const running = processes.start(step.call);
  const passOn = (): void => {
    onStep(step, 'waiting');
    running.interrupt();
  };
  const left = new Promise<never>((_, reject) => {
    interrupts.insisted.addEventListener('abort', () => reject(interrupted([], again)), {once: true});
  });
  interrupts.asked.addEventListener('abort', passOn, {once: true});
  try {
    return await Promise.race([running.outcome, left]);
  } finally {
    interrupts.asked.removeEventListener('abort', passOn);
  }
}

export function interrupted(done: readonly Step[], again: string): ExpectedError {
  const what = done.length === 0 ? 'Nothing was finished' : `Finished: ${done.map(({title}) => title).join('; ')}`;
  return new ExpectedError(`Interrupted. ${what}.`, {
    code: 'INTERRUPTED',
    exit: ExitCode.interrupted,
    suggestions: [`Go on from here with the same command: ${again}`],
  });
}
