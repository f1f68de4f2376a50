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
  variable(httpProxy, {map, ...options}),
  variable(httpsProxy, {map, ...options}),
  variable(noProxy, {map, as: asNoProxy(internal)}),
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
  variable(otelEndpoint, {map}),
  variable(otelMetrics, {
    map,
    as: asOnOff('true', 'false'),
  }),
  variable(otelTraces, {
    map,
    as: asOnOff('true', 'false'),
  }),
];
