import {failureOf} from '../cluster/facts/answers.ts';
import {type Fact, known, unknown} from '../cluster/facts/fact.ts';
import {REQUEST_SECONDS} from '../cluster/facts/read-cluster.ts';
import {helmVersion} from '../helm/helm.ts';
import {clientVersion, serverVersion} from '../kubernetes/kubectl.ts';
import type {Place} from '../ports/place.ts';
import type {Call, Outcome, Processes} from '../ports/processes.ts';

/** Versions of the tools themselves: 4.1.4 */
export async function readTools(place: Place, processes: Processes): Promise<{helm: Fact<string>; kubectl: Fact<string>}> {
  const [helm, kubectl] = await Promise.all([readVersion(helmVersion, processes), readKubectl(place, processes)]);
  return {helm, kubectl};
}

/** It names its own version with the one of the server, unless there is no way to ask it. */
async function readKubectl(place: Place, processes: Processes): Promise<Fact<string>> {
  const both = versionIn(await processes.run(serverVersion(place, REQUEST_SECONDS)), 'kubectl version');
  return both ?? readVersion(clientVersion(place), processes);
}

async function readVersion(call: Call, processes: Processes): Promise<Fact<string>> {
  const outcome = await processes.run(call);
  if (outcome.exitCode !== 0) return failureOf(outcome);
  return versionIn(outcome, `${call.tool} version`) ?? unknown('failed', `${call.tool} version names no version`);
}

/** Of the client, which comes first. */
function versionIn({stdout}: Outcome, source: string): Fact<string> | undefined {
  const found = /^\s*v?(\d+\.\d+\.\d+)|"clientVersion":\s*\{[^}]*"gitVersion":\s*"v?(\d+\.\d+\.\d+)/.exec(stdout);
  const version = found?.[1] ?? found?.[2];
  return version === undefined ? undefined : known(version, source);
}
