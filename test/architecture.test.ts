import {readdirSync, readFileSync} from 'node:fs';
import {dirname, join, relative, resolve} from 'node:path';
import {expect, test} from 'vitest';

const src = resolve(import.meta.dirname, '../src');

/** Folder -> folders it may import from, besides the files of src itself. Reading this table is reading the architecture. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  settings: [],
  ports: ['settings'],
  kubernetes: ['ports', 'settings'],
  helm: ['ports'],
  answers: ['settings', 'ports', 'cluster'],
  charts: ['settings'],
  values: ['charts', 'settings'],
  targets: ['values', 'charts', 'settings'],
  cluster: ['kubernetes', 'helm', 'ports', 'charts', 'settings'],
  plan: ['cluster', 'kubernetes', 'helm', 'ports', 'values', 'charts', 'settings'],
  preflight: ['diagnose', 'plan', 'cluster', 'kubernetes', 'helm', 'ports', 'values', 'charts', 'settings'],
  diagnose: ['cluster', 'kubernetes'],
  apply: ['diagnose', 'plan', 'cluster', 'kubernetes', 'helm', 'ports', 'charts'],
  status: ['apply', 'diagnose', 'cluster', 'kubernetes', 'helm', 'ports', 'charts'],
  'support-bundle': ['diagnose', 'cluster', 'kubernetes', 'helm', 'ports', 'values', 'charts', 'settings'],
  host: ['support-bundle', 'targets', 'apply', 'plan', 'diagnose', 'ports'],
  completion: ['kubernetes', 'helm', 'ports', 'charts', 'settings'],
  adapters: ['kubernetes', 'ports'],
  ui: [
    'kubernetes',
    'helm',
    'ports',
    'charts',
    'values',
    'cluster',
    'plan',
    'preflight',
    'diagnose',
    'apply',
    'status',
    'support-bundle',
    'targets',
    'host',
    'settings',
  ],
  wizard: ['answers', 'ui', 'kubernetes', 'ports', 'charts', 'values', 'cluster', 'plan', 'preflight', 'targets', 'host', 'settings'],
  cli: [
    'adapters',
    'wizard',
    'ui',
    'kubernetes',
    'ports',
    'answers',
    'completion',
    'cluster',
    'plan',
    'preflight',
    'values',
    'support-bundle',
    'targets',
    'host',
    'apply',
    'settings',
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
    'targets',
    'host',
    'settings',
  ],
  bin: ['cli'],
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
  nanotar: ['adapters', 'targets'],
  yazl: ['adapters'],
  yauzl: ['adapters'],
  'node:fs': ['adapters'],
  'node:child_process': ['adapters'],
  'node:http': ['kubernetes'],
};

const files = readdirSync(src, {recursive: true, encoding: 'utf8'}).filter((file) => file.endsWith('.ts'));
const folderOf = (file: string): string => file.split('/')[0]?.replace(/\.ts$/, '') as string;
const importsOf = (file: string): string[] =>
  [...readFileSync(join(src, file), 'utf8').matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(([, name]) => name as string);

test.each(files.filter((file) => file.includes('/')))('%s imports only what its folder may', (file) => {
  const foreign = importsOf(file).flatMap((name) => {
    if (!name.startsWith('.')) {
      const known = Object.keys(ONLY_IN).find((each) => name === each || name.startsWith(`${each}/`));
      return known && !ONLY_IN[known]?.includes(folderOf(file)) ? [name] : [];
    }
    const target = relative(src, resolve(dirname(join(src, file)), name));
    if (target.startsWith('../schemas/')) return folderOf(file) === 'charts' ? [] : [name];
    if (target.startsWith('../templates/')) return folderOf(file) === 'values' ? [] : [name];
    const folder = folderOf(target);
    return !target.includes('/') || folder === folderOf(file) || MAY_IMPORT[folderOf(file)]?.includes(folder) ? [] : [name];
  });
  expect(foreign).toEqual([]);
});

test('every folder is in the table', () => {
  expect([...new Set(files.filter((file) => file.includes('/')).map(folderOf))].toSorted()).toEqual(Object.keys(MAY_IMPORT).toSorted());
});

test('a file is as long as a reader can hold', () => {
  const long = files.filter((file) => readFileSync(join(src, file), 'utf8').split('\n').length > 300);
  expect(long).toEqual([]);
});

/** Imports that lead from a file back to it, type-only ones included. */
function cycles(): string[] {
  const targets = new Map(
    files.map((file) => [
      file,
      importsOf(file)
        .filter((name) => name.startsWith('.'))
        .map((name) => relative(src, resolve(dirname(join(src, file)), name))),
    ]),
  );
  const [done, found] = [new Set<string>(), new Set<string>()];
  const visit = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file);
    if (start >= 0) found.add([...path.slice(start), file].join(' -> '));
    if (start >= 0 || done.has(file)) return;
    for (const target of targets.get(file) ?? []) visit(target, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  return [...found];
}

test('no imports go in circles', () => {
  expect(cycles()).toEqual([]);
});

test('ports hold interfaces only', () => {
  const code = /^(export )?(default |async )*(function|const|let|class|enum) /m;
  expect(files.filter((file) => folderOf(file) === 'ports' && code.test(readFileSync(join(src, file), 'utf8')))).toEqual([]);
});

test('the diagram of CONTRIBUTING.md shows every folder and only allowed imports', () => {
  const [, diagram = ''] = /^```mermaid\n([\s\S]*?)^```$/m.exec(readFileSync(resolve(src, '../CONTRIBUTING.md'), 'utf8')) ?? [];
  const arrows = [...diagram.matchAll(/^ *([\w-]+) --> ([\w-]+)$/gm)].map(([, from = '', to = '']) => ({from, to}));
  expect([...new Set(arrows.flatMap(({from, to}) => [from, to]))].toSorted()).toEqual(Object.keys(MAY_IMPORT).toSorted());
  expect(arrows.filter(({from, to}) => MAY_IMPORT[from]?.includes(to) !== true)).toEqual([]);
});
