import {expect, test} from 'vitest';
import {unexpectedArgument} from '../../src/cli/usage-failure.ts';
import Values from '../../src/commands/values.ts';
import {runCommand} from '../support/run-command.ts';

const said = (argument: string, argv: readonly string[]) =>
  unexpectedArgument(argument, {argv, commands: ['install', 'values']});

test('suggests the command when the argument is a command', () => {
  const {message, suggestions, code, exit} = said('values', ['values', '--url', 'x']);
  expect(message).toBe('Unexpected argument "values": it is a command.');
  expect(suggestions).toEqual(['Run: scalr-agent values']);
  expect({code, exit}).toEqual({code: 'USAGE', exit: 2});
});

test.each<[string, string[], string]>([
  ['the first word', ['foo', '--url', 'x'], 'Unexpected argument "foo".'],
  ['behind a switch', ['--debug', 'foo'], 'Unexpected argument "foo".'],
  [
    'behind a value',
    ['--extra-env', 'PASSWORD=hunter', 'foo'],
    'Unexpected argument after the value of --extra-env.',
  ],
  [
    'behind a value with =',
    ['--extra-env=PASSWORD=hunter', 'foo'],
    'Unexpected argument after the value of --extra-env.',
  ],
])('names %s, but no part of a value', (_, argv, message) => {
  expect(said('foo', argv).message).toBe(message);
});

test('hides a pasted token', () => {
  expect(
    said('eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2ln', ['eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2ln']).message,
  ).toBe('Unexpected argument "[hidden]".');
});

test('is reported by a command', async () => {
  const {stderr, exit} = await runCommand(Values, [
    '--url',
    'https://acme.scalr.io',
    '--debug',
    'true',
  ]);
  expect(stderr).toContain('--debug takes no value.');
  expect(stderr).toContain('Use --debug, or --no-debug');
  expect(exit).toBe(2);
});

test.each([
  ['--from-cluster=false', '--from-cluster takes no value.'],
  ['--ca-public-roots=no', 'Use --ca-public-roots, or --no-ca-public-roots'],
])('says that a switch takes no value: %s', async (flag, text) => {
  const {stderr, exit} = await runCommand(Values, ['--url', 'https://acme.scalr.io', flag]);
  expect(stderr).toContain(text);
  expect(exit).toBe(2);
});

test('suggests the flag for a release that Helm has as an argument', async () => {
  const {stderr} = await runCommand(Values, ['scalr-agent', '--url', 'https://acme.scalr.io']);
  expect(stderr).toContain('Set the name of the release with a flag: --release scalr-agent');
});

test('suggests the flag for a chart that is an argument', async () => {
  const {stderr} = await runCommand(Values, ['agent-local', '--url', 'https://acme.scalr.io']);
  expect(stderr).toContain('Set the chart with a flag: --chart agent-local');
  expect(stderr).not.toContain('--release agent-local');
});
