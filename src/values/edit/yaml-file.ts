import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  Lexer,
  type Node,
  type Pair,
  parseDocument,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import type {Tree} from '../../charts/tree.ts';

/** A file in a form whose parts know where they stand in its text. */
export interface YamlFile {
  text: string;
  root: YAMLMap | undefined;
  tree: Tree;
}

/** One step of a path: the collection and which of its items the path goes through. */
export interface Step {
  container: YAMLMap | YAMLSeq;
  index: number;
  /** Absent in a list. */
  pair?: Pair;
  value: Node | null;
}

export interface Edit {
  start: number;
  end: number;
  text: string;
}

/** Reads a text as Helm does; undefined where it would refuse. */
export function readFile(text: string): YamlFile | undefined {
  try {
    const document = parseDocument(text, {version: '1.1', keepSourceTokens: true, logLevel: 'error'}) as Document;
    if (document.errors.length > 0) return undefined;
    return {text, root: isMap(document.contents) ? document.contents : undefined, tree: document.toJS() as Tree};
  } catch {
    return undefined;
  }
}

/** The way to what is written at the path; undefined where there is nothing, or something that is used elsewhere too. */
export function walk({root}: YamlFile, path: readonly (string | number)[]): Step[] | undefined {
  const steps: Step[] = [];
  let node: Node | null | undefined = root;
  for (const key of path) {
    if (!isCollection(node) || isShared(node)) return undefined;
    const index: number = isMap(node)
      ? node.items.findIndex((pair) => isScalar(pair.key) && String(pair.key.value) === String(key))
      : Number(key);
    const item: unknown = node.items[index];
    if (item === undefined) return undefined;
    const step: Step = isMap(node)
      ? {container: node, index, pair: item as Pair, value: (item as Pair).value as Node | null}
      : {container: node as YAMLSeq, index, value: item as Node};
    if (hasProperties(step.pair?.key) || (step.value !== null && hasProperties(step.value))) return undefined;
    steps.push(step);
    node = step.value;
  }
  return steps;
}

const hasProperties = (node: unknown): boolean =>
  isAlias(node) || ((isScalar(node) || isCollection(node)) && (node.anchor !== undefined || node.tag !== undefined));

/** Mappings that take keys from others: what stands in one place is read in two. */
const isShared = (node: YAMLMap | YAMLSeq | Node): boolean =>
  isMap(node) && node.items.some(({key}) => isScalar(key) && (key.source === '<<' || typeof key.value === 'symbol'));

/** Something below is an anchor, a reference to one, or says its type itself. */
export function isEntangled(node: Node | null): boolean {
  let isFound = false;
  if (node !== null) {
    visit(node, {
      Node: (_, each) => {
        isFound ||= hasProperties(each) || isShared(each);
      },
    });
  }
  return isFound;
}

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

export const applyEdits = (text: string, edits: readonly Edit[]): string =>
  edits
    .toSorted((one, other) => other.start - one.start || other.end - one.end)
    .reduce((result, edit) => result.slice(0, edit.start) + edit.text + result.slice(edit.end), text);

/** Every comment of a text, sorted. */
export function commentsOf(text: string): string[] {
  const tokens = [...new Lexer().lex(text)];
  return tokens
    .filter((token, index) => token.startsWith('#') && tokens[index - 1] !== SCALAR_FOLLOWS)
    .map((token) => token.trimEnd())
    .toSorted();
}

const SCALAR_FOLLOWS = '\u001f';
