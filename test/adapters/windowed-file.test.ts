import {mkdtempSync, rmSync, truncateSync, writeFileSync} from 'node:fs';
import {type FileHandle, open} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {buffer} from 'node:stream/consumers';
import fc from 'fast-check';
import {afterAll, afterEach, expect, test, vi} from 'vitest';
import {WindowedFile} from '../../src/adapters/windowed-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'windowed-'));
const path = join(folder, 'file');
const content = Buffer.from(Array.from({length: 700_000}, (_, index) => (index * 2_654_435_761) >>> 24));
writeFileSync(path, content);
afterEach(() => vi.restoreAllMocks());
afterAll(() => rmSync(folder, {recursive: true}));

async function spiedReads() {
  const handle = await open(path);
  await handle.close();
  return vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, 'read');
}

const hex = (bytes: Buffer): string => bytes.toString('hex');

test('wherever parts lie and however many are read at once, each is what lies there', async () => {
  const file = await WindowedFile.open(path);
  const part = fc.record({from: fc.nat(content.length), bytes: fc.nat(100_000)});
  await fc.assert(
    fc.asyncProperty(fc.array(part, {maxLength: 20}), async (parts) => {
      const found = await Promise.all(parts.map(({from, bytes}) => file.read(from, bytes)));
      expect(found.map(hex)).toEqual(parts.map(({from, bytes}) => hex(content.subarray(from, from + bytes))));
    }),
    {numRuns: 50},
  );
  await file.close();
});

test('neighbours cost one reading of the disk', async () => {
  const reads = await spiedReads();
  const file = await WindowedFile.open(path);
  for (let at = 0; at < 200_000; at += 100) await file.read(at, 100);
  expect(reads).toHaveBeenCalledTimes(1);
  await Promise.all(Array.from({length: 100}, (_, index) => file.read(300_000 + index * 1000, 1000)));
  expect(reads).toHaveBeenCalledTimes(2);
  await file.close();
});

test('a part that is large comes in pieces, and what is held stays', async () => {
  const file = await WindowedFile.open(path);
  await file.read(0, 10);
  const reads = await spiedReads();
  expect((await buffer(file.pieces(1000, 600_000))).equals(content.subarray(1000, 601_000))).toBe(true);
  const large = reads.mock.calls.length;
  expect(large).toBeGreaterThan(1);
  await file.read(10, 10);
  expect(reads).toHaveBeenCalledTimes(large);
  await file.close();
});

test('of a file that has become shorter there is less, and no end of waiting', async () => {
  const short = join(folder, 'short');
  writeFileSync(short, content);
  const file = await WindowedFile.open(short);
  truncateSync(short, 1000);
  expect(file.size).toBe(content.length);
  expect((await file.read(900, 500)).length).toBe(100);
  expect((await file.read(5000, 500)).length).toBe(0);
  expect((await buffer(file.pieces(900, 500))).length).toBe(100);
  await file.close();
});

test('when it cannot be read all who wait hear of it, and the next asks again', async () => {
  const file = await WindowedFile.open(path);
  (await spiedReads()).mockRejectedValueOnce(new Error('EIO'));
  await expect(file.read(0, 10)).rejects.toThrow('EIO');
  expect(hex(await file.read(0, 10))).toBe(hex(content.subarray(0, 10)));
  await file.close();
});
