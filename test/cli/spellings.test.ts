import {describe, expect, test} from 'vitest';
import {normalizeArgv} from '../../src/cli/spellings.ts';
import Install from '../../src/commands/install.ts';
import Status from '../../src/commands/status.ts';
import Upgrade from '../../src/commands/upgrade.ts';
import Validate from '../../src/commands/validate.ts';
import Values from '../../src/commands/values.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {runCommand} from '../support/run-command.ts';

const flagsOf = (Command: {flags: object; baseFlags: object}) =>
  ({...Command.flags, ...Command.baseFlags}) as Parameters<typeof normalizeArgv>[1];

test.each([
  [Install, '-f a.yaml', '--values-file a.yaml'],
  [Install, '--values=a.yaml -fb.yaml', '--values-file=a.yaml --values-file=b.yaml'],
  [Upgrade, '-f a.yaml --version 0.6.5', '--values a.yaml --chart-version 0.6.5'],
  [Validate, '-f a.yaml --values b.yaml', '-f a.yaml --values b.yaml'],
  [
    Install,
    '--context prod --atomic --dry-run=server',
    '--kube-context prod --rollback-on-failure --dry-run',
  ],
  [Status, '-o json', '--json'],
  [Status, '-ojson --output=json', '--json --json'],
  [Values, '--output json', '--json'],
  [Values, '-o ./json', '-o ./json'],
  [Values, '-o values.yaml', '-o values.yaml'],
  [Values, '--set -f --set=--context', '--set -f --set=--context'],
  [Status, '-- -o json', '-- -o json'],
])('%o: %s is %s', (Command, typed, ours) => {
  expect(normalizeArgv(typed.split(' '), flagsOf(Command)).join(' ')).toBe(ours);
});

test.each([
  [
    Values,
    ['-o', 'json'],
    ['Print one JSON document: --json', 'Write a file with this name: --out ./json'],
  ],
  [
    Values,
    ['-oyaml'],
    ['Print one JSON document: --json', 'Write a file with this name: --out ./yaml'],
  ],
  [Status, ['-o', 'wide'], ['Print one JSON document: --json']],
])('rejects an output format: %o %o', (Command, argv, suggestions) => {
  expect(() => normalizeArgv(argv, flagsOf(Command))).toThrow(
    expect.objectContaining({code: 'USAGE', exit: 2, suggestions}),
  );
});

describe('a flag of another tool', () => {
  test.each([
    [Install, ['--name', 'x'], '--name', 'Did you mean --release?'],
    [Install, ['--repo', 'x'], '--repo', 'Did you mean --chart-source?'],
    [Install, ['--set-string', 'a=b'], '--set-string', 'Did you mean --set?'],
    [Install, ['--wait'], '--wait', 'Omit --wait: the command waits unless you add --no-wait'],
    [
      Install,
      ['--proxy=x'],
      '--proxy',
      'Did you mean one of --http-proxy, --https-proxy, --no-proxy?',
    ],
    [Install, ['--env', 'A=b'], '--env', 'Did you mean --extra-env?'],
    [
      Install,
      ['--tolerations', 'x'],
      '--tolerations',
      'Did you mean one of --toleration, --controller-toleration?',
    ],
    [Install, ['--replicas', '2'], '--replicas', 'Did you mean --concurrency?'],
    [
      Upgrade,
      ['--reuse-values'],
      '--reuse-values',
      'Omit --reuse-values: install uses only your settings, upgrade migrates the installed values',
    ],
    [Upgrade, ['--auto-approve'], '--auto-approve', 'Did you mean --yes?'],
    [Status, ['-v'], '-v', 'Did you mean --verbose?'],
    [Values, ['--context', 'prod', '-z'], '-z', 'List all flags with --help'],
    [Status, ['--pvc'], '--pvc', 'List all flags with --help'],
  ] as const)('%o names the flag for %j', async (Command, argv, flag, suggestion) => {
    const {stdout, exit} = await runCommand(Command as unknown as typeof Values, [
      ...argv,
      '--json',
    ]);
    expect(JSON.parse(stdout).error).toMatchObject({
      message: `Unknown flag: ${flag}.`,
      suggestions: expect.arrayContaining([suggestion]),
    });
    expect(exit).toBe(2);
  });
});

test('a values file of Helm and -o json do what they say', async () => {
  const files = memoryFiles({
    'mine.yaml': 'agent: {url: "https://acme.scalr.io"}\nreplicaCount: 2\n',
  });
  const {stdout, exit} = await runCommand(
    Values,
    ['-f', 'mine.yaml', '--chart', 'agent-local', '--output', 'json'],
    {files},
  );
  expect(exit).toBe(0);
  expect(JSON.parse(stdout).values).toMatchObject({replicaCount: 2});
});
