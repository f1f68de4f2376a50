import type {Target} from '../charts/define.ts';
import {closedSchema, type SchemaNode, schemaOf} from '../charts/schema.ts';
import {isMap, type Tree, type Values} from '../charts/tree.ts';

/** From here on a template prints a number of a values file as 1e+06. */
export const FIRST_FLOAT = 1_000_000;

/**
 * Large numbers as texts, which templates print as they are. Not below keys that Kubernetes types: templates hand those
 * on as YAML, which keeps numbers whole, and Kubernetes would refuse a text.
 */
export function withoutLargeNumbers(values: Values, target: Target): Values {
  return convert(values, closedSchema(schemaOf(target), target.version)) as Values;
}

function convert(tree: Tree, node: SchemaNode | undefined): Tree {
  if (node?.['x-kubernetes'] !== undefined) return tree;
  if (Array.isArray(tree)) return tree.map((each) => convert(each, undefined));
  if (isMap(tree)) return Object.fromEntries(Object.entries(tree).map(([key, below]) => [key, convert(below, node?.properties?.[key])]));
  return typeof tree === 'number' && Math.abs(tree) >= FIRST_FLOAT ? String(tree) : tree;
}
