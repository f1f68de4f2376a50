import {helmVersion} from '../../cluster/helm/release-calls.ts';
import {clientVersion} from '../../cluster/kubernetes/kubectl.ts';
import {failureOf} from '../../cluster/kubernetes/object-facts.ts';
import type {Call} from '../../ground/call.ts';
import type {ClusterTarget} from '../../ground/command-line.ts';
import {type Fact, known, unknown} from '../../ground/fact.ts';
import type {Processes} from '../../ground/system/system.ts';
import type {PreflightContext} from './facts/context.ts';

/** Versions of the tools themselves: 4.1.4 */
export async function readTools(
  kubeTarget: ClusterTarget,
  processes: Processes,
): Promise<PreflightContext['tools']> {
  const [helm, kubectl] = await Promise.all([
    readVersion(helmVersion, processes),
    readVersion(clientVersion(kubeTarget), processes),
  ]);
  return {helm, kubectl};
}

async function readVersion(call: Call, processes: Processes): Promise<Fact<string>> {
  const outcome = await processes.run(call);
  if (outcome.exitCode !== 0) return failureOf(outcome);
  const [, plain, quoted] =
    /^v?(\d+\.\d+\.\d+)|"gitVersion":\s*"v?(\d+\.\d+\.\d+)/m.exec(outcome.stdout) ?? [];
  const version = plain ?? quoted;
  return version === undefined
    ? unknown('failed', `${call.tool} version did not return a version`)
    : known(version, `${call.tool} version`);
}
