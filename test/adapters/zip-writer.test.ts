import {createWriteStream, mkdtempSync, rmSync} from 'node:fs';
import {open} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {Readable, Writable} from 'node:stream';
import {deflateRawSync} from 'node:zlib';
import {afterAll, expect, test} from 'vitest';
import {crc32} from '../../src/adapters/crc32.ts';
import type {Packing} from '../../src/adapters/packing.ts';
import {openZip} from '../../src/adapters/zip-reader.ts';
import {dataDescriptor, directory, localHeader} from '../../src/adapters/zip-records.ts';
import {ZipWriter} from '../../src/adapters/zip-writer.ts';
import {expectOthersRead} from '../support/zip-tools.ts';

const folder = mkdtempSync(join(tmpdir(), 'zip-'));
afterAll(() => rmSync(folder, {recursive: true}));

const TEXT = Buffer.from('a line of a log\n');
const PACKED = deflateRawSync(TEXT);

async function textOf(path: string, name: string): Promise<string> {
  const archive = await openZip(path);
  let text = '';
  for await (const chunk of archive.read(name)) text += chunk;
  archive.close();
  return text;
}

test('more entries than two bytes can count', async () => {
  const path = join(folder, 'many.zip');
  const writer = new ZipWriter(createWriteStream(path));
  async function* pieces(): AsyncGenerator<Buffer> {
    yield PACKED;
  }
  const sums = {bytes: TEXT.length, crc32: crc32(TEXT), sha256: ''};
  for (let index = 0; index < 66_000; index += 1) {
    await writer.add(`${String(index).padStart(5, '0')}.log`, {pieces, sums: () => sums, leave: () => undefined});
  }
  await writer.end();
  expect(await textOf(path, '65999.log')).toBe(TEXT.toString());
  await expectOthersRead(path);
});

test('an entry that lies, and one that claims to be, beyond what four bytes can count', async () => {
  const path = join(folder, 'far.zip');
  const at = 5 * 1024 ** 3;
  const entry = {name: 'far.log', crc32: crc32(TEXT), bytes: TEXT.length, packedBytes: PACKED.length, at};
  const content = Buffer.concat([localHeader(entry.name), PACKED, dataDescriptor(entry)]);
  const file = await open(path, 'w');
  await file.write(content, 0, content.length, at);
  const end = directory([entry], at + content.length);
  await file.write(end, 0, end.length, at + content.length);
  await file.close();
  expect(await textOf(path, 'far.log')).toBe(TEXT.toString());
  await expectOthersRead(path);
  const large = {...entry, bytes: at, packedBytes: at};
  expect(dataDescriptor(large).readBigUInt64LE(16)).toBe(BigInt(at));
  const claims = await open(join(folder, 'claims.zip'), 'w');
  await claims.writeFile(Buffer.concat([content, directory([{...large, packedBytes: 2, at: 0}], content.length)]));
  await claims.close();
  const archive = await openZip(join(folder, 'claims.zip'));
  expect(archive.entries).toEqual([{name: 'far.log', at: 0, bytes: at, packedBytes: 2}]);
  archive.close();
});

test('what is added after the disk has refused hears of the refusal, not of a stream that is gone', async () => {
  const sink = new Writable({write: (_chunk, _encoding, done) => void setImmediate(done, new Error('EFBIG'))});
  const writer = new ZipWriter(sink);
  const written = expect(writer.written).rejects.toThrow('EFBIG');
  const one = (): Packing => ({
    pieces: () => Readable.from([PACKED]),
    sums: () => ({bytes: TEXT.length, crc32: crc32(TEXT), sha256: ''}),
    leave: () => undefined,
  });
  await writer.add('a.log', one());
  await written;
  await expect(writer.add('b.log', one())).rejects.toThrow('EFBIG');
});
