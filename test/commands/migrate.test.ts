import {describe, expect, test} from 'vitest';
import Migrate from '../../src/commands/migrate.ts';
import Validate from '../../src/commands/validate.ts';
import Values from '../../src/commands/values.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {violations} from '../support/output-schema.ts';
import {runCommand} from '../support/run-command.ts';

const TOKEN = 'eyJhbGciOiJub25lIn0.eyJqdGkiOiJ4In0.c2lnbmF0dXJl';
const files = () =>
  memoryFiles({
    'k8s.yaml': 'agent:\n  url: https://acme.scalr.io # ours\n  tokenExistingSecret: t\n  container_task_mem_limit: 4096\n',
    'current.yaml': 'agent: {url: "https://acme.scalr.io", tokenExistingSecret: {name: t}}\n',
    'inline.yaml': `agent: {url: "https://acme.scalr.io", token: ${TOKEN}}\n`,
    'placeholder.yaml': 'agent: {url: "https://acme.scalr.io", tokenExistingSecret: <secret>}\n',
    'broken.yaml': 'agent: [\n',
    'agent.env': `SCALR_URL=https://acme.scalr.io\nSCALR_TOKEN=${TOKEN}\nSCALR_DEBUG=1\n`,
    'unit.conf': '[Service]\nEnvironmentFile=/etc/scalr-agent/agent.env\nEnvironment="SCALR_URL=https://other.scalr.io"\n',
  });
const K8S = ['--from', 'agent-k8s@0.5.58'];
const JOB = ['--to', 'agent-job@0.6.5'];

test('prints the new file on standard output, and the changes on standard error', async () => {
  const {stdout, stderr, exit} = await runCommand(Migrate, ['k8s.yaml', ...K8S, ...JOB], {files: files()});
  expect(stdout).toContain('  url: "https://acme.scalr.io" # ours\n');
  expect(stdout).toContain('memory: "4Gi"');
  expect(stderr).toContain('agent.container_task_mem_limit is now task.runner.resources.limits.memory, and 4096 becomes "4Gi".');
  expect(stderr).toContain('agent-k8s@0.5.58 to agent-job@0.6.5: ');
  expect(exit).toBe(0);
});

test('prints the documented JSON, without an inline token', async () => {
  const {stdout, stderr} = await runCommand(Migrate, ['inline.yaml', ...K8S, ...JOB, '--json'], {files: files()});
  expect(violations('migrate', stdout)).toEqual([]);
  expect(stdout + stderr).not.toContain(TOKEN);
  expect(JSON.parse(stdout)).toMatchObject({schemaVersion: 1, from: 'agent-k8s@0.5.58', to: 'agent-job@0.6.5'});
});

test('shows a diff without secrets on a terminal', async () => {
  const resultScreen = {hasColor: false, columns: 120};
  const {stdout} = await runCommand(Migrate, ['inline.yaml', ...K8S, '--to', 'agent-k8s@0.6.5'], {files: files(), resultScreen});
  expect(stdout).toContain('--- inline.yaml');
  expect(stdout).not.toContain(TOKEN);
});

test('writes the file of --out, and replaces it only when confirmed', async () => {
  const memory = files();
  const argv = ['current.yaml', '--from', 'agent-local@0.5.72', '--to', 'agent-local@0.6.5', '--out', 'k8s.yaml'];
  expect((await runCommand(Migrate, argv, {files: memory})).exit).toBe(2);
  expect((await runCommand(Migrate, [...argv, '--dry-run'], {files: memory})).stderr).toContain('Would replace k8s.yaml');
  expect((await runCommand(Migrate, [...argv, '--yes'], {files: memory})).stderr).toContain('Wrote k8s.yaml.');
  expect((await memory.read('k8s.yaml')).toString()).toContain('tokenExistingSecret: {name: t}');
});

describe('exits', () => {
  test.each([
    [0, 'when nothing changes with --exit-code', ['current.yaml', '--from', 'agent-job@0.6.4', ...JOB, '--exit-code']],
    [5, 'when the file changes with --exit-code', ['k8s.yaml', ...K8S, ...JOB, '--exit-code']],
    [3, 'when the new file has errors', ['placeholder.yaml', ...K8S, ...JOB, '--exit-code']],
    [3, 'when the file cannot be read', ['broken.yaml', ...K8S, ...JOB]],
    [2, 'without a file', JOB],
    [2, 'without --to', ['k8s.yaml', ...K8S]],
    [2, 'for an unknown version', ['k8s.yaml', ...K8S, '--to', 'agent-job@0.6.0']],
    [2, 'for a version range', ['k8s.yaml', ...K8S, '--to', 'agent-job@0.6']],
    [2, 'for --from with an environment file', ['agent.env', ...K8S, ...JOB]],
  ])('with %i %s', async (exit, _, argv) => {
    expect((await runCommand(Migrate, argv, {files: files()})).exit).toBe(exit);
  });
});

test('migrates what "values" wrote into a file that validate accepts', async () => {
  const {stdout: written} = await runCommand(Values, [
    '--url',
    'https://acme.scalr.io',
    '--chart',
    'agent-k8s',
    '--chart-version',
    '0.5.58',
  ]);
  const {stdout: migrated} = await runCommand(Migrate, ['v.yaml', ...JOB], {files: memoryFiles({'v.yaml': written})});
  const {stdout, exit} = await runCommand(Validate, ['v.yaml'], {files: memoryFiles({'v.yaml': migrated})});
  expect(stdout).toContain('(agent-job 0.6.5)');
  expect(exit).toBe(0);
});

describe('agents outside Kubernetes', () => {
  test('become values of the recommended chart without --to, and the token is never printed', async () => {
    const {stdout, stderr} = await runCommand(Migrate, ['agent.env'], {files: files()});
    expect(stdout).toContain('# Values of agent-job 0.6.5');
    expect(stderr).toContain('SCALR_DEBUG is now agent.debug.');
    expect(stderr).toContain('SCALR_TOKEN is not written');
    expect(stdout + stderr).not.toContain(TOKEN);
  });

  test('are read with the files that a unit names, also from its directory', async () => {
    const {stdout, stderr} = await runCommand(Migrate, ['unit.conf', ...JOB, '--json'], {files: files()});
    expect(violations('migrate', stdout)).toEqual([]);
    expect(JSON.parse(stdout)).toMatchObject({from: 'systemd unit'});
    expect(stdout).toContain('other.scalr.io');
    expect(stdout).toContain('debug: \\"1\\"');
    expect(stdout + stderr).not.toContain(TOKEN);
  });
});
