import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import ts from 'typescript';
import {parse} from 'yaml';

/** `npm run texts [TEXT]`: prints every sentence of the source, the templates and the hand-written pages with its place, to be read from top to bottom; with TEXT only those that contain it. */
const only = process.argv[2]?.toLowerCase() ?? '';

// The reader of the pipe wants no more, as `head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

let count = 0;
const files = ['src', 'templates', 'docs/guide', 'docs/charts'].flatMap((folder) =>
  readdirSync(folder, {recursive: true, encoding: 'utf8'}).map((file) => join(folder, file)),
);
for (const file of files.filter((each) => /\.(ts|yaml|md)$/.test(each)).sort()) {
  const source = readFileSync(file, 'utf8');
  const texts = textsIn(file, source);
  for (const [place, text] of texts) {
    if (/[a-z] [a-z`$<{-]/iu.test(text) && text.toLowerCase().includes(only)) {
      count += 1;
      process.stdout.write(`${file}:${place} ${text.replaceAll('\n', '⏎')}\n`);
    }
  }
}
if (count === 0) {
  process.stderr.write(
    'No text contains it. Inserted values split a text: search for fewer words.\n',
  );
  process.exitCode = 1;
}

function textsIn(file: string, source: string): [string | number, string][] {
  if (file.endsWith('.ts'))
    return textsOf(ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true));
  if (file.endsWith('.yaml')) return leaves(parse(source));
  return linesByHand(source);
}

/** The lines of a page, without the tables that are generated between two marks. */
function linesByHand(page: string): [number, string][] {
  const blank = (table: string): string => table.replaceAll(/[^\n]+/g, '');
  return page
    .replaceAll(/^<!-- (\S+) -->$[\s\S]*?^<!-- \1stop -->$/gm, blank)
    .split('\n')
    .map((line, index) => [index + 1, line]);
}

/** String literals and templates, a placeholder written as `${name}`; comments are not read. */
function textsOf(source: ts.SourceFile): [string | number, string][] {
  const found: [number, string][] = [];
  const visit = (node: ts.Node): void => {
    const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    if (ts.isStringLiteralLike(node)) found.push([line, node.text]);
    else if (ts.isTemplateExpression(node)) found.push([line, node.getText().slice(1, -1)]);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Strings of a parsed YAML file, with the path of their keys. */
function leaves(value: unknown, path = ''): [string, string][] {
  if (typeof value === 'string') return [[path, value]];
  return value instanceof Object
    ? Object.entries(value).flatMap(([key, below]) =>
        leaves(below, path === '' ? key : `${path}.${key}`),
      )
    : [];
}
