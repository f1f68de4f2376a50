import {expect, test} from 'vitest';
import {strayArgument} from '../../src/cli/stray-argument.ts';
import Values from '../../src/commands/values.ts';
import {runCommand} from '../support/run-command.ts';

const said = (argument: string, argv: readonly string[]) => strayArgument(argument, argv, ['install', 'values']);

test('a command is named as one', () => {
  const {message, suggestions, code, exit} = said('values', ['values', '--url', 'x']);
  expect(message).toBe('"values" belongs to no flag; it is a command of its own.');
  expect(suggestions).toEqual(['Write: scalr-agent values']);
  expect({code, exit}).toEqual({code: 'USAGE', exit: 2});
});

test.each<[string, string[], string]>([
  ['the first word', ['foo', '--url', 'x'], '"foo" belongs to no flag.'],
  ['behind a switch', ['--debug', 'foo'], '"foo" belongs to no flag.'],
  ['behind a value', ['--extra-env', 'PASSWORD=hunter', 'foo'], 'A word behind the value of --extra-env belongs to no flag.'],
  ['behind a value with =', ['--extra-env=PASSWORD=hunter', 'foo'], 'A word behind the value of --extra-env belongs to no flag.'],
])('%s is said, and no rest of a value', (_, argv, message) => {
  expect(said('foo', argv).message).toBe(message);
});

test('a token that was pasted is hidden', () => {
  expect(said('eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2ln', ['eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2ln']).message).toBe(
    '"[hidden]" belongs to no flag.',
  );
});

test('a command says so', async () => {
  const {stderr, exit} = await runCommand(Values, ['--url', 'https://acme.scalr.io', '--debug', 'true']);
  expect(stderr).toContain('"true" belongs to no flag.');
  expect(exit).toBe(2);
});
