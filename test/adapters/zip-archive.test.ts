import {createHash, randomBytes} from 'node:crypto';
import {chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {execa} from 'execa';
import {afterAll, expect, test} from 'vitest';
import {FileSink} from '../../src/adapters/file-sink.ts';
import {ZipArchive, zipArchives} from '../../src/adapters/zip-archive.ts';
import type {Archive, Entry} from '../../src/ports/archive.ts';
import {expectOthersRead} from '../support/zip-tools.ts';

const folder = mkdtempSync(join(tmpdir(), 'archive-'));
afterAll(() => rmSync(folder, {recursive: true}));

const fresh = (): {directory: string; path: string} => {
  const directory = mkdtempSync(join(folder, 'd-'));
  return {directory, path: join(directory, 'bundle.zip')};
};
const manifest = (entries: readonly Entry[]): string => JSON.stringify(entries);
const MIB = 1024 * 1024;

/** Nothing makes it smaller. */
const noise = (size: number): Buffer => createHash('shake256', {outputLength: size}).digest();

async function* pieces(...texts: (string | Buffer)[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text);
}

/** Gives this, and then nothing for ever. */
async function* stalls(...texts: (string | Buffer)[]): AsyncGenerator<Buffer> {
  yield* pieces(...texts);
  await new Promise(() => undefined);
}

async function contentOf(path: string): Promise<Record<string, string>> {
  const archive = await zipArchives.open(path);
  const content: Record<string, string> = {};
  for (const {name} of archive.entries) {
    let text = '';
    for await (const chunk of archive.read(name)) text += chunk;
    content[name] = text;
  }
  archive.close();
  return content;
}

test('many files may wait for their turn', async () => {
  const warnings: Error[] = [];
  process.on('warning', (warning) => warnings.push(warning));
  const {path} = fresh();
  const archive = await zipArchives.create(path);
  await Promise.all(Array.from({length: 40}, (_, index) => archive.add(`${index}.log`, pieces('a line\n'))));
  await archive.close({manifest});
  expect(warnings).toEqual([]);
});

test('what goes in comes out, by name, with its size and checksum, and other programs read it', async () => {
  const {directory, path} = fresh();
  const archive = await zipArchives.create(path);
  const large = Buffer.alloc(3 * MIB, 'a line of a log\n');
  const added = await Promise.all([
    archive.add('pods/b.log', pieces(large.subarray(0, MIB), large.subarray(MIB))),
    archive.add('pods/a.log', pieces('one\n', 'two\n')),
    archive.add('facts.json', Buffer.from('{}')),
    archive.add('empty.log', pieces()),
  ]);
  expect(added[1]).toEqual({name: 'pods/a.log', bytes: 8, sha256: createHash('sha256').update('one\ntwo\n').digest('hex')});
  const closed = await archive.close({manifest});
  expect(closed.entries.map(({name}) => name)).toEqual(['empty.log', 'facts.json', 'pods/a.log', 'pods/b.log']);
  expect(closed.bytes).toBe(statSync(path).size);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(directory)).toEqual(['bundle.zip']);
  const content = await contentOf(path);
  expect(Object.keys(content)).toEqual(['empty.log', 'facts.json', 'manifest.json', 'pods/a.log', 'pods/b.log']);
  expect(content['pods/a.log']).toBe('one\ntwo\n');
  expect(content['pods/b.log']).toBe(large.toString());
  expect(JSON.parse(content['manifest.json'] ?? '')).toEqual(closed.entries);
  await expectOthersRead(path);
});

test('a large entry holds what was added, whatever the sizes of its pieces', async () => {
  const {path} = fresh();
  const content = randomBytes(3 * MIB);
  const archive = await zipArchives.create(path);
  const sizes = [1, 300_000, 65_536, 262_144, 7];
  const cut: Buffer[] = [];
  for (let at = 0; at < content.length; at += cut.at(-1)?.length ?? 0) {
    cut.push(content.subarray(at, at + (sizes[cut.length % sizes.length] as number)));
  }
  const {sha256} = await archive.add('large.log', pieces(...cut));
  await archive.close({manifest});
  const opened = await zipArchives.open(path);
  const read: Buffer[] = [];
  for await (const chunk of opened.read('large.log')) read.push(chunk);
  opened.close();
  expect(Buffer.concat(read).equals(content)).toBe(true);
  expect(sha256).toBe(createHash('sha256').update(content).digest('hex'));
  await expectOthersRead(path);
});

test('equal data gives equal bytes, wherever and whenever', async () => {
  const program = resolve(import.meta.dirname, 'makes-archive.cli.ts');
  const make = async (TZ: string): Promise<Buffer> => {
    const {path} = fresh();
    await execa(process.execPath, ['--import', 'tsx', program, path], {env: {TZ}});
    return readFileSync(path);
  };
  expect((await make('Asia/Tokyo')).equals(await make('America/Los_Angeles'))).toBe(true);
});

test('nobody sees an archive by its name before it is closed, and an old one stays until then', async () => {
  const {directory, path} = fresh();
  writeFileSync(path, 'old');
  const archive = await zipArchives.create(path);
  await archive.add('a', Buffer.from('a'));
  expect(readFileSync(path, 'utf8')).toBe('old');
  await archive.abort();
  await archive.abort();
  expect(readdirSync(directory)).toEqual(['bundle.zip']);
  expect(readFileSync(path, 'utf8')).toBe('old');
  await expect(archive.add('b', Buffer.from('b'))).rejects.toThrow('given up');
});

test('a small source that stalls holds up nobody', async () => {
  const {path} = fresh();
  const archive = await zipArchives.create(path);
  const stalled = archive.add('stalled.log', stalls('begun'));
  await archive.add('quick.log', pieces(Buffer.alloc(MIB)));
  await archive.add('other.log', pieces('x'));
  const closed = await archive.close({manifest});
  expect(await stalled).toMatchObject({bytes: 5, isCut: true});
  expect(closed.entries.map(({name, isCut}) => [name, isCut])).toEqual([
    ['other.log', undefined],
    ['quick.log', undefined],
    ['stalled.log', true],
  ]);
  expect((await contentOf(path))['stalled.log']).toBe('begun');
});

test('closing in the middle of large entries cuts them, and the archive is whole', async () => {
  const {path} = fresh();
  const archive = await zipArchives.create(path);
  const adding = [1, 2, 3].map((index) => archive.add(`${index}.log`, stalls(Buffer.alloc(MIB, 'x'))));
  await archive.close({manifest});
  expect((await Promise.all(adding)).every(({isCut}) => isCut)).toBe(true);
  await expectOthersRead(path);
  await expect(archive.add('late', Buffer.from(''))).rejects.toThrow('closed');
});

test('last words may be long, all of them', async () => {
  const {path} = fresh();
  const archive = await zipArchives.create(path);
  const text = 'a line\n'.repeat(100_000);
  const last = Array.from({length: 6}, (_, index) => ({name: `${index}.txt`, text}));
  await archive.close({last, manifest});
  const content = await contentOf(path);
  expect(last.map(({name}) => content[name] === text)).toEqual(last.map(() => true));
});

test('of a source that fails the entry keeps what came', async () => {
  const {path} = fresh();
  const archive = await zipArchives.create(path);
  async function* fails(): AsyncGenerator<Buffer> {
    yield Buffer.from('begun');
    throw new Error('the redaction failed');
  }
  await expect(archive.add('a.log', fails())).rejects.toThrow('the redaction failed');
  expect((await archive.close({manifest})).entries).toMatchObject([{name: 'a.log', bytes: 5, isCut: true}]);
  expect((await contentOf(path))['a.log']).toBe('begun');
});

test('a source is read no faster than it is written, but for what is packed ahead', async () => {
  const {path} = fresh();
  const archive = await zipArchives.create(path);
  let given = 0;
  async function* counts(): AsyncGenerator<Buffer> {
    for (; given < 100; given += 1) yield noise(MIB / 8);
  }
  const first = archive.add('first.log', stalls(noise(MIB)));
  await new Promise((resolve) => setTimeout(resolve, 100));
  const second = archive.add('second.log', counts());
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(given).toBeGreaterThan(4);
  expect(given).toBeLessThan(16);
  await archive.close({manifest});
  expect(await first).toMatchObject({isCut: true});
  expect((await second).bytes).toBeGreaterThan(MIB / 2);
  await expectOthersRead(path);
});

test('a large source that is slow holds up no other', async () => {
  const {path} = fresh();
  const archive = await zipArchives.create(path);
  const text = Buffer.alloc(3 * MIB, 'a line of a log\n');
  let goOn: (() => void) | undefined;
  async function* slow(): AsyncGenerator<Buffer> {
    yield text;
    await new Promise<void>((resolve) => {
      goOn = resolve;
    });
    yield text;
  }
  const first = archive.add('first.log', slow());
  await Promise.all([archive.add('second.log', pieces(text)), archive.add('third.log', pieces(text, text))]);
  goOn?.();
  expect(await first).toMatchObject({bytes: 6 * MIB});
  await archive.close({manifest});
  const content = await contentOf(path);
  expect(['first.log', 'second.log', 'third.log'].map((name) => content[name]?.length)).toEqual([6 * MIB, 3 * MIB, 6 * MIB]);
});

test.each([
  '',
  '/etc/passwd',
  '../a',
  'a/../b',
  'a//b',
  'a\\b',
  'C:/a',
  'a\u001b[2J',
  '.',
  'manifest.json',
  'twice',
])('no entry can be called %j', async (name) => {
  const archive = await zipArchives.create(fresh().path);
  await archive.add('twice', Buffer.from(''));
  await expect(archive.add(name, Buffer.from(''))).rejects.toThrow('No entry can be called');
  await archive.abort();
});

test('who reads it back may refuse it, and then nothing is left', async () => {
  const {directory, path} = fresh();
  const archive = await zipArchives.create(path);
  await archive.add('a.log', Buffer.from('hidden'));
  const refused = archive.close({
    manifest,
    check: async (opened) => {
      for await (const chunk of opened.read('a.log')) if (chunk.includes('hidden')) throw new Error('there is a secret in it');
    },
  });
  await expect(refused).rejects.toThrow('there is a secret in it');
  expect(readdirSync(directory)).toEqual([]);
});

test('a place where nothing can be written is named with a next step', async () => {
  const inFile = fresh().path;
  writeFileSync(inFile, '');
  for (const path of ['/nowhere/bundle.zip', join(inFile, 'bundle.zip')]) {
    await expect(zipArchives.create(path)).rejects.toMatchObject({
      code: 'UNWRITABLE_FILE',
      suggestions: ['Choose another place with --out'],
    });
  }
  const {directory, path} = fresh();
  const archive = await zipArchives.create(path);
  rmSync(directory, {recursive: true});
  await expect(archive.close({manifest})).rejects.toMatchObject({code: 'UNWRITABLE_FILE'});
});

/** An archive on a disk that is full from so many bytes on, until the reserve is removed; then there is room for so many more. */
async function onDiskOf(room: number, {reserve}: {reserve: number}): Promise<{archive: Archive; directory: string; path: string}> {
  const {directory, path} = fresh();
  const {open} = await import('node:fs/promises');
  const partial = join(directory, '.partial');
  const handle = await open(partial, 'wx');
  const kept = join(directory, '.reserve');
  writeFileSync(kept, '');
  let left = room;
  let hasReserve = true;
  const sink = new FileSink(
    partial,
    {
      sync: () => handle.sync(),
      close: () => handle.close(),
      write: (async (chunk: Buffer, at: number, length: number) => {
        if (hasReserve && !readdirSync(directory).includes('.reserve')) {
          hasReserve = false;
          left += reserve;
        }
        if (left === 0) throw Object.assign(new Error('ENOSPC'), {code: 'ENOSPC', syscall: 'write'});
        const written = await handle.write(chunk, at, Math.min(length, left));
        left -= written.bytesWritten;
        return written;
      }) as never,
    },
    kept,
  );
  return {archive: new ZipArchive(path, sink), directory, path};
}

test('on a full disk what was written becomes a whole archive', async () => {
  const {archive, directory, path} = await onDiskOf(MIB, {reserve: MIB});
  await archive.add('a.log', pieces('before'));
  async function* endless(): AsyncGenerator<Buffer> {
    for (;;) yield noise(64 * 1024);
  }
  const waiting = expect(archive.add('waiting.log', stalls('x'))).rejects.toMatchObject({code: 'UNWRITABLE_FILE'});
  await expect(archive.add('b.log', endless())).rejects.toMatchObject({
    code: 'UNWRITABLE_FILE',
    message: expect.stringContaining('the disk is full'),
  });
  await waiting;
  await expect(archive.add('c.log', Buffer.from('c'))).rejects.toMatchObject({code: 'UNWRITABLE_FILE'});
  const {entries} = await archive.close({last: [{name: 'errors.json', text: 'the disk was full'}], manifest});
  expect(entries.map(({name, isCut}) => [name, isCut])).toEqual([
    ['a.log', undefined],
    ['b.log', true],
    ['errors.json', undefined],
  ]);
  expect(readdirSync(directory)).toEqual(['bundle.zip']);
  await expectOthersRead(path);
});

test('where even the end finds no room, nothing is left', async () => {
  const {archive, directory} = await onDiskOf(1000, {reserve: 100});
  const added = archive.add('b.log', pieces(noise(4 * MIB)));
  await expect(added).rejects.toMatchObject({code: 'UNWRITABLE_FILE'});
  await expect(archive.close({manifest})).rejects.toMatchObject({code: 'UNWRITABLE_FILE'});
  expect(readdirSync(directory)).toEqual([]);
});

test('a disk that is full only at the end is a full disk too', async () => {
  const {archive, directory} = await onDiskOf(60, {reserve: 10});
  await archive.add('a.log', Buffer.from('a'));
  await expect(archive.close({manifest})).rejects.toMatchObject({
    code: 'UNWRITABLE_FILE',
    message: expect.stringContaining('the disk is full'),
  });
  expect(readdirSync(directory)).toEqual([]);
});

test('giving up in the middle ends those who add', async () => {
  const {directory, path} = fresh();
  const archive = await zipArchives.create(path);
  const adding = archive.add('a.log', stalls(Buffer.alloc(MIB, 'x')));
  const refused = expect(adding).rejects.toThrow('given up');
  await archive.abort();
  await refused;
  await expect(archive.close({manifest})).rejects.toThrow('given up');
  expect(readdirSync(directory)).toEqual([]);
});

test('who may not read it is told so', async () => {
  const {path} = fresh();
  await expect(zipArchives.open(path)).rejects.toMatchObject({code: 'UNREADABLE_FILE'});
  writeFileSync(path, 'PK but no archive');
  chmodSync(path, 0o644);
  await expect(zipArchives.open(path)).rejects.toMatchObject({
    code: 'UNREADABLE_FILE',
    suggestions: ['Name a bundle that collect-logs wrote, and check that all of it was copied'],
  });
});
