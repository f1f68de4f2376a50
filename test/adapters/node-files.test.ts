import {mkdtempSync, statSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {nodeFiles} from '../../src/adapters/node-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'scalr-agent-'));

describe('a missing directory', () => {
  test('is created with its parents, for the owner only', async () => {
    await nodeFiles.write(join(folder, 'a/b/c.yaml'), 'c', {isPrivate: true, makesDirectory: true});
    expect(statSync(join(folder, 'a')).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'a/b')).mode & 0o777).toBe(0o700);
  });

  test.runIf(process.platform === 'linux')('is refused where none can be created', async () => {
    await expect(
      nodeFiles.write('/proc/nothing/a/c.yaml', 'c', {isPrivate: true, makesDirectory: true}),
    ).rejects.toMatchObject({
      code: 'UNWRITABLE_FILE',
    });
  });
});

test('names of directories end with a slash, and an unreadable directory has none', async () => {
  await nodeFiles.write(join(folder, 'list/one/file'), '', {
    isPrivate: false,
    makesDirectory: true,
  });
  await nodeFiles.write(join(folder, 'list/two'), '', {isPrivate: false});
  expect((await nodeFiles.list(join(folder, 'list'))).toSorted()).toEqual(['one/', 'two']);
  expect(await nodeFiles.list(join(folder, 'nowhere'))).toEqual([]);
});
