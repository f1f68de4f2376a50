import {expect, test} from 'vitest';
import Completion from '../../src/commands/completion.ts';
import {NodeFiles} from '../../src/ground/system/node-files.ts';
import {violations} from '../support/output-schema.ts';
import {runCommand} from '../support/run-command.ts';

const completion = (argv: readonly string[], deps = {}) =>
  runCommand(Completion, [...argv], {files: new NodeFiles(), ...deps});

test.each([
  ['bash', 'complete -F'],
  ['zsh', '#compdef scalr-agent scalr-agent-install'],
  ['fish', 'complete -c'],
  ['powershell', 'Register-ArgumentCompleter'],
])('prints only the script for %s', async (shell, says) => {
  const {stdout, stderr, exit} = await completion([shell]);
  expect(stdout).toContain(says);
  expect({stderr, exit}).toEqual({stderr: '', exit: 0});
});

test('explains on a terminal how to load the script', async () => {
  const {stdout, stderr} = await completion(['zsh'], {
    resultScreen: {hasColor: false, columns: 80},
  });
  expect(stdout).toContain('#compdef');
  expect(stderr).toContain('source <(scalr-agent completion zsh)');
  expect(stderr).toContain('~/.zshrc');
});

test('prints one document with --json', async () => {
  const {stdout} = await completion(['fish', '--json'], {
    resultScreen: {hasColor: false, columns: 80},
  });
  expect(violations('completion', stdout)).toEqual([]);
  expect(JSON.parse(stdout)).toMatchObject({
    shell: 'fish',
    load: 'scalr-agent completion fish | source',
  });
});

test.each([[[]], [['tcsh']]])('lists the four shells when the arguments are %j', async (argv) => {
  const {stderr, exit} = await completion(argv);
  expect(stderr).toMatch(/bash, zsh, fish(,| or) powershell/);
  expect(exit).toBe(2);
});
