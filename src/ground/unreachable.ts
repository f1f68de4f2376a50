import {type ClusterSelection, kubectlCommand} from './command-line.ts';
import type {Unknown} from './fact.ts';
import {changing, type Remedy} from './finding.ts';

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

export const isDefaultAddress = (message: string): boolean => NO_KUBECONFIG.test(message);

/** What has to be corrected: a file, the context in it, or the connection to the server. */
type Culprit = 'file' | 'context' | 'server';

interface KubeconfigProblem {
  culprit: Culprit;
  pattern: RegExp;
  text(match: readonly string[]): string;
}

/** Problems of the kubeconfig itself, in messages of kubectl and helm. */
const PROBLEMS: readonly KubeconfigProblem[] = [
  {
    culprit: 'file',
    pattern:
      /(unable to read [^\n]*?)?\b(?:stat|open) ([^\n]*?): (no such file or directory|permission denied)/,
    text: ([, isNamed, file, problem]) =>
      `Cannot read ${isNamed ? `${file}, which the kubeconfig refers to` : `the kubeconfig ${file}`} (${problem})`,
  },
  {
    culprit: 'file',
    pattern: /loading config file "([^"]+)": .*is a directory/,
    text: ([, file]) => `Cannot read the kubeconfig ${file} (is a directory)`,
  },
  {
    culprit: 'file',
    pattern: /loading config file "([^"]+)": yaml: (?:line (\d+))?/,
    text: ([, file, line]) =>
      `Cannot read the kubeconfig ${file} (invalid YAML${line ? ` in line ${line}` : ''})`,
  },
  {
    culprit: 'file',
    pattern: /loading config file "([^"]+)"/,
    text: ([, file]) => `Cannot read the kubeconfig ${file} (not a kubeconfig)`,
  },
  {
    culprit: 'context',
    pattern:
      /context "?([^\s"]+)"? does not exist|not found for specified context: (\S+)|cannot locate context (\S+)/,
    text: ([, ...names]) => `The kubeconfig has no context ${names.find((each) => each)}`,
  },
  {
    culprit: 'context',
    pattern: /no context exists|current-context (is not set|must exist)/,
    text: () => 'The kubeconfig has no current context',
  },
];

/** Why the API server cannot be reached, from a message of kubectl, helm or kubectl proxy; without a full stop. */
function diagnose(message: string): {culprit: Culprit; text: string} {
  for (const {culprit, pattern, text} of PROBLEMS) {
    const match = pattern.exec(message);
    if (match) return {culprit, text: text(match)};
  }
  return {culprit: 'server', text: serverText(message)};
}

/** A repository or a registry of charts that cannot be reached, from a message of helm; undefined if it answered, or is not named. Without a full stop. */
export function downloadText(message: string): string | undefined {
  const reason = reasonIn(message);
  const address = addressIn(message);
  return reason && address && `Cannot download the chart from ${address} (${reason})`;
}

function serverText(message: string): string {
  const address = addressIn(message);
  const reason = /\bserver (\S+) was refused/.test(message)
    ? 'connection refused'
    : (reasonIn(message) ?? remainder(message));
  return `Cannot reach the Kubernetes API${address === undefined ? '' : ` at ${address}`}${reason === '' ? '' : ` (${reason})`}`;
}

/** The one text for an API server that cannot be reached, from a message of a tool; without a full stop. */
export const unreachableText = (message: string): string => diagnose(message).text;

/** Why the version of the server is unknown, without a full stop. A problem with steps has a text of its own. */
export const serverProblem = ({unknown, because, steps}: Unknown): string =>
  unknown === 'timed-out' && steps === undefined ? unreachableText(because) : because;

function addressIn(message: string): string | undefined {
  const [, url] =
    /\b(?:Get|Post|Put|Patch|Delete|Head) "?(https?:\/\/[^/"\s?]+)/.exec(message) ?? [];
  const [, server] = /connection to the server (\S+) was refused/.exec(message) ?? [];
  const [, host] = /\blookup ([^\s:]+)/.exec(message) ?? [];
  const [, dialed] = /\bdial tcp (\S+:\d+):/.exec(message) ?? [];
  return url ?? server ?? host ?? dialed;
}

const reasonIn = (message: string): string | undefined =>
  REASONS.map((each) => each.exec(message)?.[0].trim().replace(/[.:]$/, '')).find(
    (each) => each !== undefined,
  ) ?? (/\bEOF\b/.test(message) ? 'connection closed' : undefined);

/** A message without a known reason, on one line. */
const remainder = (message: string): string =>
  (message.trim().split('\n', 1)[0] ?? '')
    .replace(
      /^(?:(?:error|Error|Unable to connect to the server|Kubernetes cluster unreachable):?\s*){1,2}/,
      '',
    )
    .replace(/[.?]$/, '')
    .slice(0, 200);

/** Command that checks the connection to the API server. */
export const tryCluster = (cluster: ClusterSelection): string =>
  `Try: ${kubectlCommand(cluster, 'cluster-info')}`;

const UNTRUSTED_SERVER =
  'The kubeconfig does not trust the certificate of the API server. Get a new kubeconfig, or set certificate-authority-data of the cluster to the CA of the server; a proxy that inspects TLS must not be between them';

/** What to do about a message of a tool. kubectl would only repeat a problem of the kubeconfig. */
export function unreachableSteps(message: string, cluster: ClusterSelection): (string | Remedy)[] {
  const {kubeconfig} = cluster;
  const {culprit} = diagnose(message);
  if (culprit === 'context')
    return [
      `List the contexts: ${kubectlCommand(kubeconfig ? {kubeconfig} : {}, 'config', 'get-contexts')}`,
    ];
  if (culprit === 'file')
    return [
      changing`Correct the file, or select another one with ${{id: 'kubeconfig'}} or KUBECONFIG`,
    ];
  return [
    ...(isDefaultAddress(message)
      ? [
          changing`kubectl uses this address if no kubeconfig selects a cluster. Set ${{id: 'kubeconfig'}} or KUBECONFIG`,
        ]
      : []),
    ...(/x509: /.test(message) ? [UNTRUSTED_SERVER] : []),
    tryCluster(cluster),
    changing`Select the cluster with ${{id: 'kube-context'}} or ${{id: 'kubeconfig'}}`,
  ];
}
