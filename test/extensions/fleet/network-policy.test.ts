import {describe, expect, test} from 'vitest';
import {parseAllDocuments} from 'yaml';
import Network from '../../../src/commands/network.ts';
import {runCommand} from '../../support/run-command.ts';

const PROXY = ['--https-proxy', 'http://10.1.2.3:3128', '--no-proxy', '10.0.0.0/8'];
/** Settings, and the files that they become. */
const CASES = {
  'agent-local': ['--chart', 'agent-local', '--url', 'https://acme.scalr.io'],
  'agent-job-blocked': [
    '--chart',
    'agent-job',
    '--url',
    'https://acme.scalr.io',
    '--metadata-service',
    'block',
  ],
  'agent-k8s': [
    '--chart',
    'agent-k8s',
    '--cloud',
    'eks',
    '--release',
    'edge',
    '--namespace',
    'agents',
  ],
  'agent-k8s-labeled': [
    '--chart',
    'agent-k8s',
    '--cloud',
    'eks',
    '--pod-label',
    'team=a',
    ...PROXY,
    '--otel-endpoint',
    'otel.obs.svc:4317',
  ],
  'agent-job-gke': [
    '--chart',
    'agent-job',
    '--cloud',
    'gke',
    '--workload-identity',
    'gke',
    '--metadata-service',
    'allow',
    '--otel-endpoint',
    'otel:4317',
  ],
  'agent-local-openshift-vcs': [
    '--chart',
    'agent-local',
    '--cloud',
    'openshift',
    '--purpose',
    'vcs',
    '--probe-url',
    'https://gitlab.example.com:8443',
  ],
};

const fileOf = async (argv: readonly string[], format: string): Promise<string> => {
  const {stdout, stderr, exit} = await runCommand(Network, [...argv, '--format', format]);
  expect(exit, stderr).toBe(0);
  return stdout;
};

describe.each(Object.entries(CASES))('%s', (name, argv) => {
  test.each(['network-policy', 'cilium', 'allow-list'])('%s', async (format) => {
    const extension = format === 'allow-list' ? 'txt' : 'yaml';
    await expect(await fileOf(argv, format)).toMatchFileSnapshot(
      `golden/${name}.${format}.${extension}`,
    );
  });
});

interface Policy {
  metadata: {name: string; namespace: string};
  spec: {
    podSelector: {matchLabels: object};
    egress: {ports: {port: number}[]; to?: {ipBlock?: {cidr: string; except?: string[]}}[]}[];
  };
}

const policies = async (argv: readonly string[]): Promise<Policy[]> =>
  parseAllDocuments(await fileOf(argv, 'network-policy')).map((each) => each.toJS() as Policy);

test.each([
  'block',
  'allow',
])('allows 169.254.169.254 in a NetworkPolicy only with --metadata-service allow: %s', async (metadata) => {
  const [policy] = await policies([
    '--chart',
    'agent-local',
    '--metadata-service',
    metadata,
    '--probe-url',
    'http://git.example.com/',
  ]);
  const blocks =
    policy?.spec.egress.flatMap(({to = []}) => to.flatMap(({ipBlock}) => ipBlock ?? [])) ?? [];
  const others = blocks.filter(({cidr}) => cidr !== '169.254.169.254/32');
  expect(others.find(({cidr}) => cidr === '0.0.0.0/0')?.except).toEqual(['169.254.169.254/32']);
  expect(blocks.length - others.length).toBe(metadata === 'allow' ? 1 : 0);
});

test('selects run pods of agent-k8s by the labels of --pod-label only', async () => {
  const selectors = (all: readonly Policy[]) =>
    all.map(({metadata: {name}, spec}) => [name, spec.podSelector.matchLabels]);
  expect(
    selectors(await policies(['--chart', 'agent-k8s', '--cloud', 'eks', '--release', 'edge'])),
  ).toEqual([['edge-egress', {'app.kubernetes.io/instance': 'edge'}]]);
  expect(selectors(await policies([...CASES['agent-k8s-labeled']]))).toEqual([
    ['scalr-agent-egress', {'app.kubernetes.io/instance': 'scalr-agent'}],
    ['scalr-agent-runs-egress', {team: 'a'}],
  ]);
});

test('an allow list has no domain below another one, because Squid rejects that', async () => {
  const lines = (
    await fileOf(['--url', 'https://acme.scalr.io', '--chart', 'agent-job'], 'allow-list')
  )
    .split('\n')
    .filter((line) => /^[^#]/.test(line));
  const wildcards = lines.filter((line) => line.startsWith('.'));
  const names = lines.filter((line) => !line.startsWith('.'));
  expect(wildcards).toContain('.scalr.io');
  expect(names.filter((name) => wildcards.some((each) => name.endsWith(each)))).toEqual([]);
  expect(new Set(lines).size).toBe(lines.length);
});

test.each([
  'network-policy',
  'cilium',
])('refuses --format %s outside of Kubernetes', async (format) => {
  const {stderr, exit} = await runCommand(Network, ['--target', 'docker', '--format', format]);
  expect(exit).toBe(2);
  expect(stderr).toContain(`--format ${format} is only for --target kubernetes.`);
});
