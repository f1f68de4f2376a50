import type {Path} from '../../ground/tree.ts';
import {nodeAt, type SchemaNode, schemaOf} from './schema.ts';
import type {Target} from './target.ts';

/** The schema of a key; undefined if the chart version does not have it. */
export const schemaAt = (target: Target, path: Path): SchemaNode | undefined =>
  nodeAt(schemaOf(target), target.version, path);

/** True if the chart version has the key, or a map or a Kubernetes type above it. */
export const knowsKey = (target: Target, path: Path): boolean =>
  schemaAt(target, path) !== undefined;

/** The same for a key that holds a value, and not the keys of a section. */
export function holdsValue(target: Target, path: Path): boolean {
  const node = schemaAt(target, path);
  return (
    node !== undefined && (node.properties === undefined || node['x-kubernetes'] !== undefined)
  );
}
