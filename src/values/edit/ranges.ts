import {isCollection, isMap, isScalar, type Node, type Pair, Scalar} from 'yaml';

/** The end of the colon of a pair; undefined where it has none. */
export function afterColon(pair: Pair): number | undefined {
  const colon = pair.srcToken?.sep?.find(({type}) => type === 'map-value-ind');
  return colon && 'offset' in colon ? colon.offset + 1 : undefined;
}

export const keyRange = ({key}: Pair): [number, number] => {
  const range = (key as Node).range as [number, number, number];
  return [range[0], range[1]];
};

/** Where what is written of a node ends, without the comments and empty lines behind it. */
export function endOf(node: Node): number {
  const last: unknown = isCollection(node) && !node.flow ? node.items.at(-1) : undefined;
  if (last === undefined) return node.range?.[1] as number;
  return isMap(node) ? endOfPair(last as Pair) : endOf(last as Node);
}

export function endOfPair(pair: Pair): number {
  const value = pair.value as Node | null;
  return isWritten(value) ? endOf(value) : (afterColon(pair) ?? keyRange(pair)[1]);
}

/** `key:` alone has a value that nobody wrote. */
export const isWritten = (node: Node | null): node is Node =>
  node?.range !== undefined && node.range !== null && node.range[0] < node.range[1];

/** A text as its own lines: | or >. */
export const isBlockText = (node: Node | null): boolean =>
  isScalar(node) && (node.type === Scalar.BLOCK_LITERAL || node.type === Scalar.BLOCK_FOLDED);
