import {readdirSync, readFileSync} from 'node:fs';
import {dirname, join, relative, resolve} from 'node:path';
import ts from 'typescript';
import {expect, test} from 'vitest';

const src = resolve(import.meta.dirname, '../src');

/** Room -> rooms it may import from, besides `ground` and `findings`, from the ground up. Reading this table is reading the architecture. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  ground: [],
  findings: [],
  settings: [],
  charts: ['settings'],
  values: ['charts', 'settings'],
  cluster: ['values', 'charts', 'settings'],
  answers: ['cluster', 'values', 'charts', 'settings'],
  checks: ['cluster', 'values', 'charts', 'settings'],
  operations: ['checks', 'cluster', 'values', 'charts', 'settings'],
  ui: ['operations', 'checks', 'cluster', 'values', 'charts', 'settings'],
  extensions: ['ui', 'operations', 'checks', 'cluster', 'values', 'charts', 'settings'],
  wizard: [
    'extensions',
    'ui',
    'operations',
    'checks',
    'answers',
    'cluster',
    'values',
    'charts',
    'settings',
  ],
  cli: [
    'wizard',
    'extensions',
    'ui',
    'operations',
    'checks',
    'answers',
    'cluster',
    'values',
    'charts',
    'settings',
  ],
  commands: [
    'cli',
    'extensions',
    'ui',
    'operations',
    'checks',
    'cluster',
    'values',
    'charts',
    'settings',
  ],
  bin: ['cli'],
};

/** The same for the rooms inside of a room. */
const INSIDE: Readonly<Record<string, readonly string[]>> = {
  'cluster/kubernetes': [],
  'cluster/helm': ['cluster/kubernetes'],
  'cluster/platform': ['cluster/helm', 'cluster/kubernetes'],
  'cluster/diff': ['cluster/kubernetes'],
  'cluster/release': ['cluster/platform', 'cluster/diff', 'cluster/helm', 'cluster/kubernetes'],
  'checks/diagnose': [],
  'checks/preflight': ['checks/diagnose'],
  'checks/status': ['checks/diagnose'],
  'extensions/account': [],
  'extensions/machine': [],
  'extensions/fleet': ['extensions/machine'],
  'extensions/bundle': [],
};

/** Packages and Node.js modules that only one kind of room may know. */
const ONLY_IN: Readonly<Record<string, readonly string[]>> = {
  '@oclif/core': ['cli', 'commands'],
  '@inquirer': ['ui'],
  chalk: ['ui'],
  'fast-string-width': ['ui'],
  'fast-wrap-ansi': ['ui'],
  'is-unicode-supported': ['ui'],
  yaml: ['answers', 'findings', 'values', 'cluster/helm', 'cluster/platform'],
  execa: ['ground/system'],
  'write-file-atomic': ['ground/system'],
  diff: ['ui'],
  nanotar: ['ground/system', 'extensions/machine'],
  yazl: ['ground/system'],
  yauzl: ['ground/system'],
  'node:fs': ['ground/system', 'cluster/kubernetes'],
  'node:child_process': ['ground/system', 'cluster/kubernetes'],
  'node:http': ['cluster/kubernetes', 'extensions/account'],
  'node:https': ['extensions/account'],
};

/** Files of the repository that only one room may import. */
const OUTSIDE: Readonly<Record<string, readonly string[]>> = {
  '../schemas': ['charts'],
  '../report': ['extensions'],
  '../templates': ['findings', 'values', 'extensions'],
};

const files = readdirSync(src, {recursive: true, encoding: 'utf8'}).filter((file) =>
  file.endsWith('.ts'),
);
const isBelow = (path: string, folder: string): boolean => path.startsWith(`${folder}/`);
const roomOf = (file: string): string => file.split('/')[0] as string;
/** The room inside of a room, if the file is in one. */
const innerRoomOf = (file: string): string | undefined =>
  Object.keys(INSIDE).find((room) => isBelow(file, room));

const importsOf = (file: string): string[] =>
  [...readFileSync(join(src, file), 'utf8').matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(
    ([, name]) => name as string,
  );
const targetOf = (file: string, name: string): string =>
  relative(src, resolve(dirname(join(src, file)), name));
/** The files of `src` that a file imports. */
const importedFiles = (file: string): string[] =>
  importsOf(file)
    .filter((name) => name.startsWith('.'))
    .map((name) => targetOf(file, name))
    .filter((target) => !target.startsWith('..'));

function mayImportPackage(file: string, name: string): boolean {
  const known = Object.keys(ONLY_IN).find((each) => name === each || isBelow(name, each));
  return known === undefined || ONLY_IN[known]?.some((room) => isBelow(file, room)) === true;
}

/** Every room stands on `ground`, and all but `ground` on `findings`. */
const isFoundation = (room: string, other: string): boolean =>
  other === 'ground' || (other === 'findings' && room !== 'ground');

function mayImportFile(file: string, target: string): boolean {
  const outside = Object.keys(OUTSIDE).find((folder) => isBelow(target, folder));
  if (outside !== undefined) return OUTSIDE[outside]?.includes(roomOf(file)) === true;
  const room = roomOf(file);
  const other = roomOf(target);
  if (room !== other)
    return isFoundation(room, other) || MAY_IMPORT[room]?.includes(other) === true;
  const inner = innerRoomOf(file);
  const otherInner = innerRoomOf(target);
  if (inner === undefined || otherInner === undefined) return inner === otherInner;
  return inner === otherInner || INSIDE[inner]?.includes(otherInner) === true;
}

test.each(files)('%s imports only what its room may', (file) => {
  expect(
    importsOf(file).filter((name) =>
      name.startsWith('.')
        ? !mayImportFile(file, targetOf(file, name))
        : !mayImportPackage(file, name),
    ),
  ).toEqual([]);
});

test('every room is in the table', () => {
  expect([...new Set(files.map(roomOf))].toSorted()).toEqual(Object.keys(MAY_IMPORT).toSorted());
});

test('the core imports no extension', () => {
  const users = Object.keys(MAY_IMPORT).filter((room) => MAY_IMPORT[room]?.includes('extensions'));
  expect(users.toSorted()).toEqual(['cli', 'commands', 'wizard']);
});

/** The name of the folder in `parent` that a file is in or below; '.' for files of the parent itself. */
function folderIn(parent: string, file: string): string {
  const rest = parent === '' ? file : file.slice(parent.length + 1);
  return rest.includes('/') ? (rest.split('/')[0] as string) : '.';
}

/** Folder of a parent -> folders of the parent that its files import. */
function arrowsIn(parent: string): Map<string, Set<string>> {
  const arrows = new Map<string, Set<string>>();
  const isInside = (file: string): boolean => parent === '' || isBelow(file, parent);
  for (const file of files.filter(isInside)) {
    const from = folderIn(parent, file);
    for (const target of importedFiles(file).filter(isInside)) {
      const to = folderIn(parent, target);
      if (from !== to) arrows.set(from, (arrows.get(from) ?? new Set()).add(to));
    }
  }
  return arrows;
}

/** Folders that lead back to themselves. */
function circlesOf(arrows: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const reachable = (from: string, seen = new Set<string>()): Set<string> => {
    for (const to of arrows.get(from) ?? []) if (!seen.has(to)) reachable(to, seen.add(to));
    return seen;
  };
  return [...arrows.keys()].filter((folder) => reachable(folder).has(folder));
}

const folders = [
  ...new Set(
    files.flatMap((file) =>
      file
        .split('/')
        .slice(0, -1)
        .map((_, index, names) => names.slice(0, index + 1).join('/')),
    ),
  ),
];

test.each(['', ...folders])('no folders of src/%s import in a circle', (parent) => {
  expect(circlesOf(arrowsIn(parent))).toEqual([]);
});

/** Imports that lead from a file back to it, type-only ones included. */
function cycles(): string[] {
  const targets = new Map(files.map((file) => [file, importedFiles(file)]));
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

test('the final check of a bundle shares only the search for patterns with the redactor', () => {
  expect(importsOf('extensions/bundle/redact/leak-check.ts')).toEqual(['./pattern-search.ts']);
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

/**
 * The signals of the process belong to one handler at a time, and oclif creates the command between the first and the second. What a pure
 * function has answered changes no later answer.
 */
const MAY_HAVE_STATE: readonly string[] = [
  'charts/chart-version.ts: RELEASED',
  'charts/releases/versions.ts: ANSWERS',
  'ground/system/this-process.ts: taken',
];

/** Methods that change a list, a map or a set. */
const CHANGES = /^(?:set|add|delete|clear|push|unshift|pop|shift|splice|sort|reverse|fill)$/;

/** The name of a variable of the module that a node of the syntax tree changes. */
function changedBy(node: ts.Node): string | undefined {
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression))
    return CHANGES.test(node.expression.name.text)
      ? ownerOf(node.expression.expression)
      : undefined;
  const isAssignment =
    ts.isBinaryExpression(node) &&
    node.operatorToken.kind >= ts.SyntaxKind.FirstAssignment &&
    node.operatorToken.kind <= ts.SyntaxKind.LastAssignment;
  // A search begins where it is told to, each time.
  if (
    isAssignment &&
    ts.isPropertyAccessExpression(node.left) &&
    node.left.name.text === 'lastIndex'
  )
    return undefined;
  if (isAssignment && !ts.isIdentifier(node.left)) return ownerOf(node.left);
  return ts.isDeleteExpression(node) ? ownerOf(node.expression) : undefined;
}

/** `a` of `a.b[c]`. */
function ownerOf(node: ts.Expression): string | undefined {
  if (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node))
    return ownerOf(node.expression);
  return ts.isIdentifier(node) ? node.text : undefined;
}

/** Variables of a module that change after it was loaded: each `let`, and each constant whose content functions of the module change. */
function stateIn(file: string, text: string): string[] {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const lists = tree.statements.filter(ts.isVariableStatement).map((each) => each.declarationList);
  const names = (of: (flags: ts.NodeFlags) => boolean): string[] =>
    lists.flatMap(({flags, declarations}) =>
      of(flags) ? declarations.map(({name}) => name.getText()) : [],
    );
  const changed = new Set<string | undefined>();
  const visit = (node: ts.Node, isInFunction = false): void => {
    if (isInFunction) changed.add(changedBy(node));
    ts.forEachChild(node, (child) => visit(child, isInFunction || ts.isFunctionLike(node)));
  };
  visit(tree);
  const constants = names((flags) => (flags & ts.NodeFlags.Const) !== 0);
  const variables = names((flags) => (flags & ts.NodeFlags.Const) === 0);
  return [...variables, ...constants.filter((name) => changed.has(name))].map(
    (name) => `${file}: ${name}`,
  );
}

test('finds the state of a module', () => {
  const text = `let count = 0;
    const known = new Map(); const read = new Set([1]); const list = {all: []};
    export const add = (each) => { known.set(each, 1); list.all.push(each); return read.has(each); };`;
  expect(stateIn('a.ts', text)).toEqual(['a.ts: count', 'a.ts: known', 'a.ts: list']);
});

test('no module has state of its own', () => {
  const found = files.flatMap((file) => stateIn(file, readFileSync(join(src, file), 'utf8')));
  expect(found).toEqual(MAY_HAVE_STATE);
});

test('the interfaces of the system hold no code', () => {
  const code = /^(export )?(default |async )*(function|const|let|class|enum) /m;
  expect(readFileSync(join(src, 'ground/system/system.ts'), 'utf8')).not.toMatch(code);
});

test('the diagram of the tour shows every room and only allowed imports', () => {
  const [, diagram = ''] =
    /^```mermaid\n([\s\S]*?)^```$/m.exec(
      readFileSync(resolve(src, '../docs/dev/tour.md'), 'utf8'),
    ) ?? [];
  const arrows = [...diagram.matchAll(/^ *([\w-]+) --> ([\w-]+)$/gm)].map(
    ([, from = '', to = '']) => ({from, to}),
  );
  expect([...new Set(arrows.flatMap(({from, to}) => [from, to]))].toSorted()).toEqual(
    Object.keys(MAY_IMPORT).toSorted(),
  );
  expect(
    arrows.filter(
      ({from, to}) => !isFoundation(from, to) && MAY_IMPORT[from]?.includes(to) !== true,
    ),
  ).toEqual([]);
});
