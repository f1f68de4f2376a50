import {describe, expect, test} from 'vitest';
import {actionRequired, decisionSteps} from '../../src/cli/decisions.ts';
import Install from '../../src/commands/install.ts';
import PoolCreate from '../../src/commands/pool/create.ts';
import Values from '../../src/commands/values.ts';
import {DECISIONS, ERROR_CODES, ExitCode, ExpectedError} from '../../src/ground/errors.ts';
import {mockApi} from '../extensions/account/mock-api.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {violations} from '../support/output-schema.ts';
import {runCommand} from '../support/run-command.ts';

const PROGRAM = {install: 'scalr-agent install', other: 'scalr-agent'};

/** The document of a command on a terminal, where a prompt would fail the test. */
async function documentOf(
  command: unknown,
  argv: readonly string[],
  deps: Parameters<typeof runCommand>[2] = {},
) {
  const {stdout, exit} = await runCommand(command as typeof Values, [...argv, '--json'], {
    hasTerminal: true,
    ...deps,
  });
  expect(exit).toBe(ExitCode.usage);
  expect(violations('error', stdout)).toEqual([]);
  return JSON.parse(stdout);
}

test('a missing setting: the command again, with the flag', async () => {
  const document = await documentOf(Values, ['--chart', 'agent-local']);
  expect(document).toMatchObject({
    status: 'action_required',
    reason: 'setting_required',
    error: {code: 'MISSING_SETTING', exit: 2},
    next: [
      {
        command: 'scalr-agent values --chart agent-local --json --url URL',
        when: 'Set what is missing',
      },
    ],
  });
});

test('a missing confirmation: --yes, or the plan', async () => {
  const api = await mockApi();
  const document = await documentOf(PoolCreate, ['eks', ...api.flags], api.deps);
  expect(document).toMatchObject({
    status: 'action_required',
    reason: 'confirmation_required',
    error: {code: 'NOT_CONFIRMED'},
  });
  expect(
    document.next.map(({command}: {command: string}) => command.replace(/^.* --json/, '')),
  ).toEqual([' --yes', ' --dry-run']);
});

test('a file that exists: replace it, or write somewhere else', async () => {
  const files = memoryFiles({'values.yaml': 'mine\n'});
  const document = await documentOf(
    Values,
    ['--url', 'https://acme.scalr.io', '--out', 'values.yaml'],
    {files},
  );
  expect(document).toMatchObject({status: 'action_required', reason: 'file_exists'});
  expect(document.next[0].command).toBe(
    'scalr-agent values --url https://acme.scalr.io --out values.yaml --json --yes',
  );
  expect(document.next[1].command).toBe(
    'scalr-agent values --url https://acme.scalr.io --json --out FILE',
  );
  expect(files.written).toEqual([]);
});

test('a wizard that is impossible: a person, or flags', async () => {
  const {next, ...document} = await documentOf(Install, ['--resume']);
  expect(document).toMatchObject({
    status: 'action_required',
    reason: 'terminal_required',
    error: {code: 'USAGE'},
  });
  expect(next.map(({command}: {command: string}) => command)).toEqual([
    'scalr-agent install --resume',
    'scalr-agent install --json --yes',
  ]);
});

test('an error that asks for nothing has no status', async () => {
  expect(
    await documentOf(Values, ['--url', 'https://acme.scalr.io', '--concurrency', 'many']),
  ).not.toHaveProperty('status');
});

test('the text on standard error has the same commands', async () => {
  const files = memoryFiles({'values.yaml': 'mine\n'});
  const {stderr, exit} = await runCommand(
    Values,
    ['--url', 'https://acme.scalr.io', '--out', 'values.yaml'],
    {files},
  );
  expect(exit).toBe(ExitCode.usage);
  expect(stderr).toContain(
    '  - Replace it: scalr-agent values --url https://acme.scalr.io --out values.yaml --yes\n',
  );
  expect(stderr).not.toMatch(/\bFILE\b/);
});

describe('the command', () => {
  const failure = new ExpectedError('No.', {
    code: 'NOT_CONFIRMED',
    options: [{add: '--yes', when: 'Confirm'}],
  });
  const commandOf = (...argv: string[]) =>
    actionRequired(failure, {command: 'install', argv, program: PROGRAM})?.next[0]?.command;

  test.each([
    [['--set', 'agent.token=hunter2'], "scalr-agent install --set '…' --yes"],
    [['--set=agent.token=hunter2'], "scalr-agent install '--set=…' --yes"],
    [['--extra-env', 'PASSWORD=hunter2'], "scalr-agent install --extra-env '…' --yes"],
    [
      ['--https-proxy', 'http://me:hunter2@proxy:3128'],
      "scalr-agent install --https-proxy 'http://***@proxy:3128' --yes",
    ],
    [['--pod-label', "it's=mine"], "scalr-agent install --pod-label 'it'\\''s=mine' --yes"],
  ])('is quoted for a shell and contains no secret: %j', (argv, expected) => {
    expect(commandOf(...argv)).toBe(expected);
  });

  test('starts as the user has started the program, with a variable before it', () => {
    const token = new ExpectedError('No.', {
      code: 'MISSING_SETTING',
      suggestions: ['Set SCALR_AGENT_TOKEN', 'Or use --token-file'],
      options: [{add: 'SCALR_AGENT_TOKEN=TOKEN', when: 'Give the token'}],
    });
    const line = {
      command: 'install',
      argv: ['--yes'],
      program: {install: 'npx scalr-agent-install', other: 'npx scalr-agent-install'},
    };
    expect(actionRequired(token, line)?.next[0]?.command).toBe(
      'SCALR_AGENT_TOKEN=TOKEN npx scalr-agent-install --yes',
    );
    // A person gets no command that has to be completed.
    expect(decisionSteps(token, line)).toEqual(token.suggestions);
  });
});

test('every code of a decision is an error code', () => {
  expect(ERROR_CODES).toEqual(expect.arrayContaining(Object.keys(DECISIONS)));
});
