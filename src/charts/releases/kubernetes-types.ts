import kubernetes from '../../../schemas/kubernetes.json' with {type: 'json'};
import type {SchemaNode} from './schema.ts';

const DEFINITIONS = kubernetes.definitions as unknown as Readonly<Record<string, SchemaNode>>;

/** The referenced type of a node and its name, otherwise the node itself. */
export function resolveType(node: SchemaNode): {name?: string; type: SchemaNode} {
  if (node.$ref === undefined) return {type: node};
  const name = node.$ref.replace('#/definitions/', '');
  const type = DEFINITIONS[name];
  if (type === undefined) throw new Error(`schemas/kubernetes.json contains no type ${name}.`);
  return {name, type};
}
