import {
  type Call,
  type ClusterSelection,
  type ClusterTarget,
  commandLine,
  kubectlCommand,
  type ProcessResult,
} from './command-line.ts';
import {ExitCode, ExpectedError, type FailureCode, failed, RUN_AGAIN} from './errors.ts';
import type {ReadError} from './fact.ts';
import {unreachableSteps, unreachableText} from './unreachable.ts';

/** Error code and next steps of a failure, for every tool. */
export interface ErrorAdvice {
  code: FailureCode;
  suggestions(cluster: ClusterSelection, message?: string): readonly string[];
}

export const ADVICE = {
  unreachable: {
    code: 'CLUSTER_UNREACHABLE',
    suggestions: (cluster: ClusterSelection, message = '') => unreachableSteps(message, cluster),
  },
  notLoggedIn: {
    code: 'NOT_LOGGED_IN',
    suggestions: () => ['Log in to the cluster, then run the command again'],
  },
  retryable: {
    code: 'CLUSTER_UNREACHABLE',
    suggestions: (cluster) => [
      'The API server, or a proxy in front of it, is overloaded or restarting. Run the command again',
      `If the error persists, run: ${kubectlCommand(cluster, 'get', '--raw', '/readyz?verbose')}`,
    ],
  },
  forbidden: {
    code: 'FORBIDDEN',
    suggestions: () => ['Request this permission, or use another --kube-context'],
  },
  terminating: {
    code: 'RELEASE_BUSY',
    suggestions: () => [
      'Run the command again when the namespace is deleted, or use another --namespace',
    ],
  },
} as const satisfies Readonly<Record<string, ErrorAdvice>>;

interface KnownFailure {
  code: FailureCode;
  suggestions(
    kubeTarget: Partial<ClusterTarget>,
    args: Call['args'],
    stderr: string,
  ): readonly string[];
  /** Replaces "helm upgrade failed: …", without a full stop. */
  text?(stderr: string): string | undefined;
  tool?: Call['tool'];
  stderr: RegExp;
}

/** Kubernetes also prints `spec: Forbidden: …` for invalid fields, which has nothing to do with permissions. */
const FORBIDDEN = /\(Forbidden\)|\bis forbidden: |\bforbidden: User |\b403 Forbidden/i;

/** RBAC, or another authorizer, lacks a permission of the user. Admission policies print `is forbidden` too. */
export const isRbacDenial = ({stderr}: ProcessResult): boolean =>
  /\bforbidden: User "[^"]*" cannot\b/.test(stderr);

export const isForbidden = ({stderr}: ProcessResult): boolean => FORBIDDEN.test(stderr);

/** Responses 429 and 5xx of the API server or a proxy, and cut connections, as helm and kubectl print them. */
const RETRYABLE =
  /too many requests|unable to handle the request|unable to return a response|etcdserver: |Internal error occurred|Gateway Time-?out|Error from server \((?:InternalError|ServiceUnavailable|Timeout|TooManyRequests)\)|has prevented the request|connection reset|unexpected EOF|EOF\s*$/im;

/** Someone else has written the object between the read and the write of the call, which reads it again when it is repeated. */
export const isConflict = ({stderr}: ProcessResult): boolean =>
  /the object has been modified|^Error from server \((?:Conflict|AlreadyExists)\): (?!Apply failed|.*field manager)/m.test(
    stderr,
  );

/** A retry of the same call can succeed. */
export const isRetryable = ({stderr}: ProcessResult): boolean => RETRYABLE.test(stderr);

/** Next steps for a CRD that differs from the one that this call of `helm upgrade` installs. */
export function changedDefinition(cluster: ClusterSelection, args: Call['args']): string[] {
  // Arguments of `upgrade RELEASE` up to the first flag that is not about the chart.
  const show = commandLine({
    tool: 'helm',
    args: ['show', 'crds', ...args.slice(2, args.indexOf('--install'))],
  });
  return [
    `The installed CRD was changed, and Helm 4 does not overwrite it. Compare it with the CRD of the chart: ${show}`,
    `Or apply the CRD of the chart: ${show} | ${kubectlCommand(cluster, 'apply', '--server-side', '--force-conflicts', '--filename', '-')}`,
  ];
}

/** Known errors of helm and kubectl with next steps; an unreachable chart repository is checked before the cluster. */
const KNOWN: readonly KnownFailure[] = [
  {
    stderr: /^(helm|kubectl) not found on PATH\.$/m,
    code: 'TOOL_NOT_FOUND',
    suggestions: () => ['Install the tool, or set its path with --helm or --kubectl'],
  },
  {
    tool: 'helm',
    stderr: /unable to instantiate SQL driver|unknown driver|memory driver/i,
    code: 'TOOL_FAILED',
    suggestions: () => [
      'Check HELM_DRIVER. With sql, check HELM_DRIVER_SQL_CONNECTION_STRING as well',
    ],
  },
  {stderr: /because it is being terminated/, ...ADVICE.terminating},
  {
    tool: 'helm',
    stderr:
      /chart ".*" .*not found|failed to (download|fetch|pull)|could not find|404 Not Found|not a valid chart repository or cannot be reached/i,
    code: 'CHART_NOT_FOUND',
    suggestions: () => [
      'Check --chart-version and the connection to the chart repository, or use a local chart with --chart-source',
    ],
  },
  {
    stderr: /failed calling webhook/i,
    code: 'TOOL_FAILED',
    suggestions: () => [
      'An admission webhook does not respond: fix the webhook, then run the command again',
    ],
  },
  {
    stderr: /admission webhook .* denied the request|ValidatingAdmissionPolicy .* denied request/i,
    code: 'TOOL_FAILED',
    suggestions: () => [
      'An admission policy rejects the request: correct what the message lists, or ask the policy owner for an exception',
    ],
  },
  {
    stderr: /is forbidden: exceeded quota|is forbidden: failed quota/i,
    code: 'TOOL_FAILED',
    suggestions: ({namespace = 'default', ...cluster}) => [
      `A ResourceQuota of the namespace rejects this: raise it, or request less. List them: ${kubectlCommand(cluster, 'describe', 'resourcequotas', '--namespace', namespace)}`,
    ],
  },
  {
    stderr: /is forbidden: violates PodSecurity/,
    code: 'TOOL_FAILED',
    suggestions: ({namespace = 'default', ...cluster}) => [
      `The Pod Security Standard of the namespace rejects these pods. Show its level: ${kubectlCommand(cluster, 'get', 'namespace', namespace, '--show-labels')}`,
    ],
  },
  {
    // The API server prints the user where RBAC rejects a request, also for a role with more permissions.
    stderr: /\bis forbidden: (?!unable to create new content|User "|user ")/,
    code: 'TOOL_FAILED',
    suggestions: () => [
      'Admission control of the cluster rejects the request, not RBAC: correct what the message lists',
    ],
  },
  {
    stderr:
      /Kubernetes cluster unreachable|context "?.*"? does not exist|no context exists|current-context (is not set|must exist)|not found for specified context|cannot locate context|Unable to connect to the server|connection refused|connection to the server .* was refused|stat .*: no such file or directory|error loading config file|unable to read client-|no such host|i\/o timeout|TLS handshake timeout/i,
    code: 'CLUSTER_UNREACHABLE',
    text: unreachableText,
    suggestions: (cluster, _, stderr) => unreachableSteps(stderr, cluster),
  },
  {
    stderr: /Unauthorized|must be logged in|provide credentials|getting credentials/i,
    ...ADVICE.notLoggedIn,
  },
  {
    tool: 'kubectl',
    stderr: /timed out waiting for the condition/,
    code: 'TIMED_OUT',
    suggestions: ({namespace = 'default', ...cluster}) => [
      `Check the events: ${kubectlCommand(cluster, 'get', 'events', '--namespace', namespace)}`,
      RUN_AGAIN,
    ],
  },
  {
    stderr: new RegExp(
      `${RETRYABLE.source}|deadline exceeded|Client\\.Timeout|timed out waiting for a response`,
      RETRYABLE.flags,
    ),
    ...ADVICE.retryable,
  },
  {stderr: FORBIDDEN, ...ADVICE.forbidden},
  {
    tool: 'kubectl',
    stderr: /Apply failed with \d+ conflict/,
    code: 'OBJECT_NOT_OWNED',
    suggestions: () => [
      'Another program sets these fields: change them there, then run the same command again',
    ],
  },
  {
    tool: 'helm',
    stderr:
      /another operation \(install\/upgrade\/rollback\) is in progress|release: already exists/,
    code: 'RELEASE_BUSY',
    suggestions: () => ['Run the command again after the other operation has finished'],
  },
  {
    tool: 'helm',
    stderr: /failed to install CRD .*conflict/i,
    code: 'OBJECT_NOT_OWNED',
    suggestions: changedDefinition,
  },
  {
    tool: 'helm',
    stderr: /cannot be imported into the current release|invalid ownership metadata|conflict/i,
    code: 'OBJECT_NOT_OWNED',
    suggestions: () => [
      'Use another --namespace or --release; agent-k8s uses fixed names and supports one release per namespace',
    ],
  },
];

const KNOWN_ON_HOST: readonly KnownFailure[] = [
  {
    stderr:
      /pull access denied|manifest (for .* )?(unknown|not found)|repository does not exist|unauthorized/i,
    code: 'TOOL_FAILED',
    suggestions: () => [
      'Check --agent-image and --image-registry. For a private registry, run docker login first',
    ],
  },
  {
    stderr: /no such host|i\/o timeout|proxyconnect|request canceled while waiting|dial tcp/i,
    code: 'TOOL_FAILED',
    suggestions: () => [
      'Docker cannot reach the registry: check the proxy of the Docker daemon, or use a mirror with --image-registry',
    ],
  },
  {
    stderr: /OCI runtime|failed to create (shim )?task/i,
    code: 'TOOL_FAILED',
    suggestions: () => [
      'The container runtime rejects this container: check --agent-image, and SELinux or AppArmor on this machine',
    ],
  },
  {
    stderr: /permission denied|authentication required|access denied|operation not permitted/i,
    code: 'FORBIDDEN',
    suggestions: () => ['Run the command with sudo'],
  },
];

/** Errors that can be temporary. */
export const isTransient = ({code}: ExpectedError): boolean =>
  code === 'CLUSTER_UNREACHABLE' || code === 'TOOL_FAILED';

/** Converts a failed call to an error with next steps. */
export function toolFailure({tool, args}: Call, {stderr, exitCode}: ProcessResult): ExpectedError {
  const rows = tool === 'helm' || tool === 'kubectl' ? KNOWN : KNOWN_ON_HOST;
  const known = rows.find((each) => (each.tool ?? tool) === tool && each.stderr.test(stderr));
  const reason = reasonIn(stderr)?.replace(/^error:\s*/i, '') ?? `exit code ${exitCode}`;
  const text = known?.text?.(stderr);
  return new ExpectedError(
    text === undefined ? `${tool} ${args[0]} failed: ${reason}` : `${text}.`,
    {
      code: known?.code ?? 'TOOL_FAILED',
      suggestions: known?.suggestions(placeIn(args), args, stderr) ?? [
        'Run the command again with --verbose',
      ],
      cause: new Error(stderr),
    },
  );
}

/** Namespace and cluster in the arguments of kubectl or helm. */
export function placeIn(args: Call['args']): Partial<ClusterTarget> {
  const after = (...flags: readonly string[]): string | undefined =>
    args[args.findIndex((each) => flags.includes(each)) + 1 || args.length];
  const namespace = after('--namespace');
  const kubeContext = after('--context', '--kube-context');
  const kubeconfig = after('--kubeconfig');
  return {
    ...(namespace && {namespace}),
    ...(kubeContext && {kubeContext}),
    ...(kubeconfig && {kubeconfig}),
  };
}

function reasonIn(stderr: string): string | undefined {
  const lines = stderr
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^\s*(warning|W\d{4})/i.test(line));
  // Helm can print hints after the error.
  const first = lines.findIndex((line) => /^\s*error/i.test(line));
  const [headline, ...rest] = lines.slice(Math.max(0, first)).map((line) => line.trimEnd());
  if (headline !== undefined && UNINSTALL.test(headline))
    return `${headline.trim()}${deletionError(stderr)}`;
  // The lines after it quote the object, which can contain secrets.
  const cause = /error when (applying patch|retrieving current configuration of):$/.test(
    headline ?? '',
  )
    ? /^(?:from server )?for: "[^"]*": (.*)$/m.exec(stderr)?.[1]
    : undefined;
  if (cause !== undefined || !headline?.endsWith(':'))
    return cause ?? headline?.replace(VALIDATION, '').trim();
  // Details are on the following lines.
  const end = rest.findIndex((line) => !/^\s|^[*-] /.test(line));
  const listed = rest.slice(0, end < 0 ? undefined : end).map((line) => line.trim());
  return [headline.trim(), ...listed].join(listed.length === 1 ? ' ' : '\n');
}

/** Advice of kubectl for its own flag. */
const VALIDATION =
  /; if you choose to ignore these errors, turn validation off with --validate=false$/;

const UNINSTALL = /^Error: failed to delete release: /;

/** Helm tells only its debug log why an object was not deleted, Helm 4 with escaped quotes. */
function deletionError(stderr: string): string {
  const [, plain, escaped] =
    /uninstall: Failed to delete release(?:: \[(.*)\]|" error="\[(.*)\]")$/m.exec(stderr) ?? [];
  const error = plain ?? escaped?.replaceAll('\\"', '"');
  return error === undefined ? '' : `: ${error}`;
}

/** Maximum length of the quoted output. */
const MAX_LINES = 80;

/** Parses JSON output of a tool. @throws ExpectedError if it is not JSON, for example because the tool is a wrapper script */
export function jsonFrom<T>({tool, args}: Call, stdout: string): T {
  const value = jsonIn(stdout);
  if (value !== undefined) return value as T;
  throw failed('TOOL_FAILED', `${tool} ${args[0]} failed: ${noJson(tool, stdout.trim())}`, [
    `If ${tool} is a wrapper script, set the path of the program itself with --${tool}`,
    'Run the command again with --verbose',
  ]);
}

/** Undefined if it is not JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Describes invalid output without quoting it, because broken JSON can contain secrets. */
export function noJson(tool: string, text: string): string {
  if (text === '') return `${tool} returned no output`;
  if (/^[[{]/.test(text)) return `${tool} returned incomplete or unexpected JSON`;
  return `the output of ${tool} is not JSON: ${text.split('\n')[0]?.slice(0, MAX_LINES)}`;
}

const CODES: Readonly<Partial<Record<ReadError['kind'], FailureCode>>> = {
  'not-found': 'AGENT_NOT_FOUND',
  forbidden: 'FORBIDDEN',
  aborted: 'TIMED_OUT',
};

/** Without this call, there is nothing to collect. */
export function refusal(
  what: string,
  {
    kind,
    message,
    isToolMissing,
    reason = message,
    remedy,
  }: ReadError & {isToolMissing?: true; reason?: string; remedy?: string},
  suggestions: readonly string[],
): ExpectedError {
  const code = isToolMissing ? 'TOOL_NOT_FOUND' : (CODES[kind] ?? 'TOOL_FAILED');
  const exit = isToolMissing
    ? ExitCode.usage
    : code === 'TIMED_OUT'
      ? ExitCode.timedOut
      : ExitCode.failed;
  return failed(
    code,
    `${what}: ${reason}.`,
    [...(remedy === undefined ? [] : [remedy]), ...suggestions],
    {exit},
  );
}
