import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {buffer} from 'node:stream/consumers';
import {afterAll, expect, test} from 'vitest';
import {ZipFile} from 'yazl';
import type {ExpectedError} from '../../../src/ground/errors.ts';
import {zipArchives} from '../../../src/ground/system/zip-archive.ts';

const folder = mkdtempSync(join(tmpdir(), 'reader-'));
afterAll(() => rmSync(folder, {recursive: true}));

const save = (bytes: Buffer): string => {
  const path = join(folder, `${Math.random()}.zip`);
  writeFileSync(path, bytes);
  return path;
};

/** An archive of somebody else, whose bytes were changed afterwards. */
async function zipOf(
  names: readonly string[],
  {mode = 0o100644, change = (bytes: Buffer): Buffer => bytes} = {},
): Promise<string> {
  const zip = new ZipFile();
  for (const name of names)
    zip.addBuffer(Buffer.from('the content of it'), name, {mode, compress: false});
  zip.end();
  return save(change(await buffer(zip.outputStream)));
}

/** Names of the same length, because lengths stand elsewhere. */
const renamed =
  (from: string, to: string) =>
  (bytes: Buffer): Buffer =>
    Buffer.from(bytes.toString('latin1').replaceAll(from, to), 'latin1');

test('lists entries with their sizes, and reads them one at a time', async () => {
  const archive = await zipArchives.open(await zipOf(['a.log', 'b.log']));
  expect(archive.entries).toEqual([
    {name: 'a.log', bytes: 17},
    {name: 'b.log', bytes: 17},
  ]);
  expect((await buffer(archive.read('b.log'))).toString()).toBe('the content of it');
  expect((await buffer(archive.read('a.log'))).toString()).toBe('the content of it');
  await expect(buffer(archive.read('c.log'))).rejects.toMatchObject({
    code: 'BUNDLE_DAMAGED',
    message: expect.stringContaining('c.log'),
  });
  archive.close();
});

test.each([
  ['climbs', 'aaa/etc/passwd', '../../passwd/x'.slice(0, 14)],
  ['is absolute', '1etc/passwd', '/etc/passwd'],
  ['is one of Windows', 'aaC/Windows', 'C:\\\\Windows'.slice(0, 11)],
  ['acts on the terminal', 'aaaa2J.log', '\u001b[2J+a.log'],
  ['is there twice', 'b.log', 'a.log'],
])('rejects an archive with a name that %s', async (_, name, bad) => {
  expect(bad).toHaveLength(name.length);
  const path = await zipOf(['a.log', name], {change: renamed(name, bad)});
  await expect(zipArchives.open(path)).rejects.toMatchObject({code: 'BUNDLE_DAMAGED'});
});

test('rejects an archive with a symbolic link', async () => {
  await expect(zipArchives.open(await zipOf(['a.log'], {mode: 0o120777}))).rejects.toMatchObject({
    message: expect.stringContaining('is a symbolic link'),
  });
});

test('rejects an archive with overlapping entries', async () => {
  const path = await zipOf(['a.log', 'b.log'], {
    change: (bytes) => {
      // The second record of the directory points where the first does.
      const second = bytes.lastIndexOf('PK\u0001\u0002');
      bytes.writeUInt32LE(0, second + 42);
      return bytes;
    },
  });
  await expect(zipArchives.open(path)).rejects.toMatchObject({
    message: expect.stringContaining('overlaps another entry'),
  });
});

test('rejects an archive that would unpack to a huge size', async () => {
  const zip = new ZipFile();
  for (let index = 0; index < 20; index += 1) zip.addBuffer(Buffer.alloc(1000), `${index}.log`);
  zip.end();
  const bytes = await buffer(zip.outputStream);
  for (
    let at = bytes.indexOf('PK\u0001\u0002');
    at >= 0;
    at = bytes.indexOf('PK\u0001\u0002', at + 1)
  )
    bytes.writeUInt32LE(0xfffffffe, at + 24);
  await expect(zipArchives.open(save(bytes))).rejects.toMatchObject({
    message: expect.stringContaining('uncompressed size is too large'),
  });
});

test('stops reading an entry that is longer than declared', async () => {
  const zip = new ZipFile();
  zip.addBuffer(Buffer.alloc(1_000_000), 'a.log');
  zip.end();
  const bytes = await buffer(zip.outputStream);
  bytes.writeUInt32LE(1000, bytes.indexOf('PK\u0001\u0002') + 24);
  const archive = await zipArchives.open(save(bytes));
  await expect(buffer(archive.read('a.log'))).rejects.toMatchObject({
    code: 'BUNDLE_DAMAGED',
    message: expect.stringContaining('does not have the size that the archive declares'),
  });
  archive.close();
});

test('rejects a truncated archive', async () => {
  const path = await zipOf(['a.log']);
  const codes = await Promise.all(
    [0, 10, 60, 100].map((size) =>
      zipArchives.open(save(readFileSync(path).subarray(0, size))).then(
        () => 'opened',
        ({code}: ExpectedError) => code,
      ),
    ),
  );
  expect(codes).toEqual(['UNREADABLE_FILE', 'BUNDLE_DAMAGED', 'BUNDLE_DAMAGED', 'BUNDLE_DAMAGED']);
});
