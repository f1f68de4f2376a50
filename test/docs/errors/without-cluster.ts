import {CLIError} from '@oclif/core/errors';
import type {BaseCommand} from '../../../src/cli/base-command.ts';
import {toExpectedError} from '../../../src/cli/failure.ts';
import CollectLogs from '../../../src/commands/collect-logs.ts';
import Migrate from '../../../src/commands/migrate.ts';
import Recommend from '../../../src/commands/recommend.ts';
import Validate from '../../../src/commands/validate.ts';
import Values from '../../../src/commands/values.ts';
import {noCredential} from '../../../src/extensions/account/credentials.ts';
import {responseFailure, unreachable} from '../../../src/extensions/account/failure.ts';
import {PromptCanceled} from '../../../src/ground/errors.ts';
import {hostErrorIn} from '../../../src/ground/system/host-tools.ts';
import {NodeFiles} from '../../../src/ground/system/node-files.ts';
import {damagedArchive} from '../../../src/ground/system/zip-archive.ts';
import {memoryFiles} from '../../support/memory-files.ts';
import {type Example, saidBy, saidOf} from './example.ts';

const COMMANDS = {
  'collect-logs': CollectLogs,
  migrate: Migrate,
  recommend: Recommend,
  validate: Validate,
  values: Values,
};
type Words = `${keyof typeof COMMANDS} ${string}`;
type Deps = Parameters<typeof saidBy>[2];

const typing = (code: Example['code'], words: Words, deps?: Deps): Example => {
  const [command = '', ...argv] = words.split(' ');
  const Class = COMMANDS[command as keyof typeof COMMANDS] as new (
    ...args: never
  ) => BaseCommand<object>;
  return {code, typed: `scalr-agent ${words}`, say: saidBy(Class as never, argv.join(' '), deps)};
};

const ADDRESS = '--url https://acme.scalr.io';
const taken = memoryFiles({'values.yaml': 'agent: {}\n'});
const noArchive = memoryFiles({
  'values.yaml': 'agent: {}\n',
  'agent-job-0.6.5.tgz': '<html>404</html>',
});
const misspelled = memoryFiles({'answers.yaml': 'url: https://acme.scalr.io\ncach: pvc\n'});
const broken = {
  ...memoryFiles(),
  read: async (): Promise<never> => {
    throw new TypeError("Cannot read properties of undefined (reading 'map')");
  },
};

const AT = {host: 'acme.scalr.io', source: 'SCALR_TOKEN'};

/** What Scalr answers with this status. */
const answered = (status: number, detail: string, what: string, permission?: string) =>
  responseFailure({status, body: JSON.stringify({errors: [{detail}]})}, {what, permission}, AT);

const account = (code: Example['code'], words: string, failure: Error): Example => ({
  code,
  typed: `scalr-agent ${words}`,
  say: saidOf(words, () => {
    throw failure;
  }),
});

/** Failures that need neither helm nor a cluster. */
export const withoutCluster: readonly Example[] = [
  typing('USAGE', 'values --url'),
  {
    code: 'UNKNOWN_COMMAND',
    typed: 'scalr-agent instal',
    say: saidOf('instal', () => {
      throw toExpectedError(new CLIError('command instal not found'), {
        argv: [],
        commands: ['install', ...Object.keys(COMMANDS)],
      });
    }),
  },
  typing('UNKNOWN_FLAG', `values ${ADDRESS} --cach-size 5Gi`),
  typing('MISSING_SETTING', 'values --chart agent-job'),
  typing('INVALID_SETTING', 'values --url ftp://acme --concurrency many'),
  typing('INVALID_ANSWERS_FILE', 'values --answers answers.yaml', {files: misspelled}),
  typing('UNSUPPORTED_SETTING', `values ${ADDRESS} --chart agent-job --shutdown-mode drain`),
  typing(
    'CONFLICTING_SETTINGS',
    `values ${ADDRESS} --chart agent-local --run-memory-request 4Gi --run-memory-limit 2Gi`,
  ),
  typing(
    'RESERVED_VARIABLE',
    `values ${ADDRESS} --chart agent-local --extra-env SCALR_AGENT_NAME=mine`,
  ),
  typing('NO_CHART_FITS', 'recommend --purpose vcs --controller-replicas 2'),
  typing('INVALID_CHART_SOURCE', 'validate values.yaml --chart-source agent-job-0.6.5.tgz', {
    files: noArchive,
  }),
  typing('AGENT_NOT_FOUND', 'collect-logs --docker scalr-agent', {
    host: {
      run: async (call) => ({
        stdout: '[]',
        error: hostErrorIn(call, 'Error: No such object: scalr-agent'),
      }),
      stream: async () => {
        throw new Error('nobody expected a stream');
      },
    },
  }),
  typing('VERSION_TOO_OLD', `values ${ADDRESS} --chart agent-local --chart-version 0.5.62`),
  typing('VERSION_NOT_RELEASED', `values ${ADDRESS} --chart agent-local --chart-version 0.5.70`),
  typing('AMBIGUOUS_YAML', `values ${ADDRESS} --chart agent-local --set 'extraEnv.<<=1'`),
  typing(
    'CLEAR_TEXT_CREDENTIAL',
    `values ${ADDRESS} --chart agent-local --https-proxy http://user:password@proxy:3128`,
  ),
  typing('ENCRYPTED_FILE', 'migrate v.yaml --to agent-job', {
    files: memoryFiles({'v.yaml': 'sops: {mac: "ENC[AES256_GCM,data:x]"}\n'}),
  }),
  typing('UNREADABLE_FILE', 'values --answers nowhere.yaml'),
  typing('UNWRITABLE_FILE', `values ${ADDRESS} --chart agent-local --out nowhere/values.yaml`, {
    files: new NodeFiles(),
  }),
  typing('FILE_EXISTS', `values ${ADDRESS} --chart agent-local --out values.yaml`, {files: taken}),
  account(
    'NO_CREDENTIAL',
    'pool list --url https://acme.scalr.io',
    noCredential('https://acme.scalr.io'),
  ),
  account('SCALR_UNREACHABLE', 'pool list', unreachable(AT, 'connection refused')),
  account(
    'SCALR_DENIED',
    'pool list',
    responseFailure({status: 401, body: ''}, {what: 'read agent pools'}, AT),
  ),
  account(
    'SCALR_NOT_FOUND',
    'pool delete eks-prod',
    answered(
      404,
      "AgentPool with ID 'apool-v0p7' not found or user unauthorized.",
      'delete agent pool eks-prod',
      'agent-pools:delete',
    ),
  ),
  account(
    'SCALR_REJECTED',
    'pool delete eks-prod',
    answered(409, 'The agent pool has busy agents.', 'delete agent pool eks-prod'),
  ),
  typing('INVALID_VALUES', 'migrate values.yaml --from agent-local@0.5.63 --to agent-job', {
    files: memoryFiles({'values.yaml': 'agent: {url: [}\n'}),
  }),
  account(
    'BUNDLE_DAMAGED',
    'inspect scalr-agent-logs.zip',
    damagedArchive('scalr-agent-logs.zip', 'it ends too early'),
  ),
  typing('CANCELED', `values ${ADDRESS} --chart agent-local --out values.yaml`, {
    files: taken,
    hasTerminal: true,
    prompter: {
      confirm: async () => {
        throw new PromptCanceled();
      },
    },
  }),
  typing('DECLINED', `values ${ADDRESS} --chart agent-local --out values.yaml`, {
    files: taken,
    hasTerminal: true,
    prompter: {confirm: async () => false},
  }),
  typing('BUG', 'values --answers answers.yaml', {files: broken}),
];
