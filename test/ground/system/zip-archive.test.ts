import {createHash, randomBytes} from 'node:crypto';
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {execa} from 'execa';
import {afterAll, expect, test} from 'vitest';
import type {ArchiveEntry} from '../../../src/ground/system/system.ts';
import {zipArchives} from '../../../src/ground/system/zip-archive.ts';
import {expectOthersRead} from '../../support/zip-tools.ts';

const folder = mkdtempSync(join(tmpdir(), 'archive-'));
afterAll(() => rmSync(folder, {recursive: true}));

const fresh = (): {directory: string; path: string} => {
  const directory = mkdtempSync(join(folder, 'd-'));
  return {directory, path: join(directory, 'bundle.zip')};
};
const manifest = (entries: readonly ArchiveEntry[]): string => JSON.stringify(entries);
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

test('accepts many concurrent files', async () => {
  const warnings: Error[] = [];
  process.on('warning', (warning) => warnings.push(warning));
  const {path} = fresh();
  const archive = await zipArchives.create(path);
  await Promise.all(
    Array.from({length: 40}, (_, index) => archive.add(`${index}.log`, pieces('a line\n'))),
  );
  await archive.close({manifest});
  expect(warnings).toEqual([]);
});

test('writes entries with size and checksum that other programs can read', async () => {
  const {directory, path} = fresh();
  const archive = await zipArchives.create(path);
  const large = Buffer.alloc(3 * MIB, 'a line of a log\n');
  const added = await Promise.all([
    archive.add('pods/b.log', pieces(large.subarray(0, MIB), large.subarray(MIB))),
    archive.add('pods/a.log', pieces('one\n', 'two\n')),
    archive.add('facts.json', Buffer.from('{}')),
    archive.add('empty.log', pieces()),
  ]);
  expect(added[1]).toEqual({
    name: 'pods/a.log',
    bytes: 8,
    sha256: createHash('sha256').update('one\ntwo\n').digest('hex'),
  });
  const closed = await archive.close({manifest});
  expect(closed.entries.map(({name}) => name)).toEqual([
    'empty.log',
    'facts.json',
    'pods/a.log',
    'pods/b.log',
  ]);
  expect(closed.bytes).toBe(statSync(path).size);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(directory)).toEqual(['bundle.zip']);
  const content = await contentOf(path);
  expect(Object.keys(content).toSorted()).toEqual([
    'empty.log',
    'facts.json',
    'manifest.json',
    'pods/a.log',
    'pods/b.log',
  ]);
  expect(content['pods/a.log']).toBe('one\ntwo\n');
  expect(content['pods/b.log']).toBe(large.toString());
  expect(JSON.parse(content['manifest.json'] ?? '')).toEqual(closed.entries);
  await expectOthersRead(path);
});

test('writes a large entry for every chunk size', async () => {
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

test('writes equal bytes for equal data', async () => {
  const program = resolve(import.meta.dirname, 'makes-archive.cli.ts');
  const make = async (TZ: string): Promise<Buffer> => {
    const {path} = fresh();
    await execa(process.execPath, ['--import', 'tsx', program, path], {env: {TZ}});
    return readFileSync(path);
  };
  expect((await make('Asia/Tokyo')).equals(await make('America/Los_Angeles'))).toBe(true);
});

test('creates the file only when the archive is closed, and keeps an old one until then', async () => {
  const {directory, path} = fresh();
  writeFileSync(path, 'old');
  const archive = await zipArchives.create(path);
  await archive.add('a', Buffer.from('a'));
  expect(readFileSync(path, 'utf8')).toBe('old');
  await archive.abort();
  await archive.abort();
  expect(readdirSync(directory)).toEqual(['bundle.zip']);
  expect(readFileSync(path, 'utf8')).toBe('old');
  await expect(archive.add('b', Buffer.from('b'))).rejects.toThrow('discarded');
});

test('is not blocked by a source without data', async () => {
  const {path} = fresh();
  const archive = await zipArchives.create(path);
  const stalled = expect(archive.add('stalled.log', stalls('begun'))).rejects.toThrow('discarded');
  await archive.add('quick.log', pieces(Buffer.alloc(3 * MIB)));
  await archive.add('other.log', pieces('x'));
  await archive.abort();
  await stalled;
});

test.each([
  ['before its turn', 1],
  ['in the middle', 3 * MIB],
])('throws the error of a source that fails %s', async (_, size) => {
  const {directory, path} = fresh();
  const archive = await zipArchives.create(path);
  async function* fails(): AsyncGenerator<Buffer> {
    yield Buffer.alloc(size);
    throw new Error('the redaction failed');
  }
  await expect(archive.add('a.log', fails())).rejects.toThrow('the redaction failed');
  await archive.abort();
  expect(readdirSync(directory)).toEqual([]);
});

test('reads a source only as fast as it is written, apart from the read-ahead', async () => {
  const archive = await zipArchives.create(fresh().path);
  let given = 0;
  async function* counts(): AsyncGenerator<Buffer> {
    for (; given < 100; given += 1) yield noise(MIB / 8);
  }
  const first = expect(archive.add('first.log', stalls(noise(MIB)))).rejects.toThrow('discarded');
  await new Promise((resolve) => setTimeout(resolve, 100));
  const second = expect(archive.add('second.log', counts())).rejects.toThrow('discarded');
  await expect.poll(() => given).toBeGreaterThan(0);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(given).toBeLessThan(8);
  await archive.abort();
  await Promise.all([first, second]);
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
])('rejects the entry name %j', async (name) => {
  const archive = await zipArchives.create(fresh().path);
  await archive.add('twice', Buffer.from(''));
  await expect(archive.add(name, Buffer.from(''))).rejects.toThrow(
    'Invalid or duplicate entry name',
  );
  await archive.abort();
});

test('leaves nothing behind when the check rejects the archive', async () => {
  const {directory, path} = fresh();
  const archive = await zipArchives.create(path);
  await archive.add('a.log', Buffer.from('hidden'));
  const refused = archive.close({
    manifest,
    check: async (opened) => {
      for await (const chunk of opened.read('a.log'))
        if (chunk.includes('hidden')) throw new Error('there is a secret in it');
      return undefined;
    },
  });
  await expect(refused).rejects.toThrow('there is a secret in it');
  expect(readdirSync(directory)).toEqual([]);
});

test('suggests a next step when the path is not writable', async () => {
  const inFile = fresh().path;
  writeFileSync(inFile, '');
  for (const path of [
    join(fresh().directory, 'missing', 'bundle.zip'),
    join(inFile, 'bundle.zip'),
  ]) {
    await expect(zipArchives.create(path)).rejects.toMatchObject({
      code: 'UNWRITABLE_FILE',
      suggestions: [expect.stringMatching(/(^Use|or use) another path with --out$/)],
    });
  }
  const {directory, path} = fresh();
  const archive = await zipArchives.create(path);
  rmSync(directory, {recursive: true});
  await expect(archive.close({manifest})).rejects.toMatchObject({code: 'UNWRITABLE_FILE'});
});

test('stops pending entries when it is aborted', async () => {
  const {directory, path} = fresh();
  const archive = await zipArchives.create(path);
  const adding = archive.add('a.log', stalls(Buffer.alloc(MIB, 'x')));
  const refused = expect(adding).rejects.toThrow('discarded');
  await archive.abort();
  await refused;
  await expect(archive.close({manifest})).rejects.toThrow('discarded');
  expect(readdirSync(directory)).toEqual([]);
});

test('reports missing read permission', async () => {
  const {path} = fresh();
  await expect(zipArchives.open(path)).rejects.toMatchObject({code: 'UNREADABLE_FILE'});
  writeFileSync(path, 'PK but no archive');
  chmodSync(path, 0o644);
  await expect(zipArchives.open(path)).rejects.toMatchObject({
    code: 'UNREADABLE_FILE',
    suggestions: ['Use a bundle written by collect-logs, and check that the copy is complete'],
  });
});
