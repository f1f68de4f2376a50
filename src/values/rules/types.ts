import type {SchemaNode} from '../../charts/releases/schema.ts';
import type {KeyFinding} from '../../ground/finding.ts';
import {isMap, type Tree} from '../../ground/tree.ts';
import {findingAt, type ValuesSource} from '../reading/finding.ts';
import {FIRST_EXPONENT} from '../reading/go-numbers.ts';
import type {TreePath} from '../reading/tree-path.ts';

/** The JSON Schema type of a value; whole numbers are integers. */
export function typeOf(tree: Tree): string {
  if (tree === null) return 'null';
  if (Array.isArray(tree)) return 'array';
  return Number.isInteger(tree) ? 'integer' : typeof tree;
}

/** True when the value has one of the types of the schema node, or the node names none. */
export function matchesType(tree: Tree, {type}: SchemaNode): boolean {
  const types = [type ?? []].flat();
  const own = typeOf(tree);
  return (
    types.length === 0 || types.includes(own) || (own === 'integer' && types.includes('number'))
  );
}

/** Large numbers are written as texts, because templates would print them with an exponent. */
export function isNumberAsText(tree: Tree, {type}: SchemaNode): boolean {
  if (typeof tree !== 'string') return false;
  const types = [type].flat();
  return (
    (types.includes('integer') && /^-?\d+$/.test(tree)) ||
    (types.includes('number') && /^-?\d+(\.\d+)?$/.test(tree))
  );
}

/** Templates render tags and printed switches unchanged, with or without quotes. */
export function isPrintedAlike(
  tree: Tree,
  {format}: SchemaNode,
  written: string | undefined,
): boolean {
  if (format === 'flag')
    return [0, 1, '0', '1', 'true', 'false'].includes(tree as string) || typeof tree === 'boolean';
  return (
    format === 'image-tag' &&
    Number.isInteger(tree) &&
    Math.abs(Number(tree)) < FIRST_EXPONENT &&
    written === String(tree)
  );
}

/** A value of the wrong type; a scalar where a string is required only lacks quotes. */
export function typeMismatch(
  tree: Tree,
  {type}: SchemaNode,
  path: TreePath,
  source: ValuesSource,
): KeyFinding {
  const desired = [type].flat().join(' or ');
  if (desired !== 'string' || isMap(tree) || Array.isArray(tree)) {
    const message = `Must be of type ${desired}, not ${typeOf(tree)}: ${JSON.stringify(tree)}.`;
    return findingAt(source, path, {code: 'WRONG_TYPE', message});
  }
  const text = source.written(path) ?? String(tree);
  return findingAt(source, path, {
    code: 'UNQUOTED_TEXT',
    message: `Must be a string, but YAML reads ${text} as ${typeOf(tree)} ${JSON.stringify(tree)}.`,
    suggestion: `"${text}"`,
    fix: {path, value: text},
  });
}
