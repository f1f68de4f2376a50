import {describe, expect, test} from 'vitest';
import Install from '../../src/commands/install.ts';
import Recommend from '../../src/commands/recommend.ts';
import Values from '../../src/commands/values.ts';
import {fakeProcesses, fakeTools, platform} from '../cluster/platform/fake-cluster.ts';
import {failingKubernetes} from '../support/fake-kubernetes.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {runCommand} from '../support/run-command.ts';

const autopilot = fakeTools(platform('gke-autopilot'));
const URL = ['--url', 'https://acme.scalr.io'];

test('the cluster answers what nobody said, and values name it as the source', async () => {
  const {stdout, exit} = await runCommand(
    Values,
    [...URL, '--chart', 'agent-local', '--from-cluster', '--json'],
    autopilot,
  );
  expect(exit).toBe(0);
  const settings: {id: string; source: string; value: unknown}[] = JSON.parse(stdout).settings;
  expect(settings.find(({id}) => id === 'cloud')).toMatchObject({
    value: 'gke-autopilot',
    source: 'cluster',
  });
});

test('what a person said stands, and without the flag nobody is asked', async () => {
  const argv = [...URL, '--chart', 'agent-local', '--cloud', 'gke', '--json'];
  const {stdout} = await runCommand(Values, [...argv, '--from-cluster'], autopilot);
  expect(JSON.parse(stdout).settings.find(({id}: {id: string}) => id === 'cloud')).toMatchObject({
    value: 'gke',
    source: 'flag',
  });
  expect((await runCommand(Values, argv)).exit).toBe(0);
});

test('the chart recommendation hears of old nodes', async () => {
  const old = fakeTools({...platform('kind'), serverVersion: 'v1.31.0'});
  const argv = ['--isolation', 'per-run', '--json'];
  expect(JSON.parse((await runCommand(Recommend, argv)).stdout).chart).toBe('agent-job');
  const {stdout} = await runCommand(Recommend, [...argv, '--from-cluster'], old);
  expect(JSON.parse(stdout).chart).not.toBe('agent-job');
});

test('a cluster that says nothing is an error', async () => {
  const kubernetes = async () =>
    failingKubernetes({
      kind: 'unreachable',
      message: 'dial tcp 127.0.0.1:8080: connect: connection refused',
    });
  const processes = () => fakeProcesses(platform('kind'));
  const {stdout} = await runCommand(Recommend, ['--from-cluster', '--json'], {
    kubernetes,
    processes,
  });
  expect(JSON.parse(stdout).error).toMatchObject({code: 'CLUSTER_UNREACHABLE', exit: 1});
});

test('install says with an unreachable cluster that no token was given', async () => {
  const message = 'error: stat /nowhere: no such file or directory';
  const kubernetes = async () => failingKubernetes({kind: 'unreachable', message});
  const processes = () => fakeProcesses(platform('kind'));
  const errorOf = async (...argv: string[]) => {
    const line = [...URL, '--dry-run', '--json', ...argv];
    const {stdout} = await runCommand(Install, line, {kubernetes, processes});
    return JSON.parse(stdout).error;
  };
  const unreachable = 'Cannot read the kubeconfig /nowhere (no such file or directory).';
  const noToken =
    'No agent pool token was given. It is required unless Secret scalr-agent-token exists in namespace scalr-agent.';
  const code = 'CLUSTER_UNREACHABLE';
  expect(await errorOf()).toMatchObject({code, message: `${unreachable}\n${noToken}`, exit: 1});
  expect(await errorOf('--token-secret', 'own')).toMatchObject({code, message: unreachable});
});

describe('what the account may not read', () => {
  const refused = fakeTools({...platform('kind'), refuse: ['nodes']});
  const said = async (...argv: string[]) =>
    (
      await runCommand(Values, [...URL, ...argv, '--from-cluster', '--out', 'values.yaml'], {
        ...refused,
        files: memoryFiles(),
      })
    ).stderr.replaceAll(/\s+/g, ' ');

  test('is said, with what was left to others for it', async () => {
    expect(await said('--chart', 'agent-local')).toMatch(
      /could not be read: nodes is forbidden: User "jane" cannot list resource "nodes" .* It is not used for --cloud and --node-os\./,
    );
    expect(await said()).toContain(
      'It is not used for --cloud, --node-os and the chart recommendation.',
    );
  });

  test('is not said of what a person said', async () => {
    expect(await said('--chart', 'agent-local', '--cloud', 'eks')).toContain(
      'It is not used for --node-os.',
    );
    expect(
      await said('--chart', 'agent-local', '--cloud', 'eks', '--node-os', 'al2023'),
    ).not.toContain('--from-cluster');
  });

  test('is not said where everything was read', async () => {
    const {stderr} = await runCommand(Values, [...URL, '--from-cluster'], autopilot);
    expect(stderr).not.toContain('could not be read');
  });
});
