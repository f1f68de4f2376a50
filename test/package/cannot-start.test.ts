import {cpSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {afterAll, expect, test} from 'vitest';
import {built} from './built.ts';

const folder = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
afterAll(() => rmSync(folder, {recursive: true, force: true}));
cpSync(built('dist'), join(folder, 'dist'), {recursive: true});
// Without name and version, oclif finds no package.
writeFileSync(join(folder, 'package.json'), '{"type": "module"}');

const run = (...args: readonly string[]) =>
  execa(process.execPath, [join(folder, 'dist/bin/scalr-agent.js'), ...args], {reject: false});

test('prints one JSON document when the program cannot start', async () => {
  const {stdout, stderr, exitCode} = await run('status', '--json');
  expect(JSON.parse(stdout)).toMatchObject({
    schemaVersion: 1,
    error: {
      code: 'BUG',
      message: expect.stringMatching(/^Cannot start scalr-agent: /),
      suggestions: ['Install the package again. If the error persists, report it'],
      exit: 1,
    },
  });
  expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 1});
});

test('prints an error without a stack when the program cannot start', async () => {
  const {stdout, stderr, exitCode} = await run('status');
  expect(stderr).toMatch(/^Error: Cannot start scalr-agent: [^\n]+\nNext steps:\n {2}- Install/);
  expect(stderr).not.toMatch(/^\s+at /m);
  expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
  expect((await run('status', '--verbose')).stderr).toMatch(/^\s+at /m);
});
