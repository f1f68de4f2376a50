import {ExpectedError} from '../errors.ts';
import {allContexts} from '../kubernetes/kubectl.ts';
import type {Place, Processes} from '../ports/processes.ts';
import type {Prompter} from '../ports/prompter.ts';
import {jsonFrom} from '../tool-errors.ts';

interface Config {
  'current-context'?: string;
  contexts?: readonly {name: string; context?: {cluster?: string}}[] | null;
}

/** Which cluster is meant, where the kubeconfig knows several; undefined where there is nothing to choose. */
export async function chooseContext(
  place: Place,
  processes: Processes,
  prompter: Prompter,
  over: AbortSignal,
): Promise<string | undefined> {
  const config = await readConfig(place, processes, over);
  const contexts = config?.contexts ?? [];
  if (contexts.length < 2) return undefined;
  const current = config?.['current-context'];
  return prompter.search({
    message: 'Into which cluster?',
    help: [
      'The contexts of your kubeconfig; the one in use comes first.',
      'Nothing is changed there before you choose to install.',
      '--kube-context NAME, and --kubeconfig FILE. kubectl config get-contexts',
    ],
    choices: [...contexts]
      .sort((one, other) => Number(other.name === current) - Number(one.name === current))
      .map(({name, context}) => ({value: name, label: name, ...(context?.cluster ? {description: `Cluster ${context.cluster}`} : {})})),
    ...(current ? {default: current} : {}),
  });
}

async function readConfig(place: Place, processes: Processes, over: AbortSignal): Promise<Config | undefined> {
  try {
    const call = allContexts(place);
    const {exitCode, stdout} = await processes.run(call, {over});
    return exitCode === 0 ? jsonFrom<Config>(call, stdout) : undefined;
  } catch (error) {
    // Without kubectl the conversation ends in files.
    if (error instanceof ExpectedError) return undefined;
    throw error;
  }
}
