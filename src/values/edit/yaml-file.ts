import {isAlias, isCollection, isMap, isScalar, type Node, type Pair, parseDocument, visit, type YAMLMap, type YAMLSeq} from 'yaml';

/** A file in a form whose parts know where they stand in its text. */
export interface YamlFile {
  text: string;
  root: YAMLMap | undefined;
}

/** One step of a path: the collection and which of its items the path goes through. */
export interface Step {
  container: YAMLMap | YAMLSeq;
  index: number;
  /** Absent in a list. */
  pair?: Pair;
  value: Node | null;
}

/** undefined where the text is no YAML. */
export function parseFile(text: string): YamlFile | undefined {
  const {errors, contents} = parseDocument(text, {version: '1.1', keepSourceTokens: true, logLevel: 'silent'});
  return errors.length > 0 ? undefined : {text, root: isMap(contents) ? contents : undefined};
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
