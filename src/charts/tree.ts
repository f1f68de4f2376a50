import {isDeepStrictEqual} from 'node:util';

/** What YAML and JSON can hold. */
export type Tree = string | number | boolean | null | Tree[] | {[key: string]: Tree};
/** A values.yaml. */
export type Values = {[key: string]: Tree};
/** Keys from the top of values.yaml downwards; keys may hold dots, so a path is a list. */
export type Path = readonly string[];

export const isMap = (tree: unknown): tree is Values => typeof tree === 'object' && tree !== null && !Array.isArray(tree);

export const getAt = (tree: Tree | undefined, path: Path): Tree | undefined =>
  path.reduce<Tree | undefined>((node, key) => (isMap(node) && Object.hasOwn(node, key) ? node[key] : undefined), tree);

export function setAt(tree: Values, path: Path, value: Tree): void {
  const [key, ...rest] = path as [string, ...string[]];
  if (rest.length === 0) {
    Object.defineProperty(tree, key, {value, writable: true, enumerable: true, configurable: true});
    return;
  }
  const below = Object.hasOwn(tree, key) ? tree[key] : undefined;
  const child = isMap(below) ? below : {};
  setAt(child, rest, value);
  Object.defineProperty(tree, key, {value: child, writable: true, enumerable: true, configurable: true});
}

/** structuredClone talks to itself through a channel on Node.js 20, which takes as long as everything else here. */
export const copyOf = <T extends Tree>(tree: T): T =>
  (Array.isArray(tree)
    ? tree.map(copyOf)
    : isMap(tree)
      ? Object.fromEntries(Object.entries(tree).map(([key, below]) => [key, copyOf(below)]))
      : tree) as T;

/** Lays `over` onto `under` the way Helm does: maps merge, everything else replaces, null deletes. What did not change is shared. */
export function mergeValues(under: Values, over: Values): Values {
  const merged: Values = {...under};
  for (const [key, value] of Object.entries(over)) {
    const below = Object.hasOwn(merged, key) ? merged[key] : undefined;
    if (value === null) delete merged[key];
    else setAt(merged, [key], isMap(value) && isMap(below) ? mergeValues(below, value) : value);
  }
  return merged;
}

/** Every path that ends in something other than a non-empty map. */
export function leafPaths(tree: Tree, path: Path = []): Path[] {
  if (!isMap(tree) || (Object.keys(tree).length === 0 && path.length > 0)) return path.length > 0 ? [path] : [];
  return Object.entries(tree).flatMap(([key, below]) => leafPaths(below, [...path, key]));
}

export const sameTree = (one: unknown, other: unknown): boolean => isDeepStrictEqual(one, other);

export const startsWith = (path: Path, start: Path): boolean => start.every((key, at) => path[at] === key);

/** `a.b.c`, with dots inside keys escaped as Helm's --set does. */
export const spellPath = (path: Path): string => path.map((key) => key.replaceAll('.', '\\.')).join('.');

export const at = (dotted: string): Path => dotted.split('.');

/** The text at a key, empty where there is none. */
export const textAt = (values: Values, path: string | Path): string => {
  const found = getAt(values, typeof path === 'string' ? at(path) : path);
  return typeof found === 'string' ? found : '';
};

export const isOn = (values: Values, path: string): boolean => getAt(values, at(path)) === true;

export const itemsAt = (values: Values, path: string): Tree[] => {
  const found = getAt(values, at(path));
  return Array.isArray(found) ? found : [];
};
