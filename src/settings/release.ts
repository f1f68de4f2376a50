import {changing} from '../ground/finding.ts';
import {defineSetting, type Setting, spellings} from './define.ts';
import {InvalidValue, type Kind} from './kinds/kind.ts';
import {choice, objectName, text} from './kinds/texts.ts';

/** x.y.z */
const exactVersion = (): Kind<string> => {
  const kind = text({
    hint: 'VERSION',
    pattern: /^(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})$/,
    expected: 'an exact version',
    example: '0.6.5',
  });
  return {
    ...kind,
    parse(raw, context) {
      if (/^\s*(latest|newest|stable)\s*$/i.test(String(raw)))
        throw new InvalidValue(
          `"${raw}" is not an exact version`,
          changing`Omit ${{id: 'chart-version'}} for the newest known version`,
        );
      return kind.parse(raw, context);
    },
  };
};

/** Where an agent runs: in a cluster, or on this machine. */
export const TARGETS = ['kubernetes', 'docker', 'systemd'] as const;
export type TargetName = (typeof TARGETS)[number];

export const target = defineSetting('Release', 'target', {
  question: 'Where will the agent run?',
  summary: 'Where the agent runs. Default: kubernetes.',
  kind: choice(TARGETS),
  meant: spellings({k8s: 'kubernetes'}),
});

export const chart = defineSetting('Release', 'chart', {
  question: 'Chart to install',
  summary: 'Chart to install. Default: recommended.',
  kind: choice(['agent-k8s', 'agent-local', 'agent-job'], '--chart-version'),
  meant: spellings({k8s: 'agent-k8s', local: 'agent-local', job: 'agent-job'}),
});

export const chartVersion = defineSetting('Release', 'chart-version', {
  question: 'Chart version',
  summary: 'Exact version. Default: newest known.',
  kind: exactVersion(),
  meant: (typed) => /^v(\d+\.\d+\.\d+)$/i.exec(typed)?.[1],
});

export const chartSource = defineSetting('Release', 'chart-source', {
  question: 'Chart source',
  summary:
    'OCI reference, directory or .tgz of the chart, instead of the public repository. Name and version are read from the chart.',
  kind: text({hint: 'SOURCE'}),
});

export const namespace = defineSetting('Release', 'namespace', {
  question: 'Namespace',
  summary: 'Namespace of the release.',
  kind: objectName(),
  fallback: () => 'scalr-agent',
  rule: (value) =>
    value.length > 63 || value.includes('.')
      ? new InvalidValue(
          `"${value}" is not a valid namespace name`,
          'Use at most 63 lowercase letters, digits and -',
        )
      : undefined,
});

const DEFAULT_RELEASE = 'scalr-agent';

export const release = defineSetting('Release', 'release', {
  question: 'Helm release name',
  summary: 'Name of the Helm release.',
  kind: objectName(),
  fallback: () => DEFAULT_RELEASE,
  rule: (value) =>
    value.length > 53
      ? new InvalidValue(
          `"${value}" is longer than the 53 characters Helm allows`,
          'Use a shorter name',
        )
      : undefined,
});

/** The Secrets that an install creates for a release. */
export interface SecretNames {
  token: string;
  clientCertificate: string;
}

export const secretNamesOf = (name: string = DEFAULT_RELEASE): SecretNames => ({
  token: `${name}-token`,
  clientCertificate: `${name}-client-cert`,
});

export const releaseSettings: readonly Setting[] = [
  target,
  chart,
  chartVersion,
  chartSource,
  namespace,
  release,
];
