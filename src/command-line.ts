import type {Call, Place, ReleaseName} from './ports/processes.ts';

/** A call as a shell takes it; what goes to standard input is only named. */
export function commandLine({tool, args, input}: Omit<Call, 'tool'> & {tool: string}): string {
  const what = input === undefined ? '' : typeof input === 'string' ? ' <values.yaml' : ' <(an object that may hold a secret)';
  return `${[tool, ...args].map(quote).join(' ')}${what}`;
}

const quote = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** A command of this program about the same release in the same cluster. */
export const ownCommand = (command: string, {release, place}: ReleaseName, ...more: readonly string[]): string =>
  commandLine({
    tool: 'scalr-agent',
    args: [command, '--release', release, '--namespace', place.namespace, ...clusterFlags(place, '--kube-context'), ...more],
  });

/** A user as `kubectl create rolebinding` takes it: service accounts have an option of their own. */
export function subjectOf(user: string): string {
  const [, account] = /^system:serviceaccount:([^:]+:[^:]+)$/.exec(user) ?? [];
  return account === undefined ? `--user=${user}` : `--serviceaccount=${account}`;
}

/** Which cluster; what is absent is the operator's own default. */
export type Cluster = Pick<Place, 'kubeContext' | 'kubeconfig'>;

const clusterFlags = ({kubeContext, kubeconfig}: Cluster, context: string): string[] => [
  ...(kubeContext ? [context, kubeContext] : []),
  ...(kubeconfig ? ['--kubeconfig', kubeconfig] : []),
];

/** A kubectl command for the same cluster; what has a namespace takes `--namespace` itself. */
export const kubectlCommand = (cluster: Cluster, ...args: readonly string[]): string =>
  commandLine({tool: 'kubectl', args: [...args, ...clusterFlags(cluster, '--context')]});

/** The same of helm. */
export const helmCommand = (cluster: Cluster, ...args: readonly string[]): string =>
  commandLine({tool: 'helm', args: [...args, ...clusterFlags(cluster, '--kube-context')]});
