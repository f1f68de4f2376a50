import {mkdtempSync, readdirSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, expect, test} from 'vitest';
import {closeChecked} from '../../../src/extensions/bundle/checked-archive.ts';
import {type Leak, leakFinder} from '../../../src/extensions/bundle/redact/leak-check.ts';
import {contentOfPage, PagedArchive} from '../../../src/extensions/bundle/report-page.ts';
import {zipArchives} from '../../../src/ground/system/zip-archive.ts';
import {readZip} from '../../support/unzip.ts';

const folders: string[] = [];
afterAll(() => {
  for (const each of folders) rmSync(each, {recursive: true});
});

const SECRET = 'Zr81kQv93LmXw20p';
const FIND = leakFinder([{kind: 'token', whole: SECRET}]);
const TEMPLATE = '<main><!--first--></main><!--data--><script></script>';

async function closed(
  files: Readonly<Record<string, string>>,
  find: typeof FIND = FIND,
  inPage = '',
) {
  const folder = mkdtempSync(join(tmpdir(), 'checked-'));
  folders.push(folder);
  const path = join(folder, 'a.zip');
  const createArchive = async () => new PagedArchive(await zipArchives.create(path), TEMPLATE);
  const archive = await createArchive();
  for (const [name, text] of Object.entries(files)) await archive.add(name, Buffer.from(text));
  const closing = closeChecked(archive, {
    find,
    createArchive,
    manifest: (entries) => JSON.stringify(entries),
    ownFiles: (withheld) => ({'SUMMARY.md': `withheld: ${withheld}`}),
    firstScreen: (ownFiles) => `<h1>${ownFiles['SUMMARY.md']} ${inPage}</h1>`,
  });
  const result = await closing.catch((error: unknown) => ({error}));
  const isWritten = readdirSync(folder).includes('a.zip');
  const content = isWritten
    ? [...(await readZip(path))].map(([name, bytes]): [string, string] => [name, bytes.toString()])
    : [];
  return {result, files: Object.fromEntries(content), left: readdirSync(folder)};
}

test('a secret that the redaction missed is masked, and its file is listed', async () => {
  const {result, files, left} = await closed({'a.log': `one ${SECRET} two\n`, 'b.log': 'three\n'});
  expect(result).toMatchObject({withheld: ['a.log']});
  expect(files).toMatchObject({
    'a.log': 'one **************** two\n',
    'b.log': 'three\n',
    'SUMMARY.md': 'withheld: a.log',
  });
  expect(JSON.parse(files['manifest.json'] as string)).toHaveLength(4);
  expect(left).toEqual(['a.zip']);
});

test('a file with a secret in its name is left out, and its name is not listed', async () => {
  const {result, files} = await closed({[`logs/${SECRET}.log`]: 'one\n', 'b.log': 'two\n'});
  expect(result).toMatchObject({withheld: ['(name withheld)']});
  expect(Object.keys(files).toSorted()).toEqual([
    'SUMMARY.md',
    'b.log',
    'manifest.json',
    'report.html',
  ]);
});

test('a file with too many secrets is left out', async () => {
  const {result, files} = await closed({'a.log': `${SECRET}\n`.repeat(10_001), 'b.log': 'two\n'});
  expect(result).toMatchObject({withheld: ['a.log']});
  expect(Object.keys(files).toSorted()).toEqual([
    'SUMMARY.md',
    'b.log',
    'manifest.json',
    'report.html',
  ]);
});

test('nothing is written if a secret remains', async () => {
  const always = async (): Promise<Leak[]> => [{kind: 'token', form: 'raw', at: 0, length: 4}];
  const {result, left} = await closed({'a.log': 'one\n'}, always);
  expect(result).toMatchObject({error: {exit: 8, code: 'SECRET_IN_BUNDLE'}});
  expect(left).toEqual([]);
});

/** Everything that a page says. */
async function contentOf(page: string): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of contentOfPage(
    (async function* () {
      yield Buffer.from(page);
    })(),
  ))
    parts.push(part);
  return Buffer.concat(parts).toString();
}

test('what is masked or left out in a file is masked or left out in the page', async () => {
  const long = Array.from(
    {length: 9000},
    (_, index) => `${index} an ordinary line of a log\n`,
  ).join('');
  const {result, files, left} = await closed(
    {'a.log': `${long}one ${SECRET} two\n${long}`, [`${SECRET}.log`]: 'left out\n'},
    FIND,
    SECRET,
  );
  expect(result).toMatchObject({withheld: ['(name withheld)', 'a.log']});
  const page = files['report.html'] as string;
  expect(page).toMatch(
    /^<main><!--first--><h1>withheld: \(name withheld\),a\.log \*{16}<\/h1><!--\/first--><\/main>/,
  );
  const content = await contentOf(page);
  expect(content).toContain(`${long}one **************** two\n${long}`);
  expect(content).not.toContain(SECRET);
  expect(content).not.toContain('left out');
  expect(left).toEqual(['a.zip']);
});

test('a secret in a block of the page is found', async () => {
  // Finds nothing in files, so that only the page can give it away.
  const find: typeof FIND = async (chunks) => {
    const all: Buffer[] = [];
    for await (const chunk of chunks) all.push(chunk);
    const text = Buffer.concat(all).toString();
    return text.includes('<h1>') ? FIND([Buffer.from(text)]) : [];
  };
  const {result} = await closed({'a.log': `one ${SECRET} two\n`}, find, SECRET);
  expect(result).toMatchObject({
    error: {exit: 8, code: 'SECRET_IN_BUNDLE', message: expect.stringContaining('report.html')},
  });
});
