import {defineSetting, type Get, type Setting} from './define.ts';
import {hostAndPort} from './kinds/hosts.ts';
import {onOff} from './kinds/texts.ts';

export const otelEndpoint = defineSetting('Observability', 'otel-endpoint', {
  variable: 'SCALR_AGENT_OTLP_ENDPOINT',
  question: 'OpenTelemetry collector',
  summary: 'OTLP/gRPC endpoint of the OpenTelemetry collector, as HOST:PORT.',
  kind: hostAndPort(),
});

const needsEndpoint = {
  test: (get: Get) => get(otelEndpoint) !== undefined,
  needs: '--otel-endpoint',
};

export const otelMetrics = defineSetting('Observability', 'otel-metrics', {
  variable: 'SCALR_AGENT_OTLP_METRICS_ENABLED',
  question: 'Export metrics?',
  summary: 'Export metrics to the collector.',
  kind: onOff(),
  appliesWhen: needsEndpoint,
  fallback: () => true,
});

export const otelTraces = defineSetting('Observability', 'otel-traces', {
  variable: 'SCALR_AGENT_OTLP_TRACES_ENABLED',
  question: 'Export traces?',
  summary: 'Export traces to the collector.',
  kind: onOff(),
  appliesWhen: needsEndpoint,
  fallback: () => false,
});

export const observabilitySettings: readonly Setting[] = [otelEndpoint, otelMetrics, otelTraces];
