import {failureOf} from '../cluster/facts/answers.ts';
import {type Fact, known, unknown} from '../cluster/facts/fact.ts';
import {helmVersion} from '../helm/helm.ts';
import {clientVersion} from '../kubernetes/kubectl.ts';
import type {Place} from '../ports/place.ts';
import type {Call, Processes} from '../ports/processes.ts';

/** Versions of the tools themselves: 4.1.4 */
export async function readTools(place: Place, processes: Processes): Promise<{helm: Fact<string>; kubectl: Fact<string>}> {
  const [helm, kubectl] = await Promise.all([readVersion(helmVersion, processes), readVersion(clientVersion(place), processes)]);
  return {helm, kubectl};
}

async function readVersion(call: Call, processes: Processes): Promise<Fact<string>> {
  const outcome = await processes.run(call);
  if (outcome.exitCode !== 0) return failureOf(outcome);
  const [, plain, quoted] = /^\s*v?(\d+\.\d+\.\d+)|"gitVersion":\s*"v?(\d+\.\d+\.\d+)/.exec(outcome.stdout) ?? [];
  const version = plain ?? quoted;
  return version === undefined ? unknown('failed', `${call.tool} version names no version`) : known(version, `${call.tool} version`);
}
