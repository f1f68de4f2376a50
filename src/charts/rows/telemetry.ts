import {otelEndpoint, otelMetrics, otelTraces} from '../../settings/agent.ts';
import {asSwitch, asText} from '../codecs.ts';
import type {Row} from '../define.ts';
import {variable} from './row-kinds.ts';

/** OpenTelemetry by way of extra environment variables (agent-local 0.6.5, README, "Metrics and observability"). */
export const telemetryVariables = (map: string): Row[] => [
  variable(otelEndpoint, map, 'SCALR_AGENT_OTLP_ENDPOINT', asText),
  variable(otelMetrics, map, 'SCALR_AGENT_OTLP_METRICS_ENABLED', asSwitch('true', 'false')),
  variable(otelTraces, map, 'SCALR_AGENT_OTLP_TRACES_ENABLED', asSwitch('true', 'false')),
];
