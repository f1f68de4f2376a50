import {readFileSync} from 'node:fs';
import ts from 'typescript';

/** A function is big above either of them; a file has many exports, and a function many parameters, above the others. */
const LIMITS = {tokens: 250, lines: 60, parameters: 4, exports: 12};

/** What makes code hard to read, each with its places as `file:line`. */
export type Finding =
  | 'bigFunctions'
  | 'manyParameters'
  | 'manyExports'
  | 'nestedConditionals'
  | 'literalSpreads'
  | 'positionalTypes'
  | 'tupleDestructuring';

export interface FileShape {
  /** Names, literals and operators: formatting does not change their number. */
  tokens: number;
  /** Lines that are not empty, a comment or an import. */
  codeLines: number;
  found: readonly {finding: Finding; at: string}[];
}

export function measure(path: string): FileShape {
  const text = readFileSync(path, 'utf8');
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const reader = new ShapeReader(path, source);
  const exported = source.statements.filter(isExported).length;
  if (exported > LIMITS.exports) reader.report('manyExports', source);
  reader.visit(source);
  return {
    tokens: tokensIn(source, source),
    codeLines: text.split('\n').filter(isCode).length,
    found: reader.found,
  };
}

const isCode = (line: string): boolean =>
  line.trim() !== '' && !/^\s*(?:\/\/|\/?\*)/.test(line) && !line.startsWith('import ');

const isExported = (statement: ts.Statement): boolean =>
  ts.canHaveModifiers(statement) &&
  (ts.getModifiers(statement) ?? []).some(({kind}) => kind === ts.SyntaxKind.ExportKeyword);

/** Leaves of the syntax tree without punctuation, comments and imports. */
function tokensIn(node: ts.Node, source: ts.SourceFile): number {
  if (ts.isImportDeclaration(node) || ts.isJSDoc(node)) return 0;
  const children = node.getChildren(source);
  if (children.length > 0) return children.reduce((sum, child) => sum + tokensIn(child, source), 0);
  const isPunctuation =
    node.kind >= ts.SyntaxKind.FirstPunctuation && node.kind <= ts.SyntaxKind.ColonToken;
  return isPunctuation || node.getText(source) === '' ? 0 : 1;
}

class ShapeReader {
  readonly found: {finding: Finding; at: string}[] = [];
  readonly #path: string;
  readonly #source: ts.SourceFile;

  constructor(path: string, source: ts.SourceFile) {
    this.#path = path;
    this.#source = source;
  }

  report(finding: Finding, node: ts.Node): void {
    this.found.push({finding, at: `${this.#path}:${this.#lineOf(node.getStart(this.#source))}`});
  }

  visit(node: ts.Node): void {
    if (isNamedFunction(node)) this.#visitFunction(node);
    for (const [finding, matches] of PATTERNS)
      if (matches(node, this.#source)) this.report(finding, node);
    ts.forEachChild(node, (child) => this.visit(child));
  }

  #visitFunction(node: ts.SignatureDeclaration): void {
    const lines = this.#lineOf(node.end) - this.#lineOf(node.getStart(this.#source)) + 1;
    const isBig = lines > LIMITS.lines || tokensIn(node, this.#source) > LIMITS.tokens;
    if (isBig) this.report('bigFunctions', node);
    if (node.parameters.length > LIMITS.parameters) this.report('manyParameters', node);
  }

  #lineOf(position: number): number {
    return this.#source.getLineAndCharacterOfPosition(position).line + 1;
  }
}

/** An unnamed callback counts as part of the function around it. */
function isNamedFunction(node: ts.Node): node is ts.SignatureDeclaration {
  if (ts.isArrowFunction(node) || ts.isFunctionExpression(node))
    return node.name !== undefined || ts.isVariableDeclaration(node.parent);
  return ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node);
}

type Pattern = (node: ts.Node, source: ts.SourceFile) => boolean;

const isNestedConditional: Pattern = (node) => {
  if (!ts.isConditionalExpression(node)) return false;
  const parts = [node.condition, node.whenTrue, node.whenFalse];
  return parts.some((part) =>
    ts.isConditionalExpression(ts.isParenthesizedExpression(part) ? part.expression : part),
  );
};

const isLiteralSpread: Pattern = (node) =>
  (ts.isSpreadAssignment(node) && ts.isObjectLiteralExpression(node.expression)) ||
  (ts.isSpreadElement(node) && ts.isArrayLiteralExpression(node.expression));

const isPositionalType: Pattern = (node, source) =>
  ts.isTypeReferenceNode(node) && node.typeName.getText(source) === 'Parameters';

const isTupleDestructuring: Pattern = (node) =>
  ts.isVariableDeclaration(node) &&
  ts.isArrayBindingPattern(node.name) &&
  node.initializer !== undefined &&
  ts.isArrayLiteralExpression(node.initializer);

const PATTERNS: readonly (readonly [Finding, Pattern])[] = [
  ['nestedConditionals', isNestedConditional],
  ['literalSpreads', isLiteralSpread],
  ['positionalTypes', isPositionalType],
  ['tupleDestructuring', isTupleDestructuring],
];
