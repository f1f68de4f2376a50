import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import {open} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import {NodeFiles} from '../../../src/ground/system/node-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'scalr-agent-'));

describe('a missing directory', () => {
  test('is created with its parents, for the owner only', async () => {
    await new NodeFiles().write(join(folder, 'a/b/c.yaml'), 'c', {
      isPrivate: true,
      makesDirectory: true,
    });
    expect(statSync(join(folder, 'a')).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'a/b')).mode & 0o777).toBe(0o700);
  });

  test.runIf(process.platform === 'linux')('is refused where none can be created', async () => {
    await expect(
      new NodeFiles().write('/proc/nothing/a/c.yaml', 'c', {isPrivate: true, makesDirectory: true}),
    ).rejects.toMatchObject({
      code: 'UNWRITABLE_FILE',
    });
  });
});

test('a file with secrets is not written through a symbolic link, other files are', async () => {
  const target = join(folder, 'victim');
  const link = join(folder, 'link.env');
  writeFileSync(target, 'before', {mode: 0o644});
  symlinkSync(target, link);
  await expect(
    new NodeFiles().write(link, 'TOKEN=secret', {isPrivate: true, flag: '--out'}),
  ).rejects.toMatchObject({
    code: 'UNWRITABLE_FILE',
    message: `Cannot write ${link}: a symbolic link to another file.`,
    remedies: [{text: 'Remove the link, or use another path with --out'}],
  });
  expect([readFileSync(target, 'utf8'), statSync(target).mode & 0o777]).toEqual(['before', 0o644]);
  await new NodeFiles().write(link, 'public', {isPrivate: false});
  expect(readFileSync(target, 'utf8')).toBe('public');
});

test('names of directories end with a slash, and an unreadable directory has none', async () => {
  await new NodeFiles().write(join(folder, 'list/one/file'), '', {
    isPrivate: false,
    makesDirectory: true,
  });
  await new NodeFiles().write(join(folder, 'list/two'), '', {isPrivate: false});
  expect((await new NodeFiles().list(join(folder, 'list'))).toSorted()).toEqual(['one/', 'two']);
  expect(await new NodeFiles().list(join(folder, 'nowhere'))).toEqual([]);
});

describe.skipIf(process.platform === 'win32')('a file that several checks read', () => {
  test('is read once if it is a pipe, also at the same time', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('/bin/sh', ['-c', 'mkfifo "$1"', 'sh', pipe]);
    const files = new NodeFiles();
    const reading = [files.read(pipe), files.read(pipe)];
    writeFileSync(pipe, 'token');
    const later = files.read(pipe);
    expect((await Promise.all([...reading, later])).map(String)).toEqual([
      'token',
      'token',
      'token',
    ]);
  });

  test('is read again if it is an ordinary file, or did not exist', async () => {
    const path = join(folder, 'changing');
    const files = new NodeFiles();
    await expect(files.read(path)).rejects.toMatchObject({code: 'UNREADABLE_FILE'});
    writeFileSync(path, 'one');
    expect(String(await files.read(path))).toBe('one');
    writeFileSync(path, 'two');
    expect(String(await files.read(path))).toBe('two');
  });

  test('fails as expected if it is a directory, however slow the disk is', async () => {
    const file = await open(folder);
    const handle = Object.getPrototypeOf(file) as typeof file;
    await file.close();
    const {stat} = handle;
    const slow = vi.spyOn(handle, 'stat').mockImplementation(async function (this: typeof file) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return stat.call(this);
    } as typeof stat);
    onTestFinished(() => slow.mockRestore());
    await expect(new NodeFiles().read(folder)).rejects.toMatchObject({code: 'UNREADABLE_FILE'});
  });
});
