import {describe, expect, test} from 'vitest';
import Install from '../../src/commands/install.ts';
import Status from '../../src/commands/status.ts';
import Uninstall from '../../src/commands/uninstall.ts';
import type {Call} from '../../src/ground/call.ts';
import {argumentsOf} from '../../src/ground/call-arguments.ts';
import type {HostCall, HostTools} from '../../src/ground/system/system.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {violations} from '../support/output-schema.ts';
import {runCommand} from '../support/run-command.ts';

const AGENT_DROP_IN = '/etc/systemd/system/scalr-agent.service.d/scalr-agent.conf';

/** A machine with the service of the Linux packages, in this state and with this journal. */
function machine(properties: string, journal: string): HostTools {
  const outputs: Readonly<Record<HostCall['tool'], string>> = {
    systemctl: properties,
    journalctl: journal,
    docker: '',
    df: '',
    git: '',
  };
  return {
    run: async ({tool}) => ({stdout: outputs[tool]}),
    stream: async ({tool}) => ({
      end: Promise.resolve(undefined),
      chunks: (async function* () {
        yield Buffer.from(outputs[tool]);
      })(),
    }),
  };
}

const ACTIVE =
  'LoadState=loaded\nActiveState=active\nSubState=running\nResult=success\nNRestarts=0\n';
const READY =
  '2026-06-10T08:00:00.000000+00:00 vm scalr-agent[7]: Agent is ready to receive tasks\n';

describe('the service of a virtual machine', () => {
  test('is ready when systemd and its log say so', async () => {
    const {stdout, exit} = await runCommand(Status, ['--target', 'systemd', '--json'], {
      host: machine(ACTIVE, READY),
    });
    expect(violations('status', stdout)).toEqual([]);
    expect(JSON.parse(stdout)).toMatchObject({
      state: 'ready',
      agents: [{object: 'unit/scalr-agent', status: 'active (running)', agent: 'registered'}],
    });
    expect(exit).toBe(0);
  });

  test('is not ready when it has failed', async () => {
    const failed =
      'LoadState=loaded\nActiveState=failed\nSubState=failed\nResult=exit-code\nExecMainStatus=1\nNRestarts=5\n';
    const journal = '2026-06-10T08:00:00.000000+00:00 vm scalr-agent[7]: 401 Unauthorized\n';
    const {stdout, exit} = await runCommand(Status, ['--target', 'systemd'], {
      host: machine(failed, journal),
    });
    expect(exit).toBe(1);
    expect(stdout).toContain(
      '× unit/scalr-agent: failed (failed), registration unknown, 5 restarts',
    );
    expect(stdout).toContain('Scalr seems to reject the token');
  });

  test('is stopped, and only its own drop-ins are removed', async () => {
    const calls: Call[] = [];
    const {stdout, stderr, exit} = await runCommand(
      Uninstall,
      ['--target', 'systemd', '--yes', '--json'],
      {
        host: machine(ACTIVE, READY),
        files: memoryFiles({[AGENT_DROP_IN]: '[Service]\n'}),
        processes: () => ({
          run: async () => ({exitCode: 0, stdout: '', stderr: ''}),
          start(call) {
            calls.push(call);
            return {
              outcome: Promise.resolve({exitCode: 0, stdout: '', stderr: ''}),
              interrupt: () => undefined,
              leave: () => undefined,
            };
          },
        }),
      },
    );
    expect({exit, stderr}).toMatchObject({exit: 0});
    expect(calls.map((call) => [call.tool, ...argumentsOf(call)].join(' '))).toEqual([
      'systemctl disable --now scalr-agent',
      `rm -f ${AGENT_DROP_IN}`,
      'systemctl daemon-reload',
    ]);
    expect(violations('uninstall', stdout)).toEqual([]);
    expect(JSON.parse(stdout).kept).toContainEqual(
      expect.objectContaining({what: '/etc/scalr-agent', why: 'contains the token'}),
    );
  });

  test('is not installed, because the packages are deprecated', async () => {
    const {stderr, exit} = await runCommand(Install, [
      '--target',
      'systemd',
      '--url',
      'https://acme.scalr.io',
    ]);
    expect(exit).toBe(2);
    expect(stderr).toContain('Use Docker: scalr-agent-install install --target docker');
  });

  test('is not found on a machine without it', async () => {
    const {stderr, exit} = await runCommand(Status, ['--target', 'systemd'], {
      host: machine('LoadState=not-found\n', ''),
    });
    expect(exit).toBe(2);
    expect(stderr).toContain('No service scalr-agent on this machine.');
  });
});

test('refuses flags of a cluster with an agent on this machine', async () => {
  const {stderr, exit} = await runCommand(Status, ['--target', 'docker', '--kube-context', 'prod']);
  expect(exit).toBe(2);
  expect(stderr).toContain('--target docker cannot be used with --kube-context.');
});

test.each([
  [Uninstall, ['--drain-timeout', '5m'], '--drain-timeout'],
  [Uninstall, ['--no-drain'], '--drain'],
  [
    Install,
    ['--drain-timeout', '5m', '--url', 'https://acme.scalr.io', '--yes'],
    '--drain-timeout',
  ],
] as const)('%o refuses %j with an agent on this machine', async (Class, flags, named) => {
  const {stderr, exit} = await runCommand(
    Class as typeof Uninstall,
    ['--target', 'docker', ...flags],
    {host: machine('', '')},
  );
  expect(exit).toBe(2);
  expect(stderr).toContain(`--target docker cannot be used with ${named}.`);
});

test('requires a token for an install in Docker, and writes nothing without it', async () => {
  const files = memoryFiles();
  const flags = ['--target', 'docker', '--url', 'https://acme.scalr.io', '--yes'];
  const {stderr, exit} = await runCommand(Install, flags, {files, host: machine('', '')});
  expect(exit).toBe(2);
  expect(stderr).toContain('Set SCALR_AGENT_TOKEN, or --token-file');
  expect(files.written).toEqual([]);
});
