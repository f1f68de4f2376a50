import {expect, test} from 'vitest';
import Install from '../../src/commands/install.ts';
import Preflight from '../../src/commands/preflight.ts';
import Values from '../../src/commands/values.ts';
import {runCommand} from '../support/run-command.ts';

const URL_FLAG = ['--url', 'https://acme.scalr.io'];

test.each<[path: string, argv: string[]]>([
  [
    'extraEnv.SCALR_AGENT_MODULE_CACHE_CONCURRENCY',
    ['--extra-env', 'SCALR_AGENT_MODULE_CACHE_CONCURRENCY=many'],
  ],
  ['tolerations[0].value', ['--set', 'tolerations=[{"key":"a","operator":"Exists","value":"b"}]']],
])('a mistake at %s is refused by every command with settings, before any cluster is asked', async (path, argv) => {
  const said = [...URL_FLAG, '--chart', 'agent-local', '--token-secret', 'mine', ...argv];
  const refused = (await runCommand(Values, said)).stderr;
  expect(refused).toContain(`${argv[0]}: ${path}: `);
  const answers = ['--no-from-cluster', ...said];
  expect(await runCommand(Install, [...answers, '--yes'])).toEqual({
    stdout: '',
    stderr: refused,
    exit: 2,
  });
  expect(await runCommand(Preflight, answers)).toEqual({stdout: '', stderr: refused, exit: 2});
});

test.each([
  ['SCALR_AGENT_DEBUG', 'Use --debug instead'],
  ['SCALR_AGENT_NAME', 'Remove it'],
])('names the flag for the repeated variable %s, if it has one: %s', async (name, remedy) => {
  const {stderr} = await runCommand(Values, [
    ...URL_FLAG,
    '--chart',
    'agent-job',
    '--set',
    `agent.extraEnv.${name}=1`,
  ]);
  expect(stderr).toContain(`would set ${name} twice`);
  expect(stderr).toContain(remedy);
});
