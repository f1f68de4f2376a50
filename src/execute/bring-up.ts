import type {InstallFacts} from '../cluster/install-facts.ts';
import {ExpectedError} from '../errors.ts';
import type {Plan} from '../plan/step.ts';
import type {Files} from '../ports/files.ts';
import type {ReleaseName} from '../ports/helm.ts';
import {requireReady} from './require-ready.ts';
import {rollBack} from './roll-back.ts';
import {runSteps} from './run-steps.ts';
import {type Watched, watchRelease} from './watch-release.ts';

type World = Parameters<typeof runSteps>[1] & Parameters<typeof watchRelease>[1] & {files: Files};

interface Wish {
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
  {waits, rollBackWith}: Wish,
  world: World,
): Promise<Watched | undefined> {
  try {
    await runSteps(steps, world);
    if (!waits) return undefined;
    const watched = await watchRelease(name, world);
    requireReady(watched, name, {...world, isLeft: rollBackWith === undefined});
    return watched;
  } catch (error) {
    if (rollBackWith === undefined || !(error instanceof ExpectedError) || error.code === 'INTERRUPTED') throw error;
    throw await rollBack(name, release, error, {...world, evidencePath: rollBackWith});
  }
}
