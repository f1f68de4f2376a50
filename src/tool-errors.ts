import {type Cluster, commandLine, kubectlCommand} from './command-line.ts';
import {type ErrorCode, ExitCode, ExpectedError} from './errors.ts';
import type {Call, Outcome, Place} from './ports/processes.ts';

/** Code and next steps of a failure, whichever tool it befell. */
export interface Advice {
  code: ErrorCode;
  suggestions(cluster: Cluster): readonly string[];
}

/** Shows whether the API server answers. */
export const tryCluster = (cluster: Cluster): string => `Try: ${kubectlCommand(cluster, 'cluster-info')}`;

export const ADVICE = {
  unreachable: {
    code: 'CLUSTER_UNREACHABLE',
    suggestions: (cluster) => [tryCluster(cluster), 'Name the cluster with --kube-context or --kubeconfig'],
  },
  notLoggedIn: {code: 'NOT_LOGGED_IN', suggestions: () => ['Log in to the cluster again, then repeat the command']},
  retryable: {
    code: 'CLUSTER_UNREACHABLE',
    suggestions: (cluster) => [
      'The API server is overloaded or restarting. Run the same command again',
      `If it persists, try: ${kubectlCommand(cluster, 'get', '--raw', '/readyz?verbose')}`,
    ],
  },
  forbidden: {code: 'FORBIDDEN', suggestions: () => ['Ask for the permission that is named, or use another --kube-context']},
} as const satisfies Readonly<Record<string, Advice>>;

interface KnownFailure {
  code: ErrorCode;
  suggestions(place: Partial<Place>, args: Call['args']): readonly string[];
  tool?: Call['tool'];
  stderr: RegExp;
  exit?: ExitCode;
}

/** Kubernetes also says `spec: Forbidden: …` of a field that may not be so, whoever asks. */
const FORBIDDEN = /\(Forbidden\)|\bis forbidden: |\bforbidden: User |\b403 Forbidden/i;

/** The account may not do it. */
export const isForbidden = ({stderr}: Outcome): boolean => FORBIDDEN.test(stderr);

const RETRYABLE = /too many requests|unable to handle the request|etcdserver: |has prevented the request|connection reset|EOF\s*$/im;

/** The same call may succeed when it is repeated soon. */
export const isRetryable = ({stderr}: Outcome): boolean => RETRYABLE.test(stderr);

/** What helm and kubectl say, and what to do about it; a repository that no helm reaches comes before a cluster. */
const KNOWN: readonly KnownFailure[] = [
  {
    tool: 'helm',
    stderr:
      /chart ".*" .*not found|failed to (download|fetch|pull)|could not find|404 Not Found|not a valid chart repository or cannot be reached/i,
    code: 'CHART_NOT_FOUND',
    suggestions: () => ['Check --chart-version and the way to the chart repository, or name a chart with --chart-source'],
  },
  {
    stderr: /failed calling webhook/i,
    code: 'TOOL_FAILED',
    suggestions: () => ['An admission webhook of the cluster does not answer: have it mended, then run the same command again'],
  },
  {
    stderr:
      /Kubernetes cluster unreachable|Unable to connect to the server|connection refused|connection to the server .* was refused|stat .*: no such file or directory|no such host|i\/o timeout|TLS handshake timeout/i,
    ...ADVICE.unreachable,
  },
  {
    stderr: /context "?.*"? does not exist|no context exists|current-context (is not set|must exist)/i,
    code: 'CLUSTER_UNREACHABLE',
    suggestions: ({kubeconfig}) => [
      `List the contexts: ${kubectlCommand({...(kubeconfig ? {kubeconfig} : {})}, 'config', 'get-contexts')}`,
    ],
  },
  {
    stderr: /Unauthorized|must be logged in|provide credentials|getting credentials/i,
    ...ADVICE.notLoggedIn,
  },
  {
    tool: 'kubectl',
    stderr: /timed out waiting for the condition/,
    code: 'TIMED_OUT',
    exit: ExitCode.timedOut,
    suggestions: ({namespace = 'default', ...cluster}) => [
      `Look what holds it up: ${kubectlCommand(cluster, 'get', 'events', '--namespace', namespace)}`,
      'Run the same command again: it goes on from there',
    ],
  },
  {
    stderr: new RegExp(`${RETRYABLE.source}|deadline exceeded|Client\\.Timeout|no answer in time`, RETRYABLE.flags),
    ...ADVICE.retryable,
  },
  {stderr: FORBIDDEN, ...ADVICE.forbidden},
  {
    tool: 'helm',
    stderr: /another operation \(install\/upgrade\/rollback\) is in progress/,
    code: 'RELEASE_BUSY',
    suggestions: () => ['Repeat the command once the other one has ended'],
  },
  {
    tool: 'helm',
    stderr: /failed to install CRD .*conflict/i,
    code: 'OBJECT_OF_ANOTHER',
    suggestions: (cluster, args) => {
      // Of `upgrade RELEASE`, up to the first flag that is not about the chart.
      const show = commandLine({tool: 'helm', args: ['show', 'crds', ...args.slice(2, args.indexOf('--install'))]});
      return [
        `Somebody changed the definition that is there, and helm 4 leaves it alone. Compare it with the one of the chart: ${show}`,
        `Or take the chart's: ${show} | ${kubectlCommand(cluster, 'apply', '--server-side', '--force-conflicts', '--filename', '-')}`,
      ];
    },
  },
  {
    tool: 'helm',
    stderr: /cannot be imported into the current release|invalid ownership metadata|conflict/i,
    code: 'OBJECT_OF_ANOTHER',
    suggestions: () => ['Use another --namespace or --release; agent-k8s has fixed names, one release per namespace'],
  },
];

/** Trouble that may go away by itself. */
export const isPassing = ({code}: ExpectedError): boolean => code === 'CLUSTER_UNREACHABLE' || code === 'TOOL_FAILED';

/** A failed call as an error that says what to do next. */
export function toolFailure({tool, args}: Call, {stderr, exitCode}: Outcome): ExpectedError {
  const known = KNOWN.find((each) => (each.tool ?? tool) === tool && each.stderr.test(stderr));
  const reason = reasonIn(stderr)?.replace(/^error:\s*/i, '') ?? `it ended with ${exitCode}`;
  return new ExpectedError(`${tool} ${args[0]} failed: ${reason}`, {
    code: known?.code ?? 'TOOL_FAILED',
    exit: known?.exit ?? ExitCode.failed,
    suggestions: known?.suggestions(placeIn(args), args) ?? ['Run it again with --verbose'],
    cause: new Error(stderr),
  });
}

/** Where a call goes, as kubectl and helm are told it. */
export function placeIn(args: Call['args']): Partial<Place> {
  const after = (...flags: readonly string[]): string | undefined =>
    args[args.findIndex((each) => flags.includes(each)) + 1 || args.length];
  const [namespace, kubeContext, kubeconfig] = [after('--namespace'), after('--context', '--kube-context'), after('--kubeconfig')];
  return {...(namespace && {namespace}), ...(kubeContext && {kubeContext}), ...(kubeconfig && {kubeconfig})};
}

function reasonIn(stderr: string): string | undefined {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '' && !/^\s*(warning|W\d{4})/i.test(line));
  // After the error itself helm may go on with hints.
  const first = lines.findIndex((line) => /^\s*error/i.test(line));
  const [said, ...rest] = lines.slice(Math.max(0, first)).map((line) => line.trimEnd());
  if (!said?.endsWith(':')) return said?.trim();
  // What is wrong stands below, one a line.
  const end = rest.findIndex((line) => !/^\s|^[*-] /.test(line));
  const listed = rest.slice(0, end < 0 ? undefined : end).map((line) => line.trim());
  return [said.trim(), ...listed].join(listed.length === 1 ? ' ' : '\n');
}

/** Of what was said instead. */
const MOST = 80;

/** What a tool said as JSON. @throws ExpectedError when it is none: a tool may be a script that somebody put around it */
export function jsonFrom<T>({tool, args}: Call, stdout: string): T {
  const value = jsonIn(stdout);
  if (value !== undefined) return value as T;
  throw new ExpectedError(`${tool} ${args[0]} failed: ${noJson(tool, stdout.trim())}`, {
    code: 'TOOL_FAILED',
    exit: ExitCode.failed,
    suggestions: [`Name the program itself with --${tool}, if ${tool} is a script around it`, 'Run it again with --verbose'],
  });
}

/** Undefined where it is none. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Tells more than what a parser says of it. Broken JSON may hold anything, so its words stay out of messages. */
export function noJson(tool: string, text: string): string {
  if (text === '') return `${tool} said nothing`;
  if (/^[[{]/.test(text)) return `what ${tool} said is not the JSON it should be, or not all of it`;
  return `what ${tool} said is no JSON: ${text.split('\n')[0]?.slice(0, MOST)}`;
}
