import {defineSetting, InvalidValue} from './define.ts';
import {choice, objectName, text} from './kinds.ts';

export const chart = defineSetting({
  id: 'chart',
  group: 'Release',
  question: 'Which chart?',
  summary: 'Chart to install; without it the recommended one.',
  kind: choice(['agent-k8s', 'agent-local', 'agent-job']),
});

export const chartVersion = defineSetting({
  id: 'chart-version',
  group: 'Release',
  question: 'Which version of the chart?',
  summary: 'Exact version of the chart; without it the newest known.',
  kind: text({
    hint: 'VERSION',
    pattern: /^(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})$/,
    expected: 'an exact version',
    example: '0.6.5',
  }),
});

export const chartSource = defineSetting({
  id: 'chart-source',
  group: 'Release',
  question: 'Where does the chart come from?',
  summary: 'OCI reference, directory or .tgz of the chart instead of the public repository; it says itself what it is.',
  kind: text({hint: 'SOURCE'}),
});

export const namespace = defineSetting({
  id: 'namespace',
  group: 'Release',
  question: 'Which namespace?',
  summary: 'Namespace of the release.',
  kind: objectName(),
  fallback: () => 'scalr-agent',
  rule: (value) =>
    value.length > 63 || value.includes('.')
      ? new InvalidValue(`"${value}" is not a namespace name`, 'At most 63 lower-case letters, digits and -')
      : undefined,
});

export const release = defineSetting({
  id: 'release',
  group: 'Release',
  question: 'Name of the Helm release?',
  summary: 'Name of the Helm release.',
  kind: objectName(),
  fallback: () => 'scalr-agent',
  rule: (value) =>
    value.length > 53 ? new InvalidValue(`"${value}" is longer than the 53 characters Helm allows`, 'Choose a shorter name') : undefined,
});
