import {expect, test} from 'vitest';
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

const allowList = async (argv: readonly string[]): Promise<string> => {
  const {stdout, stderr, exit} = await runCommand(Network, [...argv, '--format', 'allow-list']);
  expect(exit, stderr).toBe(0);
  return stdout;
};

test.each(Object.entries(CASES))('%s', async (name, argv) => {
  await expect(await allowList(argv)).toMatchFileSnapshot(`golden/${name}.allow-list.txt`);
});

test('an allow list has no domain below another one, because Squid rejects that', async () => {
  const lines = (await allowList(['--url', 'https://acme.scalr.io', '--chart', 'agent-job']))
    .split('\n')
    .filter((line) => /^[^#]/.test(line));
  const wildcards = lines.filter((line) => line.startsWith('.'));
  const names = lines.filter((line) => !line.startsWith('.'));
  expect(wildcards).toContain('.scalr.io');
  expect(names.filter((name) => wildcards.some((each) => name.endsWith(each)))).toEqual([]);
  expect(new Set(lines).size).toBe(lines.length);
});
