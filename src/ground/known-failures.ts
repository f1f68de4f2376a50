import type {Call, HelmCall, HelmVerb} from './call.ts';
import {callText} from './call-arguments.ts';
import {type ClusterSelection, type ClusterTarget, kubectlCommand} from './command-line.ts';
import {pluginOutput, pluginProblem} from './credential-plugin.ts';
import {type FailureCode, RUN_AGAIN, RUN_VERBOSE} from './errors.ts';
import {changing, type Remedy} from './finding.ts';
import {anonymousText, loginSteps, REJECTED_LOGIN, userIn} from './identity.ts';
import {policyRemedies} from './policy-remedies.ts';
import {downloadText, unreachableSteps, unreachableText} from './unreachable.ts';
import {QUOTED_PAGE, webPageIn, webPageSteps, webPageText} from './web-page.ts';

/** Error code and next steps of a failure, for every tool. */
export interface ErrorAdvice {
  code: FailureCode;
  suggestions(cluster: ClusterSelection, message?: string): readonly (string | Remedy)[];
}

const RUN_LATER =
  'The API server, or a proxy in front of it, is overloaded or restarting. Run the command again';

/** Steps that only repeat the command. */
export const REPEATS: ReadonlySet<string> = new Set([RUN_AGAIN, RUN_VERBOSE, RUN_LATER]);

export const ADVICE = {
  unreachable: {
    code: 'CLUSTER_UNREACHABLE',
    suggestions: (cluster: ClusterSelection, message = '') => unreachableSteps(message, cluster),
  },
  notLoggedIn: {
    code: 'NOT_LOGGED_IN',
    suggestions: loginSteps,
  },
  webPage: {
    code: 'CLUSTER_UNREACHABLE',
    suggestions: () => webPageSteps(),
  },
  retryable: {
    code: 'CLUSTER_UNREACHABLE',
    suggestions: (cluster) => [
      RUN_LATER,
      `If the error persists, run: ${kubectlCommand(cluster, 'get', '--raw', '/readyz?verbose')}`,
    ],
  },
  forbidden: {
    code: 'FORBIDDEN',
    suggestions: () => [changing`Request this permission, or use another ${{id: 'kube-context'}}`],
  },
  terminating: {
    code: 'NAMESPACE_TERMINATING',
    suggestions: () => [
      changing`Run the command again when the namespace is deleted, or use another ${{id: 'namespace'}}`,
    ],
  },
} as const satisfies Readonly<Record<string, ErrorAdvice>>;

interface KnownFailure {
  code: FailureCode;
  suggestions(
    kubeTarget: Partial<ClusterTarget>,
    stderr: string,
    call: Call,
  ): readonly (string | Remedy)[];
  /** Replaces "helm upgrade failed: …", without a full stop. */
  text?(stderr: string): string | undefined;
  tool?: Call['tool'];
  /** Only these calls of helm. */
  verbs?: readonly HelmVerb[];
  stderr: RegExp;
}

/** Kubernetes also prints `spec: Forbidden: …` for invalid fields, which has nothing to do with permissions. */
export const FORBIDDEN = /\(Forbidden\)|\bis forbidden: |\bforbidden: User |\b403 Forbidden/i;

/** Responses 429 and 5xx of the API server or a proxy, and cut connections, as helm and kubectl print them. */
export const RETRYABLE =
  /too many requests|unable to handle the request|unable to return a response|etcdserver: |Internal error occurred|Gateway Time-?out|Error from server \((?:InternalError|ServiceUnavailable|Timeout|TooManyRequests)\)|has prevented the request|connection reset|unexpected EOF|EOF\s*$/im;

/** Next steps for a CRD that differs from the one that this call of `helm upgrade` installs. */
export function changedDefinition(cluster: ClusterSelection, call: Call): string[] {
  const {chart} = call as HelmCall;
  const show = callText({tool: 'helm', verb: 'show crds', ...(chart ? {chart} : {})});
  return [
    `The installed CRD was changed, and Helm 4 does not overwrite it. Compare it with the CRD of the chart: ${show}`,
    `Or apply the CRD of the chart: ${show} | ${kubectlCommand(cluster, 'apply', '--server-side', '--force-conflicts', '--filename', '-')}`,
  ];
}

/** Requests to an OCI registry, and to the address of an archive, as Helm prints them; the API server has no such paths. */
const CHART_REGISTRY =
  /FetchReference|failed to resolve \S+:|\/v2\/\S+\/(?:manifests|blobs|tags)\b|\[manifests |scope=repository|\.tgz"/;

const OF_REPOSITORY = changing`Check ${{id: 'chart-version'}} and the connection to the chart repository, or use a local chart with ${{id: 'chart-source'}}`;

const OF_REGISTRY: Pick<KnownFailure, 'code' | 'text' | 'suggestions'> = {
  code: 'CHART_NOT_FOUND',
  text: downloadText,
  suggestions: (_, __, call) =>
    (call as HelmCall).chart?.source === undefined
      ? [OF_REPOSITORY]
      : [
          changing`Check the reference in ${{id: 'chart-source'}}, and the connection to its registry`,
          'If the registry is private, log in to it with helm first',
        ],
};

/** Docker has credential helpers of its own. */
const CREDENTIALS = /(?:getting credentials|exec plugin: )(?!.*docker-credential)/i;

/** Known errors of helm and kubectl with next steps; an unreachable chart repository is checked before the cluster. */
const OF_CLUSTER_TOOLS: readonly KnownFailure[] = [
  {
    stderr: /^(helm|kubectl) not found on PATH\.$/m,
    code: 'TOOL_NOT_FOUND',
    suggestions: (_, stderr) => [
      /^helm /m.test(stderr)
        ? 'Install helm, or set its path with --helm'
        : 'Install kubectl, or set its path with --kubectl',
    ],
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
    stderr: /spec is immutable after creation|field is immutable|less than status\.capacity/,
    code: 'IMMUTABLE_FIELD',
    suggestions: () => [
      'Kubernetes does not change this field: keep the former value, or delete the object first. The data of a deleted PVC is lost',
    ],
  },
  {
    tool: 'helm',
    stderr: /^Error: path ".*" not found/m,
    code: 'INVALID_CHART_SOURCE',
    suggestions: () => [changing`Correct the path in ${{id: 'chart-source'}}`],
  },
  {tool: 'helm', stderr: CHART_REGISTRY, ...OF_REGISTRY},
  {
    tool: 'helm',
    verbs: ['pull', 'show chart', 'show crds', 'template'],
    stderr: /dial tcp|\bx509: |\btls: |TLS handshake timeout|proxyconnect|\bEOF$|Unauthorized/m,
    ...OF_REGISTRY,
  },
  {
    tool: 'helm',
    stderr:
      /chart ".*" .*not found|failed to (download|fetch|pull)|could not find|404 Not Found|not a valid chart repository or cannot be reached|\/index\.yaml/i,
    code: 'CHART_NOT_FOUND',
    suggestions: () => [OF_REPOSITORY],
  },
  {
    stderr: /failed calling webhook/i,
    code: 'TOOL_FAILED',
    suggestions: () => [
      'An admission webhook does not respond: fix the webhook, then run the command again',
    ],
  },
  {
    stderr:
      /admission webhook .* denied the request|ValidatingAdmissionPolicy .* denied request|looking up service account/i,
    code: 'TOOL_FAILED',
    suggestions: (_, stderr, call) =>
      policyRemedies(stderr, call.tool === 'kubectl' ? call.objects?.[0]?.kind : undefined),
  },
  {
    stderr: /is forbidden: exceeded quota|is forbidden: failed quota/i,
    code: 'TOOL_FAILED',
    suggestions: ({namespace = 'default', ...cluster}) => [
      `A ResourceQuota of the namespace rejects this: raise it, or request less. List them: ${kubectlCommand(cluster, 'describe', 'resourcequotas', '--namespace', namespace)}`,
    ],
  },
  {
    stderr: /\bUser "system:anonymous" cannot /,
    ...ADVICE.notLoggedIn,
    text: (stderr) => anonymousText(userIn(stderr)),
  },
  {
    stderr: QUOTED_PAGE,
    ...ADVICE.webPage,
    text: (stderr) => webPageText(webPageIn(stderr) ?? {body: ''}),
  },
  {
    stderr: CREDENTIALS,
    ...ADVICE.notLoggedIn,
    text: (stderr) => pluginProblem(stderr, {cluster: {}, output: pluginOutput(stderr)})?.text,
    suggestions: (cluster, stderr) =>
      pluginProblem(stderr, {cluster})?.steps ?? loginSteps(cluster),
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
    stderr: /must be logged in|asked for the client to provide credentials/i,
    ...ADVICE.notLoggedIn,
    text: () => REJECTED_LOGIN,
  },
  {
    stderr:
      /Kubernetes cluster unreachable|context "?.*"? does not exist|no context exists|current-context (is not set|must exist)|not found for specified context|cannot locate context|Unable to connect to the server|connection refused|connection to the server .* was refused|stat .*: no such file or directory|error loading config file|unable to read client-|no such host|i\/o timeout|TLS handshake timeout/i,
    ...ADVICE.unreachable,
    text: unreachableText,
  },
  {
    stderr: /Unauthorized/i,
    ...ADVICE.notLoggedIn,
    text: () => REJECTED_LOGIN,
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
    suggestions: (cluster, _, call) => changedDefinition(cluster, call),
  },
  {
    tool: 'helm',
    stderr: /cannot be imported into the current release|invalid ownership metadata|conflict/i,
    code: 'OBJECT_NOT_OWNED',
    suggestions: () => [
      changing`Use another ${{id: 'namespace'}} or ${{id: 'release'}}; agent-k8s uses fixed names and supports one release per namespace`,
    ],
  },
];

const OF_MACHINE_TOOLS: readonly KnownFailure[] = [
  {
    stderr:
      /pull access denied|manifest (for .* )?(unknown|not found)|repository does not exist|unauthorized/i,
    code: 'TOOL_FAILED',
    suggestions: () => [
      changing`Check ${{id: 'agent-image'}} and ${{id: 'image-registry'}}. For a private registry, run docker login first`,
    ],
  },
  {
    stderr: /no such host|i\/o timeout|proxyconnect|request canceled while waiting|dial tcp/i,
    code: 'TOOL_FAILED',
    suggestions: () => [
      changing`Docker cannot reach the registry: check the proxy of the Docker daemon, or use a mirror with ${{id: 'image-registry'}}`,
    ],
  },
  {
    stderr: /OCI runtime|failed to create (shim )?task/i,
    code: 'TOOL_FAILED',
    suggestions: () => [
      changing`The container runtime rejects this container: check ${{id: 'agent-image'}}, and SELinux or AppArmor on this machine`,
    ],
  },
  {
    stderr: /permission denied|authentication required|access denied|operation not permitted/i,
    code: 'FORBIDDEN',
    suggestions: () => ['Run the command with sudo'],
  },
];

/** Helm and kubectl say so; an agent or a run can have the reason after it too. With `--wait`, Helm has its own deadline; `scalr-agent upgrade` replaces a changed selector; a change with kubectl is no other owner. */
const OF_TOOL =
  /Error from server|User "system:anonymous"|error loading config file|Unable to connect to the server|connection to the server \S+ was refused|must be logged in|exec plugin: |getting credentials(?!.*docker-credential)|context "[^"]*" does not exist|cluster unreachable|(?:INSTALLATION|UPGRADE|ROLLBACK) FAILED: (?!(?:.* atomic being set: )?(?:context deadline|timed out)|.*\bspec\.selector\b|.*\bconflict with "kubectl-)|chart repository|index\.yaml|FetchReference|Apply failed with \d+ conflicts?: (?!conflict with "kubectl-)|chart "\S+" version "\S+" not found|failed to (?:download|fetch) "/;

/** The code of a line that helm or kubectl printed; undefined for other lines and for errors without a code of their own. */
export function codeOfToolLine(line: string): string | undefined {
  const code = OF_TOOL.test(line)
    ? OF_CLUSTER_TOOLS.find(({stderr, verbs}) => verbs === undefined && stderr.test(line))?.code
    : undefined;
  return code === 'TOOL_FAILED' ? undefined : code;
}

/** The first one that matches what the tool printed. */
export function knownFailure(call: Call, stderr: string): KnownFailure | undefined {
  const {tool} = call;
  const known = tool === 'helm' || tool === 'kubectl' ? OF_CLUSTER_TOOLS : OF_MACHINE_TOOLS;
  const isOf = (each: KnownFailure): boolean =>
    (each.tool ?? tool) === tool &&
    (each.verbs === undefined || (tool === 'helm' && each.verbs.includes(call.verb)));
  return known.find((each) => isOf(each) && each.stderr.test(stderr));
}
