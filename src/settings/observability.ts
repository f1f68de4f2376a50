import {hostAndPort} from './addresses.ts';
import {defineSetting, type Get} from './define.ts';
import {onOff} from './kinds.ts';

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
