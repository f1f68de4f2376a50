import {expect, test} from 'vitest';
import {runBuilt} from './built.ts';

test.each([
  [['status', '--target', 'kubernetes', '--timeout', 'soon']],
  [['export', 'systemd', '--url', 'https://acme.scalr.io', '--dry-run']],
  [['install', '--target', 'systemd', '--url', 'https://acme.scalr.io']],
  [['statsu']],
  [['help', 'status']],
])('scalr-agent-install %j does the same as scalr-agent', (args) => {
  const resultOf = (bin: Parameters<typeof runBuilt>[0]) => {
    const {stdout, stderr, status} = runBuilt(bin, args);
    return {stdout, stderr, status};
  };
  expect(resultOf('scalr-agent-install')).toEqual(resultOf('scalr-agent'));
});

test('scalr-agent-install installs without a command', () => {
  const {stderr, status} = runBuilt('scalr-agent-install', [
    '--target',
    'systemd',
    '--url',
    'https://acme.scalr.io',
  ]);
  expect(status).toBe(2);
  expect(stderr).toContain('Configure an installed package: scalr-agent-install export systemd');
});

test('scalr-agent-install completes commands and their flags', () => {
  const offered = (...words: string[]) =>
    runBuilt('scalr-agent-install', ['__complete', 'fish', ...words]).stdout;
  expect(offered('stat')).toContain('status');
  expect(offered('status', '--watc')).toContain('--watch');
  expect(offered('--chart-s')).toContain('--chart-source');
});
