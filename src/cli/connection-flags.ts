import * as Flags from '@oclif/core/flags';
import type {ReleaseName} from '../ground/command-line.ts';
import {namespace, release} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {durationOf} from './flag-values.ts';
import type {Parsed} from './flags.ts';

const helpGroup = 'CONNECTION';

/** For commands that read a cluster only with --from-cluster. */
export const optionalClusterFlags = {
  'kube-context': Flags.string({summary: 'Kubeconfig context.', helpValue: '<NAME>', helpGroup}),
  kubeconfig: Flags.string({summary: 'Path to the kubeconfig.', helpValue: '<FILE>', helpGroup}),
  helm: Flags.string({summary: 'Path to helm.', helpValue: '<FILE>', helpGroup}),
  kubectl: Flags.string({summary: 'Path to kubectl.', helpValue: '<FILE>', helpGroup}),
};

const TIMEOUT = '10m';

/** For commands that talk to a cluster. */
export const connectionFlags = {
  ...optionalClusterFlags,
  timeout: Flags.string({
    summary: `Time to wait for the cluster. Default: ${TIMEOUT}.`,
    helpValue: '<DURATION>',
    helpGroup,
  }),
};

/** For commands that call helm only to read a chart. */
export const helmFlag = {helm: optionalClusterFlags.helm};

/** Names of flags that only a cluster has. */
export const CONNECTION_FLAGS = ['kube-context', 'kubeconfig', 'helm', 'kubectl'] as const;

/** For commands that change a release with Helm. */
export const takeOverFlag = {
  'take-over': Flags.boolean({
    summary:
      'Take over a release with a pending Helm operation. By default, only an operation older than --timeout counts as aborted.',
  }),
};

export const fromClusterFlag = {
  'from-cluster': Flags.boolean({summary: 'Read unset settings from the cluster.'}),
};

/** For commands that always require a cluster. */
export const noFromClusterFlag = {
  'from-cluster': Flags.boolean({
    summary: 'Read unset settings from the cluster.',
    default: true,
    allowNo: true,
  }),
};

export type ClusterFlags = Partial<Parsed<typeof connectionFlags>>;

export function releaseName(flags: ClusterFlags, settings: Pick<Settings, 'get'>): ReleaseName {
  return {
    release: settings.get(release) as string,
    kubeTarget: {
      namespace: settings.get(namespace) as string,
      ...(flags['kube-context'] ? {kubeContext: flags['kube-context']} : {}),
      ...(flags.kubeconfig ? {kubeconfig: flags.kubeconfig} : {}),
    },
  };
}

export const toolPaths = ({helm, kubectl}: ClusterFlags) => ({
  ...(helm ? {helm} : {}),
  ...(kubectl ? {kubectl} : {}),
});

/** Value of --timeout in milliseconds. @throws ExpectedError */
export const timeoutOf = ({timeout = TIMEOUT}: ClusterFlags): number =>
  durationOf('--timeout', timeout);

/** How a change of a release waits, and for what. @throws ExpectedError */
export const waitingOf = (
  flags: ClusterFlags & {'take-over'?: boolean; 'drain-timeout': string},
) => ({
  takesOver: flags['take-over'] ?? false,
  timeoutMs: timeoutOf(flags),
  drainTimeoutSeconds: durationOf('--drain-timeout', flags['drain-timeout']) / 1000,
});
