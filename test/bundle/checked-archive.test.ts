import {mkdtempSync, readdirSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, expect, test} from 'vitest';
import {zipArchives} from '../../src/adapters/zip-archive.ts';
import {closeChecked} from '../../src/bundle/checked-archive.ts';
import {type Leak, leakFinder} from '../../src/redact/leak-check.ts';
import {readZip} from '../support/unzip.ts';

const folders: string[] = [];
afterAll(() => {
  for (const each of folders) rmSync(each, {recursive: true});
});

const SECRET = 'Zr81kQv93LmXw20p';
const FIND = leakFinder([{kind: 'token', whole: SECRET}]);

async function closed(files: Readonly<Record<string, string>>, find: typeof FIND = FIND) {
  const folder = mkdtempSync(join(tmpdir(), 'checked-'));
  folders.push(folder);
  const path = join(folder, 'a.zip');
  const createArchive = () => zipArchives.create(path);
  const archive = await createArchive();
  for (const [name, text] of Object.entries(files)) await archive.add(name, Buffer.from(text));
  const closing = closeChecked(archive, {
    find,
    createArchive,
    manifest: (entries) => JSON.stringify(entries),
    ownFiles: (withheld) => ({'SUMMARY.md': `withheld: ${withheld}`}),
  });
  const result = await closing.catch((error: unknown) => ({error}));
  const isWritten = readdirSync(folder).includes('a.zip');
  const content = isWritten ? [...(await readZip(path))].map(([name, bytes]): [string, string] => [name, bytes.toString()]) : [];
  return {result, files: Object.fromEntries(content), left: readdirSync(folder)};
}

test('a secret that the redaction missed is masked, and its file is listed', async () => {
  const {result, files, left} = await closed({'a.log': `one ${SECRET} two\n`, 'b.log': 'three\n'});
  expect(result).toMatchObject({withheld: ['a.log']});
  expect(files).toMatchObject({'a.log': 'one **************** two\n', 'b.log': 'three\n', 'SUMMARY.md': 'withheld: a.log'});
  expect(JSON.parse(files['manifest.json'] as string)).toHaveLength(3);
  expect(left).toEqual(['a.zip']);
});

test('a file with a secret in its name is left out, and its name is not listed', async () => {
  const {result, files} = await closed({[`logs/${SECRET}.log`]: 'one\n', 'b.log': 'two\n'});
  expect(result).toMatchObject({withheld: ['(name withheld)']});
  expect(Object.keys(files).toSorted()).toEqual(['SUMMARY.md', 'b.log', 'manifest.json']);
});

test('a file with too many secrets is left out', async () => {
  const {result, files} = await closed({'a.log': `${SECRET}\n`.repeat(10_001), 'b.log': 'two\n'});
  expect(result).toMatchObject({withheld: ['a.log']});
  expect(Object.keys(files).toSorted()).toEqual(['SUMMARY.md', 'b.log', 'manifest.json']);
});

test('nothing is written if a secret remains', async () => {
  const always = async (): Promise<Leak[]> => [{kind: 'token', form: 'raw', at: 0, length: 4}];
  const {result, left} = await closed({'a.log': 'one\n'}, always);
  expect(result).toMatchObject({error: {exit: 8, code: 'SECRET_IN_BUNDLE'}});
  expect(left).toEqual([]);
});
