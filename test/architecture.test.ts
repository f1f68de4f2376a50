import {readdirSync, readFileSync} from 'node:fs';
import {dirname, join, relative, resolve} from 'node:path';
import {expect, test} from 'vitest';

const src = resolve(import.meta.dirname, '../src');

/** Folder -> folders it may import from, besides `ground`, from the ground up. Reading this table is reading the architecture. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  ground: [],
  ports: [],
  settings: [],
  adapters: ['ports'],
  charts: ['settings'],
  kubernetes: ['adapters', 'ports'],
  scalr: ['ports'],
  values: ['charts', 'settings'],
  helm: ['charts', 'kubernetes', 'ports'],
  diff: ['charts', 'kubernetes', 'ports', 'settings'],
  redact: ['kubernetes'],
  completion: ['helm', 'kubernetes', 'charts', 'settings'],
  diagnose: ['diff', 'charts', 'kubernetes'],
  platform: ['helm', 'kubernetes', 'charts'],

  release: ['diagnose', 'platform', 'diff', 'helm', 'values', 'charts', 'kubernetes', 'ports'],
  answers: ['release', 'platform', 'helm', 'values', 'charts', 'kubernetes', 'ports', 'settings'],
  bundle: [
    'release',
    'diagnose',
    'platform',
    'redact',
    'diff',
    'helm',
    'values',
    'charts',
    'kubernetes',
    'ports',
  ],
  operations: [
    'release',
    'diagnose',
    'diff',
    'helm',
    'values',
    'charts',
    'kubernetes',
    'scalr',
    'ports',
    'settings',
  ],
  host: ['operations', 'diagnose', 'values', 'charts', 'ports', 'settings'],
  preflight: [
    'host',
    'operations',
    'release',
    'diagnose',
    'platform',
    'helm',
    'values',
    'charts',
    'kubernetes',
    'ports',
    'settings',
  ],
  status: ['operations', 'release', 'diagnose', 'diff', 'helm', 'charts', 'kubernetes', 'scalr'],
  export: ['host', 'values', 'charts', 'settings'],
  ui: [
    'host',
    'export',
    'preflight',
    'status',
    'operations',
    'bundle',
    'release',
    'diagnose',
    'diff',
    'helm',
    'values',
    'charts',
    'kubernetes',
    'scalr',
    'ports',
    'settings',
  ],
  wizard: [
    'ui',
    'answers',
    'host',
    'export',
    'preflight',
    'operations',
    'release',
    'platform',
    'values',
    'charts',
    'kubernetes',
    'ports',
    'settings',
  ],
  cli: [
    'wizard',
    'ui',
    'completion',
    'answers',
    'host',
    'export',
    'preflight',
    'operations',
    'bundle',
    'release',
    'platform',
    'redact',

    'status',
    'helm',
    'values',
    'charts',
    'kubernetes',
    'scalr',
    'adapters',
    'ports',
    'settings',
  ],
  commands: [
    'cli',
    'ui',
    'completion',
    'host',
    'export',
    'preflight',
    'status',
    'operations',
    'bundle',
    'release',
    'platform',
    'helm',
    'values',
    'charts',
    'kubernetes',
    'scalr',
    'ports',
    'settings',
  ],
  bin: ['cli'],
};

/** The same for the folders inside of a folder. */
const INSIDE: Readonly<Record<string, readonly string[]>> = {
  'bundle/findings': ['bundle/collect'],
  'preflight/probe': ['preflight/checks'],
  'values/embedded': ['values/validate'],
  'values/migrate': ['values/embedded', 'values/validate'],
};

/** Packages and Node.js modules that only one kind of folder may know. */
const ONLY_IN: Readonly<Record<string, readonly string[]>> = {
  '@oclif/core': ['cli', 'commands'],
  '@inquirer': ['ui'],
  chalk: ['ui'],
  'fast-string-width': ['ui'],
  'fast-wrap-ansi': ['ui'],
  'is-unicode-supported': ['ui'],
  yaml: ['answers', 'values', 'helm', 'platform'],
  execa: ['adapters'],
  'write-file-atomic': ['adapters'],
  diff: ['ui'],
  nanotar: ['adapters', 'host'],
  yazl: ['adapters'],
  yauzl: ['adapters'],
  'node:fs': ['adapters', 'kubernetes'],
  'node:child_process': ['adapters', 'kubernetes'],
  'node:http': ['kubernetes', 'scalr'],
  'node:https': ['scalr'],
};

const files = readdirSync(src, {recursive: true, encoding: 'utf8'}).filter((file) =>
  file.endsWith('.ts'),
);
const folderOf = (file: string): string => file.split('/')[0] as string;
const importsOf = (file: string): string[] =>
  [...readFileSync(join(src, file), 'utf8').matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(
    ([, name]) => name as string,
  );

function mayImport(file: string, target: string): boolean {
  const folder = folderOf(file);
  const other = folderOf(target);
  if (folder !== other) return other === 'ground' || MAY_IMPORT[folder]?.includes(other) === true;
  const inner = dirname(file);
  const otherInner = dirname(target);
  return (
    inner === otherInner ||
    inner === folder ||
    otherInner === folder ||
    INSIDE[inner]?.includes(otherInner) === true
  );
}

test.each(files)('%s imports only what its folder may', (file) => {
  const foreign = importsOf(file).flatMap((name) => {
    if (!name.startsWith('.')) {
      const known = Object.keys(ONLY_IN).find(
        (each) => name === each || name.startsWith(`${each}/`),
      );
      return known && !ONLY_IN[known]?.includes(folderOf(file)) ? [name] : [];
    }
    const target = relative(src, resolve(dirname(join(src, file)), name));
    if (target.startsWith('../schemas/')) return folderOf(file) === 'charts' ? [] : [name];
    if (target.startsWith('../report/')) return folderOf(file) === 'bundle' ? [] : [name];
    if (target.startsWith('../templates/'))
      return ['values', 'export'].includes(folderOf(file)) ? [] : [name];
    return mayImport(file, target) ? [] : [name];
  });
  expect(foreign).toEqual([]);
});

test('every folder is in the table', () => {
  expect([...new Set(files.map(folderOf))].toSorted()).toEqual(Object.keys(MAY_IMPORT).toSorted());
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
  const done = new Set<string>();
  const found = new Set<string>();
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

test('the final check of a bundle shares no code with the redactor', () => {
  expect(importsOf('redact/leak-check.ts')).toEqual([]);
});

/** The three charts implement one interface, each in a folder of its own. */
const isOfOneChart = (file: string): boolean => /^charts\/agent-\w+\//.test(file);

test('an exported name has one meaning', () => {
  const declaration = /^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm;
  const owners = new Map<string, Set<string>>();
  for (const file of files.filter((each) => !isOfOneChart(each)))
    for (const [, name = ''] of readFileSync(join(src, file), 'utf8').matchAll(declaration))
      owners.set(name, (owners.get(name) ?? new Set()).add(file));
  expect(
    [...owners]
      .filter(([, each]) => each.size > 1)
      .map(([name, each]) => `${name}: ${[...each].join(', ')}`),
  ).toEqual([]);
});

test('ports hold interfaces only', () => {
  const code = /^(export )?(default |async )*(function|const|let|class|enum) /m;
  expect(
    files.filter(
      (file) => folderOf(file) === 'ports' && code.test(readFileSync(join(src, file), 'utf8')),
    ),
  ).toEqual([]);
});

test('the diagram of CONTRIBUTING.md shows every folder and only allowed imports', () => {
  const [, diagram = ''] =
    /^```mermaid\n([\s\S]*?)^```$/m.exec(
      readFileSync(resolve(src, '../CONTRIBUTING.md'), 'utf8'),
    ) ?? [];
  const arrows = [...diagram.matchAll(/^ *([\w-]+) --> ([\w-]+)$/gm)].map(
    ([, from = '', to = '']) => ({from, to}),
  );
  expect([...new Set(arrows.flatMap(({from, to}) => [from, to]))].toSorted()).toEqual(
    Object.keys(MAY_IMPORT).toSorted(),
  );
  expect(
    arrows.filter(({from, to}) => to !== 'ground' && MAY_IMPORT[from]?.includes(to) !== true),
  ).toEqual([]);
});
