import {type InstallFacts, isPending} from '../cluster/install-facts.ts';
import {releaseState} from '../cluster/read-facts.ts';
import {ExitCode, ExpectedError} from '../errors.ts';
import type {Plan} from '../plan/step.ts';
import type {Files} from '../ports/files.ts';
import type {ReleaseName} from '../ports/helm.ts';
import {requireReady} from './require-ready.ts';
import {rollBack} from './roll-back.ts';
import {runSteps} from './run-steps.ts';
import {type Watched, watchRelease} from './watch-release.ts';

type BringUpDeps = Parameters<typeof runSteps>[1] & Parameters<typeof watchRelease>[1] & {files: Files};

interface BringUpOptions {
  /** Without it the end of helm is the end. */
  waits: boolean;
  /** On failure the release is taken back to what it was, and what was seen is saved at this path. */
  rollBackWith?: string | undefined;
}

/** Runs the plan of an install and watches until the release is ready. @throws ExpectedError */
export async function bringUp(
  {steps}: Plan,
  name: ReleaseName,
  {release}: InstallFacts,
  {waits, rollBackWith}: BringUpOptions,
  world: BringUpDeps,
): Promise<Watched | undefined> {
  try {
    await runSteps(steps, world);
    if (!waits) return undefined;
    const watched = await watchRelease(name, world);
    requireReady(watched, name, {...world, isLeft: rollBackWith === undefined});
    await requireRecord(name, world);
    return watched;
  } catch (error) {
    if (rollBackWith === undefined || !(error instanceof ExpectedError) || error.code === 'INTERRUPTED') throw error;
    throw await rollBack(name, release, error, {...world, evidencePath: rollBackWith});
  }
}

/** Helm ends well even when its last word, that the release is deployed, was refused. @throws ExpectedError */
async function requireRecord(name: ReleaseName, {processes}: BringUpDeps): Promise<void> {
  const state = await releaseState(name, processes);
  if (state === undefined || !isPending(state)) return;
  throw new ExpectedError(
    `The release ${name.release} is ready, but helm could not write it down: its record still says ${state.status}.`,
    {
      code: 'RELEASE_BUSY',
      exit: ExitCode.failed,
      suggestions: ['Run the same command again: it mends the record'],
    },
  );
}
