import type {Call, Place, ReleaseName} from './ports/processes.ts';

/** A call as a shell takes it; what goes to standard input is only named. */
export function commandLine({tool, args, input}: Omit<Call, 'tool'> & {tool: string}): string {
  const what = input === undefined ? '' : typeof input === 'string' ? ' <values.yaml' : ' <(an object that may hold a secret)';
  return `${[tool, ...args].map(quote).join(' ')}${what}`;
}

const quote = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** A command of this program about the same release in the same cluster. */
export function ownCommand(command: string, {release, place}: ReleaseName, ...more: readonly string[]): string {
  const where = [
    ...(place.kubeContext ? ['--kube-context', place.kubeContext] : []),
    ...(place.kubeconfig ? ['--kubeconfig', place.kubeconfig] : []),
  ];
  return commandLine({tool: 'scalr-agent', args: [command, '--release', release, '--namespace', place.namespace, ...where, ...more]});
}

/** A kubectl command for the same cluster; what has a namespace takes `--namespace` itself. */
export const kubectlCommand = ({kubeContext, kubeconfig}: Place, ...args: readonly string[]): string =>
  commandLine({
    tool: 'kubectl',
    args: [...args, ...(kubeContext ? ['--context', kubeContext] : []), ...(kubeconfig ? ['--kubeconfig', kubeconfig] : [])],
  });
