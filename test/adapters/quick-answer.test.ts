import {chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, expect, test} from 'vitest';
import {quickAnswer} from '../../src/adapters/quick-answer.ts';

const folder = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
afterAll(() => rmSync(folder, {recursive: true, force: true}));

const ENOUGH_MS = 30_000;

function tool(script: string): string {
  const path = join(folder, `tool-${Math.random()}`);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

test('what a tool that ends well has said', async () => {
  expect(await quickAnswer(tool('echo "$1"; echo lost >&2'), ['a b'], ENOUGH_MS)).toBe('a b\n');
});

test.each([
  ['fails', () => tool('echo half; exit 1')],
  ['is not there', () => join(folder, 'nothing')],
])('a tool that %s has no answer', async (_how, path) => {
  expect(await quickAnswer(path(), [], ENOUGH_MS)).toBeUndefined();
});

test('a tool that hangs is given up, and all it has started with it', async () => {
  const pids = join(folder, 'pids');
  const hangs = tool(`sleep 60 & echo $! $$ > ${pids}.part; mv ${pids}.part ${pids}; echo half; wait`);
  const answer = quickAnswer(hangs, [], 3000);
  await expect.poll(() => existsSync(pids), {timeout: ENOUGH_MS}).toBe(true);
  expect(await answer).toBeUndefined();
  const started = readFileSync(pids, 'utf8').trim().split(' ').map(Number);
  // Less than what it sleeps; orphans stay until the system takes note.
  await expect.poll(() => started.filter(isAlive), {timeout: ENOUGH_MS}).toEqual([]);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
