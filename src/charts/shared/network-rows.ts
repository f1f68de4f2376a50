import {httpProxy, httpsProxy, IN_CLUSTER, noProxy} from '../../settings/network.ts';
import {otelEndpoint, otelMetrics, otelTraces} from '../../settings/observability.ts';
import {asOnOff, type Codec} from './codecs.ts';
import type {Row} from './row.ts';
import {behindSwitch, key, variable} from './row-kinds.ts';

const asNoProxy = (internal: readonly string[]): Codec<string[]> => ({
  write: (entries) => [...entries, ...internal].join(','),
  read: (tree) =>
    typeof tree === 'string' && tree !== ''
      ? tree.split(',').filter((entry) => !internal.includes(entry))
      : undefined,
});

/** Proxy settings as extra environment variables. */
export const proxyVariables = (
  map: string,
  options: Pick<Row<string>, 'partly'> = {},
  internal = IN_CLUSTER,
): Row[] => [
  variable(httpProxy, {map, name: 'HTTP_PROXY', ...options}),
  variable(httpsProxy, {map, name: 'HTTPS_PROXY', ...options}),
  variable(noProxy, {map, name: 'NO_PROXY', as: asNoProxy(internal)}),
];

/** Proxy keys, ignored unless the proxy is enabled. */
export const proxyKeys = (path: string): Row[] =>
  behindSwitch(`${path}.enabled`, [
    key(httpProxy, `${path}.httpProxy`),
    key(httpsProxy, `${path}.httpsProxy`),
    key(noProxy, `${path}.noProxy`, {as: asNoProxy(IN_CLUSTER)}),
  ]);

/** OpenTelemetry settings as extra environment variables (agent-local 0.6.5, README, "Metrics and observability"). */
export const telemetryVariables = (map: string): Row[] => [
  variable(otelEndpoint, {map, name: 'SCALR_AGENT_OTLP_ENDPOINT'}),
  variable(otelMetrics, {
    map,
    name: 'SCALR_AGENT_OTLP_METRICS_ENABLED',
    as: asOnOff('true', 'false'),
  }),
  variable(otelTraces, {
    map,
    name: 'SCALR_AGENT_OTLP_TRACES_ENABLED',
    as: asOnOff('true', 'false'),
  }),
];
