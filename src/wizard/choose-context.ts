import {ExpectedError} from '../errors.ts';
import {allContexts} from '../kubernetes/kubectl.ts';
import type {ClusterTarget, Processes} from '../ports/processes.ts';
import type {Prompter} from '../ports/prompter.ts';
import {jsonFrom} from '../tool-errors.ts';

interface Config {
  'current-context'?: string;
  contexts?: readonly {name: string; context?: {cluster?: string}}[] | null;
}

/** Prompts for a context if the kubeconfig has several; undefined otherwise. */
export async function chooseContext(
  place: ClusterTarget,
  processes: Processes,
  prompter: Prompter,
  signal: AbortSignal,
): Promise<string | undefined> {
  const config = await readConfig(place, processes, signal);
  const contexts = config?.contexts ?? [];
  if (contexts.length < 2) return undefined;
  const current = config?.['current-context'];
  return prompter.search({
    message: 'Kubeconfig context',
    help: [
      'The contexts in your kubeconfig. The current context is listed first.',
      'The cluster is not changed until you choose to install.',
      'Flags --kube-context NAME and --kubeconfig FILE. List contexts with kubectl config get-contexts.',
    ],
    choices: [...contexts]
      .sort((one, other) => Number(other.name === current) - Number(one.name === current))
      .map(({name, context}) => ({value: name, label: name, ...(context?.cluster ? {description: `Cluster ${context.cluster}`} : {})})),
    ...(current ? {default: current} : {}),
  });
}

async function readConfig(place: ClusterTarget, processes: Processes, signal: AbortSignal): Promise<Config | undefined> {
  try {
    const call = allContexts(place);
    const {exitCode, stdout} = await processes.run(call, {signal});
    return exitCode === 0 ? jsonFrom<Config>(call, stdout) : undefined;
  } catch (error) {
    // Without kubectl, the wizard can only save files.
    if (error instanceof ExpectedError) return undefined;
    throw error;
  }
}
