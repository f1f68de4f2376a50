import {expect, test} from 'vitest';
import Preflight from '../../src/commands/preflight.ts';
import {type FakeMachine, machineDeps} from '../extensions/machine/preflight/machine.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {violations} from '../support/output-schema.ts';
import {runCommand} from '../support/run-command.ts';

const ACCOUNT = ['--url', 'https://acme.scalr.io'];

const run = (argv: string[], machine: FakeMachine = {}, answers = '') => {
  const {host, files, connections} = machineDeps(machine);
  return runCommand(Preflight, argv, {
    host,
    connections,
    files: {...memoryFiles({'answers.yaml': answers}), ...files},
  });
};

test.each([
  'docker',
  'systemd',
])('checks this machine for --target %s, as JSON with its facts', async (target) => {
  const {stdout} = await run(['--target', target, ...ACCOUNT, '--json']);
  expect(violations('preflight', stdout)).toEqual([]);
  const {checks, facts} = JSON.parse(stdout);
  expect(checks.map(({id}: {id: string}) => id)).toEqual(
    expect.arrayContaining(['host-memory', 'host-scalr']),
  );
  expect(facts.distribution.value.name).toBe('Ubuntu 22.04.4 LTS');
});

test('needs neither a token nor a URL, and never reaches a cluster', async () => {
  const {stdout, exit} = await run(['--target', 'docker', '--concurrency', '2']);
  expect(exit).toBe(0);
  expect(stdout).toContain('Set it, for example with --url https://acme.scalr.io');
  expect(stdout).toContain('0 errors, 0 warnings, 1 not checked');
});

test('takes the target from the answers file', async () => {
  const {host, files, connections} = machineDeps();
  const answers = memoryFiles({
    'answers.yaml': 'target: docker\nurl: https://acme.scalr.io\nconcurrency: 2\n',
  });
  const read = (path: string) => (path === 'answers.yaml' ? answers.read(path) : files.read(path));
  const {stdout, exit} = await runCommand(Preflight, ['--answers', 'answers.yaml', '--verbose'], {
    host,
    connections,
    files: {...answers, ...files, read},
  });
  expect(exit).toBe(0);
  expect(stdout).toContain('✓ Docker: Docker 28.2.2');
});

test.each([
  [['--strict'], {info: {NCPU: 1}}, 4],
  [[], {info: {NCPU: 1}}, 0],
  [['--strict'], {connection: () => ({state: 'timeout', detail: ''})}, 3],
] as const)('sets the exit code: %j', async (flags, machine, expected) => {
  const {exit} = await run(['--target', 'docker', ...ACCOUNT, ...flags], machine as FakeMachine);
  expect(exit).toBe(expected);
});

test.each([
  [['--target', 'docker', '--probe'], '--target docker cannot be used with --probe.'],
  [
    ['--target', 'systemd', '--kube-context', 'prod'],
    '--target systemd cannot be used with --kube-context.',
  ],
  [['--probe-url', 'https://gitlab.example.com'], '--probe-url requires --probe.'],
  [['--target', 'docker', '--cloud', 'eks'], '--cloud'],
])('refuses %j', async (argv, message) => {
  const {stderr, exit} = await run(argv as string[]);
  expect(exit).toBe(2);
  expect(stderr).toContain(message);
});
