import {readdirSync} from 'node:fs';
import {expect, test} from 'vitest';
import {usageFailure} from '../../src/cli/usage-failure.ts';
import {runCommand} from '../support/run-command.ts';

/** Texts of oclif. */
const OCLIF =
  /Expected .* to be one of|expects (a value|one of these)|See more help|Nonexistent flag|must be provided when using|cannot also be provided|can only be specified once|Missing \d+ required arg|Unexpected argument:|errors? occurred:/;

const ROOT = new URL('../../src/commands/', import.meta.url);
const COMMANDS = readdirSync(ROOT, {recursive: true})
  .map(String)
  .filter((each) => each.endsWith('.ts'));

/** Some flags are no misuse for some commands, which then look for a cluster. */
const unreachable = async () => ({error: {kind: 'unreachable', message: 'no cluster'}}) as const;
const kubernetes = async () => ({
  connect: async () => undefined,
  get: unreachable,
  post: unreachable,
  stream: unreachable,
  send: unreachable,
  close: async () => undefined,
});

const MISUSE: readonly string[][] = [
  ['--nonsense'],
  ['-z'],
  ['--out'],
  ['--namespace'],
  ['--format', 'xml'],
  ['--redact', 'none'],
  ['--purge', 'everything'],
  ['--purge'],
  ['--token', 'x'],
  ['--answers', 'a', '--answers', 'b'],
  ['--timeout', '1m', '--timeout', '2m'],
  ['--create-pool'],
  ['--exit-code'],
  ['--for', '1m'],
  ['--since', '1h', '--since-time', '2026-11-21T08:00:00Z'],
  ['--no-wait', '--rollback-on-failure'],
  ['--values', 'a', '--all-namespaces'],
  ['--probe-url', 'https://a.example.com'],
  ['--environment', 'e', '--shared'],
  ['--json=yes'],
  ['nonsense', 'more', 'words'],
  ['-o', 'yaml'],
];

test.each(COMMANDS)('%s prints no text of oclif', async (file) => {
  const {default: Command} = await import(new URL(file, ROOT).href);
  for (const argv of MISUSE) {
    const {stdout, stderr} = await runCommand(Command, argv, {kubernetes});
    expect(stdout + stderr, argv.join(' ')).not.toMatch(OCLIF);
  }
});

const oclif = (message: string) => Object.assign(new Error(message), {oclif: {}});
const commands = [
  'install',
  'status',
  'uninstall',
  'pool:list',
  'pool:delete',
  'pool:token:revoke',
];
const line = {argv: [], commands, flags: {}};

test.each([
  [
    'Expected --format=xml to be one of: text, json\nSee more help',
    '--format: "xml" is not one of text, json.',
    'Use --format text or json',
  ],
  [
    'Expected --format=jso to be one of: text, json\nSee more help',
    '--format: "jso" is not one of text, json.',
    'Did you mean json?',
  ],
  [
    'Expected maybe to be one of: on, off\nSee more help',
    '"maybe" is not one of on, off.',
    'Use on or off',
  ],
  [
    'Flag --purge expects one of these values: all, crds',
    '--purge requires a value.',
    'Use --purge all or crds',
  ],
  ['Flag --out can only be specified once', '--out is set twice.', 'Remove one of the two'],
  [
    'The following error occurred:\n  All of the following must be provided when using --probe-url: --probe\nSee more help',
    '--probe-url requires --probe.',
    'Add --probe, or omit --probe-url',
  ],
  [
    'The following error occurred:\n  --since=1h cannot also be provided when using --since-time\nSee more help',
    '--since-time cannot be used with --since.',
    'Omit one of these flags',
  ],
  ['something new in the next version', 'Invalid command line.', 'List all flags with --help'],
  ['command logs not found', 'Unknown command: logs.', 'Run: scalr-agent collect-logs'],
  ['command stat not found', 'Unknown command: stat.', 'Did you mean status?'],
  ['command pool:tokens not found', 'Unknown command: pool tokens.', 'Did you mean pool token?'],
  ['command statsu not found', 'Unknown command: statsu.', 'Did you mean status?'],
  ['command --foo not found', 'Unknown flag: --foo.', 'List all commands with --help'],
  ['command --verson not found', 'Unknown flag: --verson.', 'Did you mean --version?'],
  ['command pool:rm:eks not found', 'Unknown command: pool rm.', 'Run: scalr-agent pool delete'],
  [
    'command pool:token:rm:eks not found',
    'Unknown command: pool token rm.',
    'Run: scalr-agent pool token revoke',
  ],
  ['command pool:lits not found', 'Unknown command: pool lits.', 'Did you mean pool list?'],
  ['command pool:list:foo not found', 'Unexpected argument "foo".', 'List all flags with --help'],
  [
    'command rollout:restart not found',
    'Unknown command: rollout.',
    'Run: kubectl rollout restart deployment,daemonset --selector app.kubernetes.io/instance=RELEASE --namespace NAMESPACE',
  ],
  [
    'command rollback not found',
    'Unknown command: rollback.',
    'Run: helm rollback RELEASE --namespace NAMESPACE',
  ],
  ['command rotate not found', 'Unknown command: rotate.', 'Run: scalr-agent rotate-token'],
])('says %j in our words', (message, text, suggestion) => {
  const failure = usageFailure(oclif(message), line);
  expect(failure.message).toBe(text);
  expect(failure.suggestions[0]).toBe(suggestion);
  expect(failure.exit).toBe(2);
});
