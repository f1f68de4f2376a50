import {hostInToken} from '../ground/secret.ts';
import {accountUrl, accountUrlOf, hostAndPort} from './addresses.ts';
import {defineSetting, type Get, InvalidValue, type Setting} from './define.ts';
import {choice, dataKey, integer, objectName, onOff, secret} from './kinds.ts';
import {annotations, labels} from './lists.ts';
import {release, secretNamesOf} from './release.ts';

export const purpose = defineSetting('Purpose', 'purpose', {
  question: 'What is the agent pool used for?',
  summary:
    'Purpose of the agent pool: runs or VCS access. VCS access is for private GitHub Enterprise, GitLab Enterprise and Bitbucket Data Center servers. The pool must be linked in Scalr: run pools to workspaces, VCS pools to the VCS provider.',
  kind: choice(['runs', 'vcs']),
  explained:
    'An agent pool is either for runs or for VCS access, and a token belongs to one pool. VCS agents support GitHub Enterprise, GitLab Enterprise and Bitbucket Data Center only. After the agent has registered, link the pool. Link run pools to workspaces, and VCS pools in the last step of the VCS provider setup. Do not install both kinds on the same infrastructure.',
  reference: 'https://docs.scalr.io/docs/agent-pools',
  labels: {runs: 'Run Terraform/OpenTofu', vcs: 'Connect a private VCS'},
  meanings: {
    runs: 'runs execute in your network and can access it',
    vcs: 'a Git server in your network that Scalr cannot reach',
  },
  fallback: () => 'runs' as const,
});

/** What a setting requires to have an effect, as flags; undefined if nothing is missing. */
export function missingFor({isForRuns, appliesWhen}: Setting, get: Get): string | undefined {
  if (isForRuns && get(purpose) === 'vcs')
    return '--purpose runs, because VCS agents execute no runs';
  return appliesWhen?.test(get) === false ? appliesWhen.needs : undefined;
}

export const isolation: Setting<'shared' | 'per-run'> = defineSetting('Purpose', 'isolation', {
  isForRuns: true,
  question: 'Isolate each run in its own pod?',
  summary: 'Isolation of runs: shared or one pod per run.',
  kind: choice(['shared', 'per-run']),
  explained:
    'In a shared container, a run can read files and credentials left by earlier runs. More pods (--concurrency) execute more concurrent runs.',
  reference: 'agent-local 0.6.5 and agent-job 0.6.5, README',
  labels: {shared: 'No', 'per-run': 'Yes'},
  meanings: {
    shared: 'runs use the same container, one after the other',
    'per-run': 'each run gets its own pod and shares nothing',
  },
  fallback: (get) => (get(singleRun) ? ('per-run' as const) : undefined),
});

export const load = defineSetting('Purpose', 'load', {
  isForRuns: true,
  question: 'How are runs distributed over time?',
  summary: 'Expected load: steady or bursty. Only affects the recommended chart.',
  kind: choice(['steady', 'bursty']),
  explained:
    'It only affects the recommended chart. With agent-job, no pods run while the pool is idle, and pods start for each run.',
  reference: 'https://github.com/Scalr/agent-helm',
  labels: {steady: 'Steady', bursty: 'Bursty'},
  meanings: {
    steady: 'agents are in use most of the time',
    bursty: 'idle for hours, then many runs at once',
  },
});

export const concurrency = defineSetting('Purpose', 'concurrency', {
  isForRuns: true,
  question: 'Maximum concurrent runs',
  summary:
    'Maximum concurrent runs; agent-job and agent-k8s have no limit and only plan capacity for them.',
  kind: integer({min: 1, max: 500}),
  explained:
    'With agent-local and in Docker, additional runs are queued in Scalr. The charts agent-job and agent-k8s start a pod for every run. Each concurrent run requires its own CPU and memory.',
  reference: 'agent-local 0.6.5, values.yaml (replicaCount)',
});

export const url = defineSetting('Agent', 'url', {
  question: 'Scalr URL',
  summary: 'Scalr URL, https://<account>.scalr.io. Not required if the token contains the host.',
  kind: accountUrl(),
  meant: accountUrlOf,
  explained: 'The URL in your browser when you are logged in to Scalr. Newer tokens contain it.',
  reference: 'https://docs.scalr.io/docs/agent-pools',
  required: true,
  fallback: hostOfToken,
  fallbackFrom: 'from the token',
  caution: (value, get) => {
    const host = hostOfToken(get);
    return host === undefined || host === value
      ? undefined
      : `The token was created for ${host}, but --url is ${value}.`;
  },
});

export const token = defineSetting('Agent', 'token', {
  onlyEnv: 'SCALR_AGENT_TOKEN',
  question: 'Agent pool token',
  summary:
    'Agent pool token. Stored in a Secret; values.yaml contains only the name of the Secret.',
  kind: secret(),
  explained:
    'Scalr shows the token once, when you add it to the agent pool. Leave empty if a Secret in the cluster already contains it.',
  reference: 'https://docs.scalr.io/docs/agent-pools',
  carriedBy: () => tokenSecret,
});

export const tokenFile = defineSetting('Agent', 'token-file', {
  question: 'Agent pool token file',
  summary: 'Agent pool token file. Use - for standard input.',
  kind: secret({isFile: true}),
  rule: (_, get) =>
    get(token)
      ? new InvalidValue('The token is also set in SCALR_AGENT_TOKEN', 'Set only one of the two')
      : undefined,
  carriedBy: () => tokenSecret,
});

function hostOfToken(get: Get): string | undefined {
  const given = get(token) ?? get(tokenFile);
  return given && hostInToken(given);
}

export const tokenSecret = defineSetting('Agent', 'token-secret', {
  question: 'Secret with the agent pool token',
  summary:
    'Secret that contains the agent pool token, in the namespace of the release. Default: RELEASE-token.',
  kind: objectName(),
  explained:
    'The Secret must exist in the namespace of the release before the install. An installed release keeps its Secret.',
  reference: 'https://kubernetes.io/docs/concepts/configuration/secret/',
  fallback: (get) => secretNamesOf(get(release)).token,
  fallbackFrom: 'from the release name',
});

export const HOW_TO_GIVE_TOKEN =
  'Set the agent pool token with SCALR_AGENT_TOKEN or --token-file, or use an existing Secret with --token-secret';

export const tokenSecretKey = defineSetting('Agent', 'token-secret-key', {
  question: 'Key of the token in the Secret',
  kind: dataKey(),
  fallback: () => 'token',
});

/** Labels and annotations by which this program recognizes its objects. */
export const isReservedKey = (key: string): boolean =>
  /^scalr\.io\/|^app\.kubernetes\.io\/managed-by$/.test(key);

const reservedKey = (map: Readonly<Record<string, string>>): InvalidValue | undefined => {
  const own = Object.keys(map).find(isReservedKey);
  return own === undefined
    ? undefined
    : new InvalidValue(`${own} is reserved for scalr-agent`, 'Use another key');
};

export const secretLabel = defineSetting('Agent', 'secret-label', {
  question: 'Label for created Secrets',
  summary: 'Label for the Secrets that "install" creates; can be repeated.',
  kind: labels(),
  rule: reservedKey,
});

export const secretAnnotation = defineSetting('Agent', 'secret-annotation', {
  question: 'Annotation for created Secrets',
  summary: 'Annotation for the Secrets that "install" creates; can be repeated.',
  kind: annotations(),
  rule: reservedKey,
});

export const debug = defineSetting('Agent', 'debug', {
  question: 'Enable debug logging?',
  summary: 'Enable debug logging of the agent.',
  kind: onOff(),
});

export const logFormat = defineSetting('Agent', 'log-format', {
  question: 'Log format',
  summary: 'Agent log format.',
  kind: choice(['json', 'plain', 'dev']),
});

export const singleRun: Setting<boolean> = defineSetting('Agent', 'single-run', {
  isForRuns: true,
  question: 'Restart the agent container after every run?',
  summary:
    'Restart the agent container after every run; disables the provider and module cache unless they are set.',
  kind: onOff(),
  rule: (isOn, get) =>
    isOn && get(isolation) === 'shared'
      ? new InvalidValue(
          'Conflicts with --isolation shared, because each run gets a new container',
          'Remove one of the two',
        )
      : undefined,
});

export const otelEndpoint = defineSetting('Observability', 'otel-endpoint', {
  question: 'OpenTelemetry collector',
  summary: 'OTLP/gRPC endpoint of the OpenTelemetry collector, as HOST:PORT.',
  kind: hostAndPort(),
});

const needsEndpoint = {
  test: (get: Get) => get(otelEndpoint) !== undefined,
  needs: '--otel-endpoint',
};

export const otelMetrics = defineSetting('Observability', 'otel-metrics', {
  question: 'Export metrics?',
  summary: 'Export metrics to the collector.',
  kind: onOff(),
  appliesWhen: needsEndpoint,
  fallback: () => true,
});

export const otelTraces = defineSetting('Observability', 'otel-traces', {
  question: 'Export traces?',
  summary: 'Export traces to the collector.',
  kind: onOff(),
  appliesWhen: needsEndpoint,
  fallback: () => false,
});
