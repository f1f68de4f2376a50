import {spawnSync} from 'node:child_process';
import {closeSync, existsSync, openSync} from 'node:fs';
import {expect, test} from 'vitest';
import {onTerminal} from '../pty/terminal.ts';
import {PROGRAM, ROOT, runBuilt} from './built.ts';

/** Makes the program ask oclif, and oclif say nothing more. */
const ASK_OCLIF = {DEBUG: 'nothing'};

test.each([['--help'], ['--version'], []])('prints the same bytes as oclif for %s', (...args) => {
  const [ours, theirs] = [{}, ASK_OCLIF].map((env) => runBuilt('scalr-agent', args, {env}));
  expect(ours?.stdout).toBe(theirs?.stdout);
  expect(ours?.stdout).toContain('scalr-agent-install/');
  expect([ours?.status, theirs?.status]).toEqual([0, 0]);
});

test.each<[string, Record<string, string>, string]>([
  ['colors are forced', {FORCE_COLOR: '1'}, '\u001B[1mOPERATE'],
  ['another width is desired', {OCLIF_COLUMNS: '50'}, 'a support bundle and show\n'],
])('leaves --help to oclif when %s', (_, env, look) => {
  const ours = runBuilt('scalr-agent', ['--help'], {env});
  expect(ours.stdout).toBe(
    runBuilt('scalr-agent', ['--help'], {env: {...env, ...ASK_OCLIF}}).stdout,
  );
  expect(ours.stdout).toContain(look);
  expect(ours.stdout).not.toBe(runBuilt('scalr-agent', ['--help']).stdout);
});

test('prints --help in the width of the terminal', async () => {
  const [ours, theirs] = await Promise.all(
    [{}, ASK_OCLIF].map((env) => onTerminal(['--help'], [], ROOT, {cols: 60, env})),
  );
  expect(ours?.screen).toBe(theirs?.screen);
  expect(ours?.screen).not.toContain('the account before an install.');
});

test('gives both programs the same version', () => {
  expect(runBuilt('scalr-agent-install', ['--version']).stdout).toBe(
    runBuilt('scalr-agent', ['--version']).stdout,
  );
});

test.skipIf(!existsSync('/dev/full'))('fails when the disk behind standard output is full', () => {
  for (const flag of ['--help', '--version']) {
    const full = openSync('/dev/full', 'w');
    const {status, stderr} = spawnSync(process.execPath, [PROGRAM, flag], {
      encoding: 'utf8',
      stdio: ['ignore', full, 'pipe'],
    });
    closeSync(full);
    expect(stderr).toBe(
      'Error: Cannot write to standard output: ENOSPC. Free some disk space, or write to another file.\n',
    );
    expect(status).toBe(1);
  }
});
