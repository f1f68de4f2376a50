import {type Run, runsIn} from '../cluster/inventory-runs.ts';
import type {KubernetesObject} from '../cluster/objects.ts';
import {ExitCode, ExpectedError} from '../errors.ts';
import type {Step} from '../plan/step.ts';
import {isPassing, toolFailure} from '../ports/tool-failure.ts';
import {jsonFrom} from '../ports/tool-output.ts';
import type {PollDeps} from './poll-deps.ts';

const EVERY_MS = 3000;

/** Repeats a call that only looks until it shows no run any more, or until the signal; says so whenever other ones are in flight than before. @throws ExpectedError when time is over */
export async function waitForRuns(
  {call}: Step,
  waitFor: NonNullable<Step['waitFor']>,
  {processes, interrupts, now, sleep}: PollDeps,
  onRuns: (names: string) => void,
): Promise<void> {
  const end = now().getTime() + waitFor.timeoutSeconds * 1000;
  let seen = '';
  while (!interrupts.asked.aborted) {
    const outcome = await processes.run(call, {over: interrupts.asked});
    if (interrupts.asked.aborted) return;
    const isLate = now().getTime() >= end;
    if (outcome.exitCode === 0) {
      const runs = runsIn(jsonFrom<{items: KubernetesObject[]}>(call, outcome.stdout).items, waitFor.noRunsOf);
      if (runs.length === 0) return;
      const names = namesOf(runs);
      if (names !== seen) onRuns(names);
      seen = names;
      if (isLate) throw stillRunning(names, waitFor.timeoutSeconds);
    } else {
      const failure = toolFailure(call, outcome);
      if (isLate || !isPassing(failure)) throw failure;
    }
    await sleep(EVERY_MS, interrupts.asked);
  }
}

const namesOf = (runs: readonly Run[]): string => runs.map(({kind, name}) => `${kind} ${name}`).join(', ');

const stillRunning = (names: string, seconds: number): ExpectedError =>
  new ExpectedError(`After ${seconds} s runs are still in flight: ${names}. They go on, and the release is still there.`, {
    code: 'TIMED_OUT',
    exit: ExitCode.timedOut,
    suggestions: [
      'Run the same command again with a longer --drain-timeout, as 2h',
      'Uninstall without waiting for them, which breaks them off: --no-drain',
      'Take up work again instead: run the same install command again',
    ],
  });
