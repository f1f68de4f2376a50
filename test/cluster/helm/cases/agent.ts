import {
  agentRoles,
  allRoles,
  type Case,
  type Claim,
  claim,
  EVERY_CHART,
  inEach,
  isFlat,
  NESTED,
  variableIn,
} from '../claims.ts';
import type {Rendered} from '../render.ts';
import {mountedAt, variableOf} from '../workloads.ts';
import {metadataPolicies} from './network.ts';

/** Defaults that the program states must match the chart. */
function effectiveHolds(rendered: Rendered): Claim[] {
  const {target, generated} = rendered;
  const effective = (id: string): unknown => generated.effective.get(id);
  const [container] = rendered.containers(target.chart === 'agent-local' ? 'agent' : 'worker');
  const replicas = rendered
    .ofKind('Deployment')
    .map(({spec}) => (spec as {replicas?: number}).replicas);
  return [
    claim(
      'the metadata service',
      effective('metadata-service'),
      metadataPolicies(rendered).length > 0 ? 'block' : 'allow',
    ),
    ...(target.chart === 'agent-local'
      ? [claim('the number of agents', [effective('concurrency')], replicas)]
      : []),
    ...(isFlat(target)
      ? []
      : [
          claim(
            'the grace period',
            effective('grace-period'),
            container?.pod.spec['terminationGracePeriodSeconds'],
          ),
        ]),
    ...variableIn(
      rendered,
      agentRoles(target),
      'SCALR_AGENT_DATA_DIR',
      String(effective('data-home')),
    ),
  ];
}

/** Text that YAML, Helm or Go templates could misread. */
const HOSTILE: Readonly<Record<string, string>> = {
  SPEECH: `he said "it's" – ok`,
  TEMPLATE: '{{ .Values.agent.url }}',
  CLOCK: '12:30:45',
  NORWAY: 'no',
  OCTAL: '0755',
  COMMENT: 'a # b: c',
  JSON_TEXT: '{"a":[1,2]}',
  LARGE: '1000000',
  SPACES: '  two  ',
  DOLLAR: '$HOME',
  LINES: 'one\ntwo',
};

export const agentCases: readonly Case[] = [
  {
    name: 'only the URL',
    settings: {},
    takenBy: EVERY_CHART,
    check: (rendered) => [
      ...variableIn(rendered, agentRoles(rendered.target), 'SCALR_URL', 'https://acme.scalr.io'),
      ...effectiveHolds(rendered),
    ],
  },
  {
    name: 'the token in a Secret of another name under another key',
    settings: {'token-secret': 'pool-7.token', 'token-secret-key': 'agent_token'},
    takenBy: EVERY_CHART,
    check: (rendered) =>
      inEach(rendered, agentRoles(rendered.target), ({env}) => [
        claim(
          'source of the token',
          env
            .filter(({name}) => name === 'SCALR_AGENT_TOKEN')
            .map(({valueFrom}) => [valueFrom?.secretKeyRef?.name, valueFrom?.secretKeyRef?.key]),
          [['pool-7.token', 'agent_token']],
        ),
      ]),
  },
  {
    name: 'another release in another namespace',
    // The name of the Secret follows the release.
    settings: {release: 'prod', namespace: 'team-a', 'token-secret': 'scalr-agent-token'},
    takenBy: EVERY_CHART,
    check: (rendered) => [
      claim(
        'releases among the labels',
        [
          ...new Set(
            rendered.pods.flatMap(({labels}) => labels['app.kubernetes.io/instance'] ?? []),
          ),
        ],
        ['prod'],
      ),
    ],
  },
  {
    name: 'debug logs',
    settings: {debug: true},
    takenBy: EVERY_CHART,
    check: (rendered) =>
      variableIn(
        rendered,
        agentRoles(rendered.target),
        'SCALR_AGENT_DEBUG',
        rendered.target.chart === 'agent-k8s' ? 'true' : '1',
      ),
  },
  {
    name: 'plain logs',
    settings: {'log-format': 'plain'},
    takenBy: EVERY_CHART,
    check: (rendered) =>
      variableIn(rendered, agentRoles(rendered.target), 'SCALR_AGENT_LOG_FORMAT', 'plain'),
  },
  {
    name: 'extra variables with text that YAML could misread',
    settings: {
      'extra-env': Object.entries({...HOSTILE, SCALR_AGENT_EXAMPLE: 'yes'}).map(
        ([name, text]) => `${name}=${text}`,
      ),
    },
    takenBy: EVERY_CHART,
    check: (rendered) => [
      ...Object.entries(HOSTILE).flatMap(([name, text]) =>
        variableIn(rendered, allRoles(rendered.target), name, text),
      ),
      ...variableIn(rendered, agentRoles(rendered.target), 'SCALR_AGENT_EXAMPLE', 'yes'),
    ],
  },
  {
    name: 'a mirror of providers by way of --set',
    settings: {set: ['agent.providerNetworkMirrors=[{"url":"https://mirror.example.com/"}]']},
    takenBy: {'agent-local': '>=0.6.4', 'agent-job': '>=0.6.4'},
    refusal: 'INVALID_SETTING',
    check: (rendered) =>
      variableIn(
        rendered,
        agentRoles(rendered.target),
        'SCALR_AGENT_PROVIDER_NETWORK_MIRRORS',
        '[{"url":"https://mirror.example.com/"}]',
      ),
  },
  {
    name: 'data in another directory',
    settings: {'data-home': '/srv/scalr/data'},
    takenBy: EVERY_CHART,
    check: (rendered) =>
      inEach(rendered, agentRoles(rendered.target), (container) => [
        claim(
          'SCALR_AGENT_DATA_DIR',
          variableOf(container, 'SCALR_AGENT_DATA_DIR'),
          '/srv/scalr/data',
        ),
        claim(
          'a volume in that place',
          mountedAt(container, '/srv/scalr/data')?.volume !== undefined,
          true,
        ),
      ]),
  },
  {
    name: 'three runs at the same time',
    settings: {concurrency: '3'},
    takenBy: EVERY_CHART,
    check: ({target, ofKind}) =>
      target.chart === 'agent-local'
        ? [
            claim(
              'replicas',
              ofKind('Deployment').map(({spec}) => (spec as {replicas: number}).replicas),
              [3],
            ),
          ]
        : [],
  },
  {
    name: 'variables for a collector of telemetry',
    settings: {
      'otel-endpoint': 'collector.example:4317',
      'otel-metrics': true,
      'otel-traces': true,
    },
    takenBy: {'agent-k8s': '*', 'agent-local': '*', 'agent-job': NESTED},
    check: (rendered) => [
      ...variableIn(
        rendered,
        agentRoles(rendered.target),
        'SCALR_AGENT_OTLP_ENDPOINT',
        'collector.example:4317',
      ),
      ...variableIn(
        rendered,
        agentRoles(rendered.target),
        'SCALR_AGENT_OTLP_METRICS_ENABLED',
        'true',
      ),
      ...variableIn(
        rendered,
        agentRoles(rendered.target),
        'SCALR_AGENT_OTLP_TRACES_ENABLED',
        'true',
      ),
    ],
  },
  {
    name: 'traces without metrics',
    settings: {'otel-endpoint': 'otel-collector:4317', 'otel-metrics': false, 'otel-traces': true},
    takenBy: {'agent-k8s': '*', 'agent-local': '*', 'agent-job': NESTED},
    check: (rendered) =>
      inEach(rendered, agentRoles(rendered.target), (container) => [
        claim(
          'metrics',
          variableOf(container, 'SCALR_AGENT_OTLP_METRICS_ENABLED') === 'true',
          false,
        ),
        claim('traces', variableOf(container, 'SCALR_AGENT_OTLP_TRACES_ENABLED'), 'true'),
        claim(
          'endpoint',
          variableOf(container, 'SCALR_AGENT_OTLP_ENDPOINT'),
          'otel-collector:4317',
        ),
      ]),
  },
];
