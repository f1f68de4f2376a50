import * as Flags from '@oclif/core/flags';
import {ExpectedError, failed} from '../ground/errors.ts';
import {catalog} from '../settings/catalog.ts';
import {accountFlag} from './account.ts';
import {
  CONNECTION_FLAGS,
  connectionFlags,
  noFromClusterFlag,
  takeOverFlag,
} from './connection-flags.ts';
import {answersFlag, confirmFlags, type Parsed, type SharedFlags, verifyFlag} from './flags.ts';
import {settingFlags, targetWithoutSystemd} from './setting-flags.ts';

export const KUBERNETES_ONLY_FLAGS = [
  'diff',
  'exit-code',
  'pool',
  'create-pool',
  'rollback-on-failure',
  'skip-preflight',
  'take-over',
  'confirm',
  'drain-timeout',
  'verify',
  ...CONNECTION_FLAGS,
];

export const installFlags = {
  diff: Flags.boolean({summary: 'Show differences from the installed release. Changes nothing.'}),
  'exit-code': Flags.boolean({
    summary: 'With --diff: exit with 5 when there are differences.',
    dependsOn: ['diff'],
  }),
  pool: Flags.string({
    summary:
      'Agent pool in the Scalr account: name or ID. Creates its token, and waits until Scalr reports the agent.',
    helpValue: '<NAME>',
  }),
  'create-pool': Flags.boolean({
    summary: 'Create the agent pool given with --pool if it does not exist.',
    dependsOn: ['pool'],
  }),
  ...accountFlag(
    'Offer the agent pools of the Scalr account in the wizard, if a token for it is found.',
  ),
  'no-wait': Flags.boolean({summary: 'Do not wait for the agent to become ready.'}),
  'rollback-on-failure': Flags.boolean({
    summary:
      'Roll back when the release does not become ready, or uninstall a first install; saves logs, events and objects to a file first.',
    exclusive: ['no-wait'],
  }),
  'skip-preflight': Flags.boolean({summary: 'Skip the preflight checks.'}),
  ...takeOverFlag,
  ...verifyFlag,
  confirm: Flags.string({
    summary: 'Release name, to confirm a chart replacement or a downgrade.',
    helpValue: '<NAME>',
  }),
  'drain-timeout': Flags.string({
    summary: 'Time to wait for runs in flight before another chart replaces the installed one.',
    helpValue: '<DURATION>',
    default: '30m',
  }),
  resume: Flags.boolean({summary: 'Resume an interrupted wizard; asks for secrets again.'}),
  save: Flags.string({
    summary:
      'Directory for answers.yaml (without secrets) and values.yaml, or for the files of Docker; created if missing.',
    helpValue: '<DIRECTORY>',
  }),
  ...targetWithoutSystemd,
  ...noFromClusterFlag,
  ...confirmFlags,
  ...answersFlag,
  ...settingFlags(catalog, {
    'chart-version': 'Exact version. Default: installed, else newest known.',
  }),
  ...connectionFlags,
};

export type InstallFlags = Parsed<typeof installFlags> & SharedFlags;

export const isNonInteractive = (): ExpectedError =>
  new ExpectedError('--resume requires prompts, but prompts are disabled.', {
    code: 'USAGE',
    suggestions: ['Run the command on a terminal, without --yes, --json, --diff and --dry-run'],
    options: [
      {
        add: '',
        remove: ['--yes', '-y', '--json', '--diff', '--dry-run', '--no-input'],
        when: 'Continue on a terminal',
      },
      {
        add: '--yes',
        remove: ['--resume'],
        when: 'Install with flags or --answers instead of the wizard',
      },
    ],
  });

export const packagesNotSupported = (): ExpectedError =>
  failed(
    'USAGE',
    'install does not support --target systemd, because the Linux packages of the agent are deprecated.',
    [
      'Use Docker: scalr-agent-install install --target docker',
      'Configure an installed package: scalr-agent-install export systemd',
    ],
  );
