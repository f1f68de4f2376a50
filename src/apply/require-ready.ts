import {ExitCode, ExpectedError} from '../errors.ts';
import type {ReleaseName} from '../ports/helm.ts';
import type {Interrupts} from '../ports/interrupts.ts';
import {describePods} from '../ports/kubectl.ts';
import {commandLine} from '../ports/processes.ts';
import {interrupted} from './run-steps.ts';
import type {Watched} from './watch-release.ts';

/** @throws ExpectedError when the release did not become ready, with the causes and what to do */
export function requireReady(
  {state, causes}: Watched,
  {release, place}: ReleaseName,
  {timeoutMs, interrupts: {asked}, isLeft}: {timeoutMs: number; interrupts: Interrupts; isLeft: boolean},
): void {
  if (state === 'ready') return;
  const because = causes.map(({object, reason}) => `${object}: ${reason}`);
  const suggestions = [
    ...new Set([
      ...causes.map(({remedy}) => remedy),
      ...(isLeft ? [`Nothing was rolled back. Look yourself: ${commandLine(describePods(place))}`] : []),
    ]),
  ];
  if (state === 'interrupted') {
    throw interrupted([`The release ${release} stays as it is, and it was not ready yet.`, ...because].join('\n'), asked);
  }
  if (state === 'timed-out') {
    throw new ExpectedError([`The release ${release} is not ready after ${timeoutMs / 1000} s.`, ...because].join('\n'), {
      code: 'TIMED_OUT',
      exit: ExitCode.timedOut,
      suggestions,
    });
  }
  throw new ExpectedError([`The release ${release} cannot become ready.`, ...because].join('\n'), {
    code: 'NOT_READY',
    exit: ExitCode.failed,
    suggestions,
  });
}
