import {type ClusterSelection, kubectlCommand} from './command-line.ts';
import type {Unknown} from './fact.ts';

/** Reasons in messages of Go programs, in the words that people search for. */
const REASONS: readonly RegExp[] = [
  /x509: [^"\n]+/,
  /connection refused|connection reset by peer|no route to host|network is unreachable|no such host/,
  /TLS handshake timeout|i\/o timeout|context deadline exceeded|Client\.Timeout exceeded|timed out waiting for a response/,
  /tls: [^"\n]+/,
  /proxyconnect [^"\n]+/,
];

/** The address that kubectl uses without a kubeconfig. */
const NO_KUBECONFIG = /(?:localhost|127\.0\.0\.1|\[::1\]):8080\b/;

/** The kubeconfig, or a certificate or key that it names. kubectl would only repeat it. */
const NO_FILE = /(unable to read [^\n]*?)?\b(?:stat|open) ([^\n]*?): (no such file or directory|permission denied)/;

/** The one text for an API server that cannot be reached, from a message of kubectl, helm or kubectl proxy; without a full stop. */
export function unreachableText(message: string): string {
  const [isFound, isNamed, file, problem] = NO_FILE.exec(message) ?? [];
  if (isFound) return `Cannot read ${isNamed ? `${file}, which the kubeconfig refers to` : `the kubeconfig ${file}`} (${problem})`;
  const address = addressIn(message);
  const reason = /\bserver (\S+) was refused/.test(message) ? 'connection refused' : (reasonIn(message) ?? remainder(message));
  return `Cannot reach the Kubernetes API${address === undefined ? '' : ` at ${address}`}${reason === '' ? '' : ` (${reason})`}`;
}

/** Why the version of the server is unknown, without a full stop. */
export const serverProblem = ({unknown, because}: Unknown): string =>
  unknown === 'timed-out' ? unreachableText(because) : because.replace(/\.$/, '');

function addressIn(message: string): string | undefined {
  const [, url] = /\b(?:Get|Post|Put|Patch|Delete|Head) "?(https?:\/\/[^/"\s?]+)/.exec(message) ?? [];
  const [, server] = /connection to the server (\S+) was refused/.exec(message) ?? [];
  const [, host] = /\blookup ([^\s:]+)/.exec(message) ?? [];
  const [, dialed] = /\bdial tcp (\S+:\d+):/.exec(message) ?? [];
  return url ?? server ?? host ?? dialed;
}

const reasonIn = (message: string): string | undefined =>
  REASONS.map((each) => each.exec(message)?.[0].trim().replace(/[.:]$/, '')).find((each) => each !== undefined) ??
  (/\bEOF\b/.test(message) ? 'connection closed' : undefined);

/** A message without a known reason, on one line. */
const remainder = (message: string): string =>
  (message.trim().split('\n', 1)[0] ?? '')
    .replace(/^(error|Error|Unable to connect to the server|Kubernetes cluster unreachable):?\s*/g, '')
    .replace(/^(Unable to connect to the server|Kubernetes cluster unreachable):?\s*/, '')
    .replace(/[.?]$/, '')
    .slice(0, 200);

/** Command that checks the connection to the API server. */
export const tryCluster = (cluster: ClusterSelection): string => `Try: ${kubectlCommand(cluster, 'cluster-info')}`;

/** What to do about it. */
export const unreachableSteps = (message: string, cluster: ClusterSelection): string[] => [
  ...(NO_KUBECONFIG.test(message) ? ['kubectl uses this address if no kubeconfig selects a cluster. Set --kubeconfig or KUBECONFIG'] : []),
  ...(NO_FILE.test(message) ? [] : [tryCluster(cluster)]),
  'Select the cluster with --kube-context or --kubeconfig',
];
