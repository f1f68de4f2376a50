import {ExitCode, ExpectedError} from '../ground/errors.ts';
import {isPassing} from '../ground/tool-errors.ts';
import {apiFailure} from '../kubernetes/api-error.ts';
import {REQUIRED_MS} from '../kubernetes/fact-readers.ts';
import type {KubernetesObject} from '../kubernetes/objects.ts';
import {listObjects} from '../kubernetes/resources.ts';
import {type Run, runsIn} from '../release/inventory.ts';
import type {Step} from './step.ts';
import type {PollDeps} from './watch-release.ts';

const POLL_INTERVAL_MS = 3000;

/** Lists Jobs and pods until no run is in flight, or until the signal; reports every change of the runs. @throws ExpectedError when the time is over */
export async function waitForRuns(
  waitFor: NonNullable<Step['waitFor']>,
  {kubernetes, interrupts, now, sleep}: PollDeps,
  onRuns: (names: string) => void,
): Promise<void> {
  const end = now().getTime() + waitFor.timeoutSeconds * 1000;
  let seen = '';
  const options = {signal: interrupts.interrupt, idleMs: REQUIRED_MS, namespace: waitFor.place.namespace};
  while (!interrupts.interrupt.aborted) {
    const lists = await Promise.all(['jobs.batch', 'pods'].map((kind) => listObjects<KubernetesObject>(kubernetes, kind, options)));
    if (interrupts.interrupt.aborted) return;
    const isLate = now().getTime() >= end;
    const trouble = lists.find((list) => list.trouble)?.trouble;
    if (trouble === undefined) {
      const objects = lists.flatMap(({items}) => items);
      const runs = runsIn(objects, waitFor.noRunsOf);
      if (runs.length === 0) return;
      const names = namesOf(runs);
      if (names !== seen) onRuns(names);
      seen = names;
      if (isLate) throw stillRunning(names, waitFor);
    } else {
      const failure = apiFailure(trouble, waitFor.place);
      if (isLate || !isPassing(failure)) throw failure;
    }
    await sleep(POLL_INTERVAL_MS, interrupts.interrupt);
  }
}

const namesOf = (runs: readonly Run[]): string => runs.map(({kind, name}) => `${kind} ${name}`).join(', ');

const stillRunning = (names: string, {timeoutSeconds, howToBreakOff}: NonNullable<Step['waitFor']>): ExpectedError =>
  new ExpectedError(`Runs are still in flight after ${timeoutSeconds} s: ${names}. They continue, and the release is still installed.`, {
    code: 'TIMED_OUT',
    exit: ExitCode.timedOut,
    suggestions: ['Run the same command again with a longer --drain-timeout, for example 2h', howToBreakOff],
  });
