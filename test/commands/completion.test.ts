import {expect, test} from 'vitest';
import {nodeFiles} from '../../src/adapters/node-files.ts';
import Completion from '../../src/commands/completion.ts';
import {violations} from '../support/output-schema.ts';
import {runCommand} from '../support/run-command.ts';

const completion = (argv: readonly string[], world = {}) => runCommand(Completion, [...argv], {files: nodeFiles, ...world});

test.each([
  ['bash', 'complete -F'],
  ['zsh', '#compdef scalr-agent scalr-agent-install'],
  ['fish', 'complete -c'],
  ['powershell', 'Register-ArgumentCompleter'],
])('%s gets a script of its own and nothing else', async (shell, says) => {
  const {stdout, stderr, exit} = await completion([shell]);
  expect(stdout).toContain(says);
  expect({stderr, exit}).toEqual({stderr: '', exit: 0});
});

test('on a terminal it says how the script is loaded', async () => {
  const {stdout, stderr} = await completion(['zsh'], {resultScreen: {hasColor: false, columns: 80}});
  expect(stdout).toContain('#compdef');
  expect(stderr).toContain('source <(scalr-agent completion zsh)');
  expect(stderr).toContain('~/.zshrc');
});

test('--json is one document', async () => {
  const {stdout} = await completion(['fish', '--json'], {resultScreen: {hasColor: false, columns: 80}});
  expect(violations('completion', stdout)).toEqual([]);
  expect(JSON.parse(stdout)).toMatchObject({shell: 'fish', load: 'scalr-agent completion fish | source'});
});

test.each([[[]], [['tcsh']]])('%j is an error that names the four', async (argv) => {
  const {stderr, exit} = await completion(argv);
  expect(stderr).toContain('bash, zsh, fish, powershell');
  expect(exit).toBe(2);
});
