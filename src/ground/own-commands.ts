import {
  type ClusterTarget,
  clusterFlags,
  commandLine,
  ownCommand,
  type ReleaseName,
} from './command-line.ts';

/** Lists the agents of a cluster. */
export const listCommand = (kubeTarget: ClusterTarget): string =>
  commandLine({
    tool: 'scalr-agent',
    args: ['status', '--all-namespaces', ...clusterFlags(kubeTarget, '--kube-context')],
  });

/** Collect a bundle of a release, and open its page. */
export const reportCommands = (name: ReleaseName): readonly string[] => [
  ownCommand('collect-logs', name, '--out', 'bundle.zip'),
  'scalr-agent inspect bundle.zip --open',
];
