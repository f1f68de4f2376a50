export interface ProcessResult {
  exitCode: number;
  stdout: string;
  stderr: string;
  /** This program has ended the tool, which did not respond in time. */
  isTimedOut?: true;
}

/** Cluster and namespace; absent values are the defaults of the user. */
export interface ClusterTarget {
  kubeconfig?: string;
  kubeContext?: string;
  namespace: string;
}

/** A Helm release and its location. */
export interface ReleaseName {
  release: string;
  kubeTarget: ClusterTarget;
}

/** A command in shell syntax. */
export const commandLine = ({tool, args}: {tool: string; args: readonly string[]}): string =>
  [tool, ...args].map(shellWord).join(' ');

export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** A command of this program for the same release and cluster. */
export const ownCommand = (
  command: string,
  name: ReleaseName,
  ...more: readonly string[]
): string => commandLine({tool: 'scalr-agent', args: [command, ...nameFlags(name), ...more]});

/** Lists the agents of a cluster. */
export const listCommand = (kubeTarget: ClusterTarget): string =>
  commandLine({
    tool: 'scalr-agent',
    args: ['status', '--all-namespaces', ...clusterFlags(kubeTarget, '--kube-context')],
  });

/** Flags of this program that select the release and the cluster. */
export const nameFlags = ({release, kubeTarget}: ReleaseName): string[] => [
  '--release',
  release,
  '--namespace',
  kubeTarget.namespace,
  ...clusterFlags(kubeTarget, '--kube-context'),
];

/** Collect a bundle of a release, and open its page. */
export const reportCommands = (name: ReleaseName): readonly string[] => [
  ownCommand('collect-logs', name, '--out', 'bundle.zip'),
  'scalr-agent inspect bundle.zip --open',
];

/** Selects the cluster; absent values are the defaults of the user. */
export type ClusterSelection = Pick<ClusterTarget, 'kubeContext' | 'kubeconfig'>;

const clusterFlags = ({kubeContext, kubeconfig}: ClusterSelection, context: string): string[] => [
  ...(kubeContext ? [context, kubeContext] : []),
  ...(kubeconfig ? ['--kubeconfig', kubeconfig] : []),
];

/** A kubectl command for the same cluster; namespaced calls add `--namespace` themselves. */
export const kubectlCommand = (cluster: ClusterSelection, ...args: readonly string[]): string =>
  commandLine({tool: 'kubectl', args: [...args, ...clusterFlags(cluster, '--context')]});

/** The public repository of the charts. */
export const CHART_REPOSITORY = 'https://scalr.github.io/agent-helm/';

/** The same for helm. */
export const helmCommand = (cluster: ClusterSelection, ...args: readonly string[]): string =>
  commandLine({tool: 'helm', args: [...args, ...clusterFlags(cluster, '--kube-context')]});
