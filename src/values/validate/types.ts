import type {SchemaNode} from '../../charts/schema.ts';
import type {Tree} from '../../charts/tree.ts';

/** The name JSON Schema has for the type of a value; whole numbers are integers. */
export function typeOf(tree: Tree): string {
  if (tree === null) return 'null';
  if (Array.isArray(tree)) return 'array';
  return Number.isInteger(tree) ? 'integer' : typeof tree;
}

export function fits(tree: Tree, {type}: SchemaNode): boolean {
  const types = [type ?? []].flat();
  const is = typeOf(tree);
  return types.length === 0 || types.includes(is) || (is === 'integer' && types.includes('number'));
}
