import {expect, test} from 'vitest';
import Validate from '../../src/commands/validate.ts';
import Values from '../../src/commands/values.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {violations} from '../support/output-schema.ts';
import {runCommand} from '../support/run-command.ts';

const files = memoryFiles({
  'good.yaml': 'agent: {url: "https://acme.scalr.io", tokenExistingSecret: {name: t}}\n',
  'bad.yaml': 'agent:\n  tokenExistingSecret: {name: t}\n  tokne: x\n',
  'inline.yaml': 'agent: {token: abc}\n',
  'local.yaml': 'allowMetadataService: true\nagent: {tokenExistingSecret: {name: t}}\n',
});
const JOB = ['--chart', 'agent-job', '--chart-version', '0.6.5'];

test('a right file has no finding and ends with 0', async () => {
  const {stdout, exit} = await runCommand(Validate, ['good.yaml', ...JOB], {files});
  expect(stdout).toBe('good.yaml: nothing to report (agent-job 0.6.5)\n');
  expect(exit).toBe(0);
});

test('a mistake is shown with its line, a caret and what to write instead', async () => {
  const {stdout, exit} = await runCommand(Validate, ['bad.yaml', ...JOB], {files});
  expect(stdout).toContain('bad.yaml:3:3 error agent.tokne: ');
  expect(stdout).toContain('\n      tokne: x\n      ^\n    → agent.token\n');
  expect(stdout).toContain('bad.yaml: 1 error, 0 warnings (agent-job 0.6.5)\n');
  expect(exit).toBe(3);
});

test('--json is the document of the contract, with the same exit status', async () => {
  const {stdout, exit} = await runCommand(Validate, ['bad.yaml', ...JOB, '--json'], {files});
  expect(violations('validate', stdout)).toEqual([]);
  expect(JSON.parse(stdout)).toEqual({
    schemaVersion: 1,
    chart: 'agent-job',
    chartVersion: '0.6.5',
    valid: false,
    findings: [
      expect.objectContaining({severity: 'error', code: 'UNKNOWN_KEY', path: 'agent.tokne', line: 3, column: 3, suggestion: 'agent.token'}),
    ],
  });
  expect(exit).toBe(3);
});

test('warnings alone fail only with --strict', async () => {
  expect((await runCommand(Validate, ['inline.yaml', ...JOB], {files})).exit).toBe(0);
  expect((await runCommand(Validate, ['inline.yaml', ...JOB, '--strict'], {files})).exit).toBe(4);
});

test('what `values` wrote says itself which chart it is for', async () => {
  const {stdout: written} = await runCommand(Values, [
    '--url',
    'https://acme.scalr.io',
    '--chart',
    'agent-k8s',
    '--chart-version',
    '0.6.1',
  ]);
  const {stdout, stderr} = await runCommand(Validate, ['v.yaml'], {files: memoryFiles({'v.yaml': written})});
  expect(stdout).toBe('v.yaml: nothing to report (agent-k8s 0.6.1)\n');
  expect(stderr).toContain('according to the first lines of the file');
});

test('keys that only one chart has say it too', async () => {
  const {stdout, stderr} = await runCommand(Validate, ['local.yaml'], {files});
  expect(stdout).toContain('(agent-local 0.6.5)');
  expect(stderr).toContain('according to its keys');
});

test.each([
  [['good.yaml'], 'MISSING_SETTING'],
  [['nowhere.yaml', ...JOB], 'UNREADABLE_FILE'],
  [['good.yaml', '--chart', 'agent-jib'], 'INVALID_SETTING'],
  [['good.yaml', '--chart', 'agent-job', '--chart-version', '0.5.73'], 'VERSION_NOT_RELEASED'],
  [[], 'USAGE'],
])('%j is a failure of its own kind', async (argv, code) => {
  const {stdout, exit} = await runCommand(Validate, [...argv, '--json'], {files});
  expect(violations('error', stdout)).toEqual([]);
  expect(JSON.parse(stdout).error.code).toBe(code);
  expect(exit).toBe(2);
});
