import {readdirSync, readFileSync} from 'node:fs';
import {dirname, join, relative, resolve} from 'node:path';
import {expect, test} from 'vitest';

const src = resolve(import.meta.dirname, '../src');

/** Folder -> folders it may import from. Reading this table is reading the architecture. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  settings: [],
  ports: ['settings', 'errors'],
  answers: ['settings', 'ports', 'cluster', 'errors'],
  charts: ['settings', 'errors'],
  values: ['charts', 'settings', 'errors'],
  cluster: ['ports', 'charts', 'errors'],
  plan: ['cluster', 'ports', 'values', 'charts', 'settings', 'errors'],
  preflight: ['apply', 'diagnose', 'plan', 'cluster', 'ports', 'values', 'charts', 'settings', 'errors'],
  diagnose: ['cluster', 'errors'],
  apply: ['diagnose', 'plan', 'cluster', 'ports', 'charts', 'errors'],
  status: ['apply', 'diagnose', 'cluster', 'ports', 'charts', 'errors'],
  'support-bundle': ['diagnose', 'cluster', 'ports', 'values', 'charts', 'settings', 'errors'],
  completion: ['ports', 'charts', 'settings', 'errors'],
  adapters: ['ports', 'errors'],
  ui: ['ports', 'charts', 'values', 'cluster', 'plan', 'preflight', 'diagnose', 'apply', 'status', 'support-bundle', 'settings', 'errors'],
  wizard: ['answers', 'ui', 'ports', 'charts', 'values', 'cluster', 'plan', 'preflight', 'settings', 'errors'],
  cli: [
    'adapters',
    'wizard',
    'ui',
    'ports',
    'answers',
    'completion',
    'cluster',
    'plan',
    'preflight',
    'values',
    'support-bundle',
    'settings',
    'errors',
  ],
  commands: [
    'cli',
    'ui',
    'completion',
    'apply',
    'status',
    'preflight',
    'plan',
    'cluster',
    'values',
    'charts',
    'ports',
    'support-bundle',
    'settings',
    'errors',
  ],
  bin: ['cli'],
  errors: [],
};

/** Packages and Node.js modules that only one kind of folder may know. */
const ONLY_IN: Readonly<Record<string, readonly string[]>> = {
  '@oclif/core': ['cli', 'commands'],
  '@inquirer': ['ui'],
  chalk: ['ui'],
  'fast-string-width': ['ui'],
  'fast-wrap-ansi': ['ui'],
  'is-unicode-supported': ['ui'],
  yaml: ['answers', 'values', 'cluster'],
  execa: ['adapters'],
  'write-file-atomic': ['adapters'],
  diff: ['ui'],
  'fast-xml-builder': ['ui'],
  nanotar: ['adapters'],
  yazl: ['adapters'],
  yauzl: ['adapters'],
  'node:fs': ['adapters'],
  'node:child_process': ['adapters'],
  'node:http': ['adapters'],
};

const files = readdirSync(src, {recursive: true, encoding: 'utf8'}).filter((file) => file.endsWith('.ts'));
const folderOf = (file: string): string => file.split('/')[0]?.replace(/\.ts$/, '') as string;
const importsOf = (file: string): string[] =>
  [...readFileSync(join(src, file), 'utf8').matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(([, name]) => name as string);

test.each(files)('%s imports only what its folder may', (file) => {
  const foreign = importsOf(file).flatMap((name) => {
    if (!name.startsWith('.')) {
      const known = Object.keys(ONLY_IN).find((each) => name === each || name.startsWith(`${each}/`));
      return known && !ONLY_IN[known]?.includes(folderOf(file)) ? [name] : [];
    }
    const target = relative(src, resolve(dirname(join(src, file)), name));
    if (target.startsWith('../schemas/')) return folderOf(file) === 'charts' ? [] : [name];
    if (target.startsWith('../templates/')) return folderOf(file) === 'values' ? [] : [name];
    const folder = folderOf(target);
    return folder === folderOf(file) || MAY_IMPORT[folderOf(file)]?.includes(folder) ? [] : [name];
  });
  expect(foreign).toEqual([]);
});

test('every folder is in the table', () => {
  expect([...new Set(files.map(folderOf))].toSorted()).toEqual(Object.keys(MAY_IMPORT).toSorted());
});

test('a file is as long as a reader can hold', () => {
  const long = files.filter((file) => readFileSync(join(src, file), 'utf8').split('\n').length > 300);
  expect(long).toEqual([]);
});
