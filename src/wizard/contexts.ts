import {serverOfPod} from '../cluster/kubernetes/in-pod.ts';
import {type Kubeconfig as Config, contextsIn} from '../cluster/kubernetes/kubeconfig.ts';
import {allContexts} from '../cluster/kubernetes/kubectl.ts';
import type {ClusterTarget} from '../ground/command-line.ts';
import {ExpectedError} from '../ground/errors.ts';
import type {Processes} from '../ground/system/system.ts';
import {jsonFrom} from '../ground/tool-errors.ts';

/** The contexts of the kubeconfig, or why there are none. */
export interface Contexts {
  current?: string;
  all: readonly {name: string; cluster?: string}[];
  /** No context is current, and helm and kubectl use the service account of this pod. */
  isInPod?: boolean;
  problem?: string;
}

/** Reads the kubeconfig; never fails. */
export async function readContexts(
  kubeTarget: ClusterTarget,
  processes: Processes,
  signal: AbortSignal,
): Promise<Contexts> {
  try {
    const call = allContexts(kubeTarget);
    const result = await processes.run(call, {signal});
    if (result.exitCode !== 0)
      return {all: [], problem: `kubectl cannot read the kubeconfig: ${lastError(result.stderr)}`};
    const config = jsonFrom<Config>(call, result.stdout);
    const all = contextsIn(config);
    const current = config['current-context'];
    if (!current && serverOfPod() !== undefined) return {all, isInPod: true};
    if (all.length === 0)
      return {all, problem: 'no context found: the kubeconfig is empty or missing'};
    return {all, ...(current ? {current} : {})};
  } catch (error) {
    // Without kubectl, the wizard can only save files.
    if (error instanceof ExpectedError) return {all: [], problem: error.message.replace(/\.$/, '')};
    throw error;
  }
}

const lastError = (stderr: string): string | undefined =>
  stderr
    .trim()
    .split('\n')
    .at(-1)
    ?.replace(/^error: /, '');
