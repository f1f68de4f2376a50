import {spawnSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, readdirSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {nodeRelease} from '../support/node-releases.ts';
import {built, runBuilt} from './built.ts';

/** The program on a disk where opening this file does that. */
const withOpen = (open: string, args: readonly string[]) => {
  const patch = `const {open} = fs; fs.open = (path, ...more) => (String(path) === 'values.yaml' ? (${open})() : open(path, ...more));`;
  const preload = `import fs from 'node:fs/promises'; import {syncBuiltinESMExports} from 'node:module'; ${patch} syncBuiltinESMExports();`;
  return runBuilt('scalr-agent', args, {
    flags: ['--import', `data:text/javascript,${encodeURIComponent(preload)}`],
  });
};

const LINE = ['validate', 'values.yaml', '--chart', 'agent-job'];

test('names the command in the stack of a bug', () => {
  const {stderr, status} = withOpen("() => { throw new TypeError('out of order'); }", [
    ...LINE,
    '--verbose',
  ]);
  expect(stderr).toContain('Error: Unexpected error: out of order');
  expect(stderr).toMatch(/at (?:async )?\S+\.run \(.*commands\/validate\.js:/);
  expect(status).toBe(1);
});

test('knows the flags of a command when oclif takes an argument for the rest of its name', () => {
  const {stderr, status} = runBuilt('scalr-agent', ['uninstall', 'prod']);
  expect(stderr).toContain('Set the name of the release with a flag: --release prod');
  expect(status).toBe(2);
});

test.skipIf(process.platform === 'win32')(
  'caches compiled code only below a home of the same user',
  async () => {
    const node = await nodeRelease('22.23.3');
    const folder = mkdtempSync(join(tmpdir(), 'compiled-'));
    onTestFinished(() => rmSync(folder, {recursive: true}));
    const env = {PATH: '', TMPDIR: join(folder, 'tmp'), HOME: join(folder, 'home')};
    for (const each of [env.TMPDIR, env.HOME]) mkdirSync(each);
    const run = (home: string) =>
      spawnSync(node, [built('dist/bin/scalr-agent.js'), 'explain', 'OOMKilled'], {
        env: {...env, HOME: home},
      });
    expect(run('/missing').status).toBe(0);
    expect(readdirSync(env.HOME)).toEqual([]);
    expect(run(env.HOME).status).toBe(0);
    expect(readdirSync(join(env.HOME, '.cache/scalr-agent-install'))).toEqual(['compiled']);
    expect(readdirSync(env.TMPDIR)).toEqual([]);
  },
);

test('fails when a command never ends', () => {
  const {stderr, status} = withOpen('() => new Promise(() => {})', LINE);
  expect(stderr).toBe('Error: The command did not finish, because of an internal error.\n');
  expect(status).toBe(1);
});

test.each([
  ['SIGINT', 'INTERRUPTED', 130],
  ['SIGTERM', 'TERMINATED', 143],
] as const)('ends with one document when %s arrives before the command handles it', (signal, code, exit) => {
  const interrupted = `() => { process.kill(process.pid, '${signal}'); return new Promise(() => setTimeout(() => undefined, 60_000)); }`;
  const {stdout, status} = withOpen(interrupted, [...LINE, '--json']);
  expect(JSON.parse(stdout)).toMatchObject({
    schemaVersion: 1,
    error: {code, message: 'Interrupted.', exit},
  });
  expect(status).toBe(exit);
  expect(withOpen(interrupted, LINE)).toMatchObject({
    stdout: '',
    stderr: 'Error: Interrupted.\n',
    status: exit,
  });
});
