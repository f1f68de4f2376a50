import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {execWithTimeout} from '../../../src/ground/system/node-processes.ts';
import {isAlive} from '../../support/is-alive.ts';
import {ownTools} from '../../support/own-tools.ts';

const {folder, tool} = ownTools();

const ENOUGH_MS = 30_000;

test('returns the output of a tool that succeeds', async () => {
  expect(await execWithTimeout(tool('echo "$1"; echo lost >&2'), ['a b'], ENOUGH_MS)).toBe('a b\n');
});

test.each([
  ['fails', () => tool('echo half; exit 1')],
  ['is not there', () => join(folder, 'nothing')],
])('a tool that %s has no answer', async (_how, path) => {
  expect(await execWithTimeout(path(), [], ENOUGH_MS)).toBeUndefined();
});

test('kills a tool that hangs, with its child processes', async () => {
  const pids = join(folder, 'pids');
  const hangs = tool(
    `sleep 60 & echo $! $$ > ${pids}.part; mv ${pids}.part ${pids}; echo half; wait`,
  );
  const answer = execWithTimeout(hangs, [], 3000);
  await expect.poll(() => existsSync(pids), {timeout: ENOUGH_MS}).toBe(true);
  expect(await answer).toBeUndefined();
  const started = readFileSync(pids, 'utf8').trim().split(' ').map(Number);
  // Less than what it sleeps; orphans stay until the system takes note.
  await expect.poll(() => started.filter(isAlive), {timeout: ENOUGH_MS}).toEqual([]);
});
