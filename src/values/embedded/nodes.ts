import {isMap, isScalar, isSeq, type YAMLMap} from 'yaml';
import {at} from '../../ground/tree.ts';
import {isEmptyNode} from '../reading/source.ts';

/** The node at a dotted path through maps. */
export const nodeIn = (node: unknown, path: string): unknown =>
  at(path).reduce<unknown>(
    (found, key) => (isMap(found) ? (found as YAMLMap).get(key, true) : undefined),
    node,
  );

export const listItems = (node: unknown): unknown[] => (isSeq(node) ? node.items : []);

export const scalarText = (node: unknown): string | undefined =>
  isScalar(node) && !isEmptyNode(node) ? String(node.value) : undefined;
