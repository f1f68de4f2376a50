import type {InstallFacts} from '../cluster/install-facts.ts';
import {readFacts} from '../cluster/read-facts.ts';
import {planInstall, type WantedRelease} from '../plan/install.ts';
import type {Plan} from '../plan/step.ts';
import type {Processes} from '../ports/processes.ts';
import {effectiveGet} from '../values/read-values.ts';
import type {Generated} from '../values/generate.ts';
import {checkRendering} from './check-rendering.ts';

/** What is there, what the chart makes of the values, and the steps between the two. */
export interface PreparedInstall {
  facts: InstallFacts;
  manifest: string;
  plan: Plan;
}

/** Reads the cluster and renders the chart; changes nothing. @throws ExpectedError */
export async function prepareInstall(
  {settings, effective}: Generated,
  wanted: Omit<WantedRelease, 'manifest'>,
  processes: Processes,
  over: AbortSignal,
): Promise<PreparedInstall> {
  const names = wanted.secrets.map((secret) => secret.name);
  const facts = await readFacts(wanted.name, names, processes, over);
  const manifest = await checkRendering(wanted, facts, effectiveGet(settings, effective), processes);
  return {facts, manifest, plan: planInstall({...wanted, manifest}, facts)};
}
