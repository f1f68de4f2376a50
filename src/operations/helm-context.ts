import {listReleases} from '../cluster/helm/release-calls.ts';
import {REQUIRED_MS} from '../cluster/kubernetes/resources.ts';
import {type ClusterTarget, kubectlCommand} from '../ground/command-line.ts';
import {failed} from '../ground/errors.ts';
import type {Processes} from '../ground/system/system.ts';
import type {Step} from './step.ts';

/** What helm prints about a context that its kubeconfig lacks. */
const NO_CONTEXT = /context "([^"]*)" does not exist/;

/** The kubectl of MicroK8s and of k3s has a kubeconfig of its own, which helm does not read. @throws ExpectedError */
export async function requireHelmContext(
  steps: readonly Step[],
  kubeTarget: ClusterTarget,
  processes: Pick<Processes, 'run'>,
): Promise<void> {
  if (!steps.some(({call}) => call.tool === 'helm')) return;
  const call = listReleases(kubeTarget, {everywhere: false});
  const {stderr} = await processes.run(call, {signal: AbortSignal.timeout(REQUIRED_MS)});
  const [, context] = NO_CONTEXT.exec(stderr) ?? [];
  if (context === undefined) return;
  throw failed(
    'CLUSTER_UNREACHABLE',
    `kubectl has context ${context}, but the kubeconfig of helm does not. Nothing was changed.`,
    [
      `Save the kubeconfig of kubectl in a file that only you can read, and select it with --kubeconfig: ${kubectlCommand({}, 'config', 'view', '--raw')}`,
    ],
  );
}
