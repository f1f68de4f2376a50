import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import ts from 'typescript';
import {remedyOf} from '../../src/checks/diagnose/cause.ts';
import {CAUSES} from '../../src/checks/diagnose/explain.ts';
import {DOCUMENTS, goldenCases} from '../golden/cases.ts';
import {commandsIn} from './commands-in.ts';
import {CHART_NAMES} from './versions.ts';

const root = join(import.meta.dirname, '../..');

const EXAMPLE = {
  object: {
    metadata: {name: 'agent-1'},
    spec: {nodeName: 'node-a', volumes: [{persistentVolumeClaim: {claimName: 'cache'}}]},
  },
  container: 'agent',
};

const textsIn = (folder: string, files: RegExp): (readonly [source: string, text: string])[] =>
  readdirSync(join(root, folder), {recursive: true, encoding: 'utf8'})
    .filter((file) => files.test(file))
    .map((file) => [join(folder, file), readFileSync(join(root, folder, file), 'utf8')]);

const fencesIn = (text: string): string =>
  [...text.matchAll(/^```console\n([\s\S]*?)^```/gm)].map(([, block]) => block).join('');

/** The text with each JSON document as its strings, a line each: a quote of JSON is no quote of a shell. */
const withStrings = (text: string): string =>
  text.replaceAll(/^```json\n([\s\S]*?)^```/gm, (_, json: string) =>
    [...json.matchAll(/"(?:[^"\\]|\\.)*"/g)].map(([each]) => JSON.parse(each)).join('\n'),
  );

/** Recorded output of the program: golden files, and the remedy of every cause. */
export const OUTPUTS = [
  ...DOCUMENTS.map(({name, text}) => [name, text] as const),
  ...CHART_NAMES.flatMap((chart) =>
    Object.entries(goldenCases(chart)).map(
      ([name, {warnings = [], error = []}]) =>
        [`${chart}-${name}`, [...warnings, ...error, ''].join('\n')] as const,
    ),
  ),
  ...textsIn('test/checks/preflight', /\/messages\/[\w-]+\.txt$/),
  // Input of a test may be invalid on purpose.
  ...textsIn('docs', /^errors\.md$/).map(
    ([file, text]) => [file, fencesIn(text).replaceAll(/^\$ .*\n/gm, '')] as const,
  ),
  ...CAUSES.map(
    (row) => [`cause ${row.code}`, remedyOf(row, EXAMPLE, {namespace: 'agents'})] as const,
  ),
];

/** Docs, and the READMEs of exports; placeholders are in capitals. */
export const DOCS = [
  ...textsIn('templates/export', /\.md$/).map(
    ([file, text]) => [file, text.replaceAll(/@[a-z]+@/g, 'x')] as const,
  ),
  ...textsIn('docs', /(?<!^errors)\.md$/).map(([file, text]) => [file, withStrings(text)] as const),
  ['README.md', readFileSync(join(root, 'README.md'), 'utf8')] as const,
];

export const printedIn = (texts: readonly (readonly [source: string, text: string])[]) =>
  texts.flatMap(([source, text]) => commandsIn(text).map((command) => ({source, ...command})));

const SOURCES = textsIn('src', /\.ts$/).map(
  ([file, code]) =>
    [file, ts.createSourceFile('source.ts', code, ts.ScriptTarget.Latest, true)] as const,
);

/** All strings in the source; interpolated values are X. */
export const LITERALS = inSource((node) => textOf(node) ?? []);

/** Literal arguments of the helpers that print commands. */
export const HELPED = inSource((node) => {
  if (!ts.isCallExpression(node)) return [];
  const [, tool] = /^(kubectl|helm)Command$/.exec(node.expression.getText()) ?? [];
  if (tool === undefined) return [];
  const isWhole = !node.arguments.some(ts.isSpreadElement);
  const args = node.arguments.slice(1).filter((each) => !ts.isSpreadElement(each));
  return [{tool, isWhole, args: args.map((each) => textOf(each) ?? 'x')}];
});

function inSource<T>(read: (node: ts.Node) => T | readonly T[]): (readonly [source: string, T])[] {
  return SOURCES.flatMap(([file, source]) => {
    const found: (readonly [string, T])[] = [];
    const visit = (node: ts.Node): void => {
      for (const each of [read(node)].flat() as T[]) found.push([file, each]);
      ts.forEachChild(node, visit);
    };
    visit(source);
    return found;
  });
}

function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  return ts.isTemplateExpression(node)
    ? [node.head.text, ...node.templateSpans.map(({literal}) => literal.text)].join('X')
    : undefined;
}

/** Subcommands of both tools; other words after their names are prose. */
export const VERBS =
  /\b(?:kubectl (?:annotate|apply|auth|cluster-info|config|create|debug|delete|describe|edit|get|label|logs|patch|rollout|run|scale|uncordon|wait)|helm (?:get|history|list|pull|rollback|show|status|template|uninstall|upgrade))\b/;
