import {readdirSync} from 'node:fs';
import {expect, test} from 'vitest';
import {programOf, withInvokedName} from '../../src/ground/program.ts';

const NPX = {npm_command: 'exec', npm_lifecycle_script: "'scalr-agent-install'"};

test.each([
  ['Try: scalr-agent status --release a', 'Try: npx scalr-agent-install status --release a'],
  [
    'Use Docker: scalr-agent-install install --target docker',
    'Use Docker: npx scalr-agent-install install --target docker',
  ],
  ['  - npx scalr-agent-install status', '  - npx scalr-agent-install status'],
  ['Release scalr-agent is ready', 'Release scalr-agent is ready'],
  ['kubectl get pods -n scalr-agent', 'kubectl get pods -n scalr-agent'],
  ['./bin/scalr-agent status', './bin/scalr-agent status'],
])('shows %j as it can be run after npx', (text, shown) => {
  expect(withInvokedName(text, NPX)).toBe(shown);
  expect(withInvokedName(text, {})).toBe(text);
});

test('knows every command', () => {
  const commands = readdirSync(new URL('../../src/commands', import.meta.url)).map((each) =>
    each.replace(/\.ts$/, ''),
  );
  for (const command of commands)
    expect(withInvokedName(`scalr-agent ${command}`, NPX)).toBe(
      `npx scalr-agent-install ${command}`,
    );
});

test.each([
  {npm_command: 'exec', npm_lifecycle_script: "'vitest' run scalr-agent"},
  {npm_command: 'run-script', npm_lifecycle_script: 'scalr-agent status'},
])('is not started by npx with %o', (env) => {
  expect(programOf(env).other).toBe('scalr-agent');
});
