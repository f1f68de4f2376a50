import type {ClusterAccess} from '../cluster/cluster-access.ts';
import type {InstallFacts} from '../cluster/install-facts.ts';
import {REQUIRED_MS, readFacts} from '../cluster/read-facts.ts';
import {serverVersion} from '../kubernetes/queries.ts';
import {planInstall, type WantedRelease} from '../plan/install.ts';
import type {Plan} from '../plan/step.ts';
import {effectiveGet} from '../values/effective.ts';
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
  access: ClusterAccess,
  over: AbortSignal,
): Promise<PreparedInstall> {
  const names = wanted.secrets.map((secret) => secret.name);
  const reading = readFacts(wanted.name, names, access, over);
  const rendering = serverVersion(access.kubernetes, {over, idleMs: REQUIRED_MS}).then(({version = '', trouble}) =>
    // Without an answer the reading fails too, and tells why.
    trouble ? '' : checkRendering(wanted, {serverVersion: version}, effectiveGet(settings, effective), access.processes),
  );
  rendering.catch(() => undefined);
  const facts = await reading;
  const manifest = await rendering;
  return {facts, manifest, plan: planInstall({...wanted, manifest}, facts)};
}
