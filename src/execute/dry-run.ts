import type {InstallFacts} from '../cluster/install-facts.ts';
import type {Plan} from '../plan/step.ts';
import type {ReleaseName} from '../ports/helm.ts';
import {dryRunManifest} from '../ports/kubectl.ts';
import type {Call, Processes} from '../ports/processes.ts';
import {toolFailure} from '../ports/tool-failure.ts';

/** Asks the API server about everything without keeping any of it. Returns what it said. @throws ExpectedError */
export async function dryRun(
  {steps}: Plan,
  manifest: string,
  {place}: ReleaseName,
  {namespace}: InstallFacts,
  processes: Processes,
): Promise<string> {
  if (steps.length === 0) return 'Nothing is to do.\n';
  // What lies in a namespace that does not exist yet cannot be tried.
  const applied = steps
    .filter(({id, call}) => call.args[0] === 'apply' && (id === 'namespace' || namespace !== undefined))
    .map(({call}) => tried(call));
  const calls = namespace === undefined ? applied : [...applied, dryRunManifest(place, manifest)];
  for (const call of calls) {
    const outcome = await processes.run(call);
    if (outcome.exitCode !== 0) throw toolFailure(call, outcome);
  }
  return namespace === undefined
    ? `The API server accepts the namespace. What goes into ${place.namespace} could not be tried, because it does not exist yet.\n`
    : 'The API server accepts all of it.\n';
}

const tried = (call: Call): Call => ({...call, args: ['apply', '--dry-run=server', ...call.args.slice(1)]});
