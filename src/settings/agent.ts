import {accountUrl, hostAndPort} from './addresses.ts';
import {defineSetting, type Get, InvalidValue} from './define.ts';
import {choice, dataKey, objectName, onOff, secret} from './kinds.ts';
import {hostInToken} from './secret.ts';

export const token = defineSetting({
  id: 'token',
  onlyEnv: 'SCALR_AGENT_TOKEN',
  group: 'Agent',
  question: 'Agent pool token',
  summary: 'Agent pool token. It becomes a Secret; values.yaml only names that Secret.',
  kind: secret(),
  explained: {
    text: 'Scalr shows it once, when a token is added to the agent pool. Enter alone if a Secret in the cluster holds it already.',
    reference: 'https://docs.scalr.io/docs/agent-pools',
  },
  carriedBy: () => tokenSecret,
});

export const tokenFile = defineSetting({
  id: 'token-file',
  group: 'Agent',
  question: 'File that holds the agent pool token',
  summary: 'File that holds the agent pool token; - reads standard input.',
  kind: secret({isFile: true}),
  rule: (_, get) => (get(token) ? new InvalidValue('the token is also in SCALR_AGENT_TOKEN', 'Give it once') : undefined),
  carriedBy: () => tokenSecret,
});

export const url = defineSetting({
  id: 'url',
  group: 'Agent',
  question: 'Address of the Scalr account',
  summary: 'Address of the Scalr account, https://<account>.scalr.io; not needed with a token that names its host.',
  kind: accountUrl(),
  explained: {
    text: 'The address in the browser when you are logged in to Scalr. Newer tokens name it themselves.',
    reference: 'https://docs.scalr.io/docs/agent-pools',
  },
  required: true,
  fallback: hostOfToken,
  fallbackFrom: 'the token',
  caution: (value, get) => {
    const host = hostOfToken(get);
    return host === undefined || host === value ? undefined : `The token was made for ${host}, and --url says ${value}.`;
  },
});

function hostOfToken(get: Get): string | undefined {
  const given = get(token) ?? get(tokenFile);
  return given && hostInToken(given);
}

export const tokenSecret = defineSetting({
  id: 'token-secret',
  group: 'Agent',
  question: 'Secret that holds the agent pool token',
  summary: 'Secret that holds the agent pool token, in the namespace of the release.',
  kind: objectName(),
  explained: {
    text: 'It has to be in the namespace of the release before the install.',
    reference: 'https://kubernetes.io/docs/concepts/configuration/secret/',
  },
  fallback: () => 'scalr-agent-token',
});

export const tokenSecretKey = defineSetting({
  id: 'token-secret-key',
  group: 'Agent',
  question: 'Key of the token in that Secret',
  summary: 'Key of the token in that Secret.',
  kind: dataKey(),
  fallback: () => 'token',
});

export const debug = defineSetting({
  id: 'debug',
  group: 'Agent',
  question: 'Write debug logs?',
  summary: 'Debug logs of the agent.',
  kind: onOff(),
});

export const logFormat = defineSetting({
  id: 'log-format',
  group: 'Agent',
  question: 'Format of the logs',
  summary: 'Format of the agent logs.',
  kind: choice(['json', 'plain', 'dev']),
});

export const otelEndpoint = defineSetting({
  id: 'otel-endpoint',
  group: 'Observability',
  question: 'OpenTelemetry collector',
  summary: 'OpenTelemetry collector, host:port of its gRPC receiver.',
  kind: hostAndPort(),
});

const needsEndpoint = {test: (get: Get) => get(otelEndpoint) !== undefined, needs: '--otel-endpoint'};

export const otelMetrics = defineSetting({
  id: 'otel-metrics',
  group: 'Observability',
  question: 'Send metrics?',
  summary: 'Send metrics to the collector.',
  kind: onOff(),
  appliesWhen: needsEndpoint,
  fallback: () => true,
});

export const otelTraces = defineSetting({
  id: 'otel-traces',
  group: 'Observability',
  question: 'Send traces?',
  summary: 'Send traces to the collector.',
  kind: onOff(),
  appliesWhen: needsEndpoint,
  fallback: () => false,
});
