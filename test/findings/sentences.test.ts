import {join, relative} from 'node:path';
import ts from 'typescript';
import {expect, test} from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

/** Methods that search a text. */
const SEARCHES = new Set([
  'endsWith',
  'exec',
  'includes',
  'indexOf',
  'match',
  'matchAll',
  'replace',
  'replaceAll',
  'search',
  'split',
  'startsWith',
  'test',
]);

/** Properties of a finding, of its remedies and of an error that are sentences for a person. */
const SENTENCES = new Set(['message', 'suggestions', 'text']);

const programOf = (files: readonly string[], host?: ts.CompilerHost): ts.Program => {
  const {config} = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  const {options} = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  return ts.createProgram(files, {...options, noEmit: true, incremental: false}, host);
};

/** What a name of a destructured object belongs to, and its name there. */
function destructured(node: ts.Identifier, checker: ts.TypeChecker): [ts.Type, string] | undefined {
  const found = checker.getSymbolAtLocation(node)?.valueDeclaration;
  if (found === undefined || !ts.isBindingElement(found)) return undefined;
  return [checker.getTypeAtLocation(found.parent), (found.propertyName ?? found.name).getText()];
}

/** The property of a finding, a remedy or an error that an expression is. */
function sentenceIn(node: ts.Expression, checker: ts.TypeChecker): string | undefined {
  if (ts.isElementAccessExpression(node)) return sentenceIn(node.expression, checker);
  const [owner, name] = ts.isPropertyAccessExpression(node)
    ? [checker.getTypeAtLocation(node.expression), node.name.text]
    : ((ts.isIdentifier(node) ? destructured(node, checker) : undefined) ?? []);
  if (owner === undefined || name === undefined || !SENTENCES.has(name)) return undefined;
  const isFinding = owner.getProperty('code') !== undefined && owner.getProperty('remedies');
  const isRemedy = name === 'text' && checker.getNonNullableType(owner).symbol?.name === 'Remedy';
  return isFinding || isRemedy ? name : undefined;
}

/** Layout needs signs only, such as the full stop at the end. */
const isWithoutWords = (pattern: ts.Expression | undefined): boolean =>
  pattern !== undefined &&
  (ts.isRegularExpressionLiteral(pattern) || ts.isStringLiteral(pattern)) &&
  !/[A-Za-z]{2}/.test(pattern.text.replaceAll(/\\./g, ''));

/** Calls that look for words in a sentence of this program. */
function searchesIn(file: ts.SourceFile, checker: ts.TypeChecker): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    ts.forEachChild(node, visit);
    if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return;
    const {name, expression: receiver} = node.expression;
    const [argument] = node.arguments;
    if (!SEARCHES.has(name.text)) return;
    const isOfPattern = name.text === 'test' || name.text === 'exec';
    const text = isOfPattern ? argument : receiver;
    const pattern = isOfPattern ? receiver : argument;
    if (text === undefined || sentenceIn(text, checker) === undefined) return;
    if (!isWithoutWords(pattern)) found.push(node.getText().replaceAll(/\s+/g, ' '));
  };
  visit(file);
  return found;
}

test('no code looks for words in the sentence of a finding, a remedy or an error', () => {
  const names = ts.sys.readDirectory(join(ROOT, 'src'), ['.ts']);
  const program = programOf(names);
  const own = new Set(names.map((name) => relative(ROOT, name)));
  const found = program
    .getSourceFiles()
    .filter(({fileName}) => own.has(relative(ROOT, fileName)))
    .flatMap((file) =>
      searchesIn(file, program.getTypeChecker()).map(
        (call) => `${relative(ROOT, file.fileName)}: ${call}`,
      ),
    );
  expect(found).toEqual([
    // The constant itself, not words of it.
    'src/operations/undo-steps.ts: failure.suggestions.includes(RUN_AGAIN)',
  ]);
}, 120_000);

test('finds words, and no signs', () => {
  const path = join(ROOT, 'src/example.ts');
  const words = [
    "failure.message.includes('timed out')",
    '/not found/.test(failure.message)',
    '/not found/.test(message)',
    "failure.suggestions[0].startsWith('Run')",
    '/Run/.test(text)',
  ];
  const others = [
    String.raw`failure.message.replace(/\.$/, '')`,
    String.raw`failure.message.split('\n')`,
    '/not found/.test(stderr)',
  ];
  const text = `import type {ExpectedError} from './ground/errors.ts';
export const example = (failure: ExpectedError, stderr: string): unknown => {
  const {message, remedies: [{text}]} = failure;
  return [message, stderr, text, ${[...words, ...others].join(', ')}];
};`;
  const host = ts.createCompilerHost({});
  const {getSourceFile} = host;
  host.getSourceFile = (name, ...rest) =>
    name === path
      ? ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true)
      : getSourceFile.call(host, name, ...rest);
  const program = programOf([path], host);
  const file = program.getSourceFile(path) as ts.SourceFile;
  expect(searchesIn(file, program.getTypeChecker())).toEqual(words);
}, 120_000);
