import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {execa} from 'execa';
import {expect, test} from 'vitest';
import {root} from './commands.ts';

const PAGES = [
  'CONTRIBUTING.md',
  ...readdirSync(join(root, 'docs/dev')).map((name) => `docs/dev/${name}`),
];
const text = PAGES.map((page) => readFileSync(join(root, page), 'utf8')).join('\n');
const spans = [...text.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);
const paths = [
  '',
  '.github',
  'dist',
  'docs',
  'integrations',
  'report',
  'schemas',
  'scripts',
  'src',
  'templates',
  'test',
].flatMap((folder) =>
  readdirSync(join(root, folder), {recursive: folder !== '', encoding: 'utf8'}).map((path) =>
    join(folder, path),
  ),
);

const PATH =
  /^(\.github|dist|docs|integrations|report|schemas|scripts|src|templates|test)\/|^[\w./<>*-]+\.(json|md|txt|ts|ya?ml)$|^messages\/$/;
/** What users have, not this repository. */
const FILES_OF_USERS = ['values.yaml'];

/** `<chart>` and `*` are any name. A name without a folder can be anywhere. */
function filesOf(path: string): string[] {
  const pattern = path
    .replace(/\/$/, '')
    .replaceAll('.', '\\.')
    .replaceAll(/<\w+>|\*/g, '[^/]+');
  return paths.filter((each) => new RegExp(`(^|/)${pattern}$`).test(each));
}

test('every path in the pages for contributors exists', () => {
  const named = spans
    .flatMap((span) => span.split(' '))
    .filter((word) => PATH.test(word) && !FILES_OF_USERS.includes(word));
  expect(named.filter((path) => filesOf(path).length === 0)).toEqual([]);
});

test('every name of code in the pages for contributors exists, in the file beside it', () => {
  const code = paths
    .filter((path) => /^(src|test|scripts)\/.*\.ts$/.test(path))
    .map((path) => readFileSync(join(root, path), 'utf8'));
  const names = spans.filter((span) => /^[A-Z]+(_[A-Z]+)*$|^[a-z]+[A-Z]\w+$/.test(span));
  expect(
    names.filter((name) => !code.some((file) => new RegExp(`\\b${name}\\b`).test(file))),
  ).toEqual([]);
  const placed = [...text.matchAll(/`(\w+)`(?: \(| of | in |, in )`([\w./<>-]+\.ts)`/g)];
  const misplaced = placed.filter(([, name = '', path = '']) =>
    filesOf(path).every(
      (file) => !new RegExp(`\\b${name}\\b`).test(readFileSync(join(root, file), 'utf8')),
    ),
  );
  expect(misplaced.map(([found]) => found)).toEqual([]);
});

test('every script in the pages for contributors is in package.json', () => {
  const {scripts} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const run = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name);
  expect(run.filter((name) => scripts[name] === undefined)).toEqual([]);
});

test('the tour visits every room', () => {
  const tour = readFileSync(join(root, 'docs/dev/tour.md'), 'utf8');
  const rooms = readdirSync(join(root, 'src'));
  expect(rooms.filter((room) => !tour.includes(`\`${room}\``))).toEqual([]);
});

test('CONTRIBUTING.md is short', () => {
  const lines = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').split('\n');
  expect(lines.length).toBeLessThanOrEqual(80);
});

test('every word of the glossary is a name of the code', () => {
  const rows = readFileSync(join(root, 'docs/dev/glossary.md'), 'utf8').matchAll(
    /^\| [a-z, ]+ \|.*\| (`.*`) \|$/gm,
  );
  const names = [...rows].flatMap(([, cell = '']) => cell.match(/\w+/g) ?? []);
  const source = paths
    .filter((path) => path.startsWith('src/') && path.endsWith('.ts'))
    .map((path) => readFileSync(join(root, path), 'utf8'))
    .join('\n');
  const isExported = (name: string): boolean =>
    new RegExp(
      `^export (?:async )?(?:abstract )?(?:function\\*?|const|class|interface|type) ${name}\\b`,
      'm',
    ).test(source);
  expect(names.length).toBeGreaterThanOrEqual(40);
  expect(names.filter((name) => !isExported(name))).toEqual([]);
});

test('a sentence with inserted values is not found, and texts tell why', async () => {
  const {exitCode, stderr} = await execa(
    process.execPath,
    ['--import', 'tsx', 'scripts/texts.ts', 'is ready after 16'],
    {cwd: root, reject: false},
  );
  expect({exitCode, stderr}).toEqual({exitCode: 1, stderr: expect.stringContaining('fewer words')});
});

test.skipIf(process.platform === 'win32')(
  'texts end without an error when the reader has enough',
  async () => {
    const {stdout, stderr} = await execa(
      'sh',
      ['-c', '"$0" --import tsx scripts/texts.ts the | head -1', process.execPath],
      {cwd: root},
    );
    expect({lines: stdout.split('\n').length, stderr}).toEqual({lines: 1, stderr: ''});
  },
);
