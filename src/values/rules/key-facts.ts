import type {SchemaNode} from '../../charts/releases/schema.ts';
import type {Target} from '../../charts/releases/target.ts';
import {isMap, type Path, type Tree, type Values} from '../../ground/tree.ts';
import type {ValuesSource} from '../reading/finding.ts';

/** What rules about keys read. */
export interface KeyContext {
  source: ValuesSource;
  target: Target;
  /** The defaults of the chart. */
  defaults: Values;
  /** The values over the defaults. */
  effective: Values;
  /** The values without keys that JavaScript would call. */
  readable: Values;
}

/** A key that the values set, and its schema; a key without one does not exist in the chart. */
export interface KeyFact {
  path: Path;
  value: Tree;
  node?: SchemaNode;
}

/** A key that the chart has. */
export type KnownKey = Required<KeyFact>;

/** Every key of the values down to those with a Kubernetes type, and to unknown ones, in the order of the file. */
export function* keysIn(value: Tree, schema: SchemaNode, path: Path = []): Generator<KeyFact> {
  yield {path, value, node: schema};
  const {properties} = schema;
  if (schema['x-kubernetes'] !== undefined || properties === undefined || !isMap(value)) return;
  for (const [key, below] of Object.entries(value)) {
    const child = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (child) yield* keysIn(below, child, [...path, key]);
    else yield {path: [...path, key], value: below};
  }
}
