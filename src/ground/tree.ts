import {isDeepStrictEqual} from 'node:util';

/** A YAML or JSON value. */
export type Tree = string | number | boolean | null | Tree[] | {[key: string]: Tree};
/** A values.yaml. */
export type Values = {[key: string]: Tree};
/** Keys from the root of values.yaml; a list, because keys may contain dots. */
export type Path = readonly string[];

export const isMap = (tree: unknown): tree is Values =>
  typeof tree === 'object' && tree !== null && !Array.isArray(tree);

export const getAt = (tree: Tree | undefined, path: Path): Tree | undefined =>
  path.reduce<Tree | undefined>(
    (node, key) => (isMap(node) && Object.hasOwn(node, key) ? node[key] : undefined),
    tree,
  );

export function setAt(tree: Values, path: Path, value: Tree): void {
  const [key, ...rest] = path as [string, ...string[]];
  if (rest.length === 0) {
    Object.defineProperty(tree, key, {value, writable: true, enumerable: true, configurable: true});
    return;
  }
  const below = Object.hasOwn(tree, key) ? tree[key] : undefined;
  const child = isMap(below) ? below : {};
  setAt(child, rest, value);
  Object.defineProperty(tree, key, {
    value: child,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

/** structuredClone is slow on Node.js 20. */
export const copyOf = <T extends Tree>(tree: T): T => mapBelow(tree, copyOf) as T;

/** A tree with other children; a value without children is returned as it is. */
export function mapBelow(tree: Tree, change: (below: Tree, key: string) => Tree): Tree {
  if (Array.isArray(tree)) return tree.map((each) => change(each, ''));
  if (!isMap(tree)) return tree;
  return Object.fromEntries(Object.entries(tree).map(([key, below]) => [key, change(below, key)]));
}

/** Merges values as Helm does: maps merge, other values replace, null deletes. Unchanged parts are shared. */
export function mergeValues(base: Values, override: Values): Values {
  const merged: Values = {...base};
  for (const [key, value] of Object.entries(override)) {
    const below = Object.hasOwn(merged, key) ? merged[key] : undefined;
    if (value === null) delete merged[key];
    else setAt(merged, [key], isMap(value) && isMap(below) ? mergeValues(below, value) : value);
  }
  return merged;
}

/** Every path that ends in something other than a non-empty map. */
export function leafPaths(tree: Tree, path: Path = []): Path[] {
  if (!isMap(tree) || (Object.keys(tree).length === 0 && path.length > 0))
    return path.length > 0 ? [path] : [];
  return Object.entries(tree).flatMap(([key, below]) => leafPaths(below, [...path, key]));
}

export const sameTree = (one: unknown, other: unknown): boolean => isDeepStrictEqual(one, other);

export const startsWith = (path: Path, start: Path): boolean =>
  start.every((key, at) => path[at] === key);

/** `a.b.c`, with dots inside keys escaped as Helm's --set does. */
export const spellPath = (path: Path): string =>
  path.map((key) => key.replaceAll('.', '\\.')).join('.');

export const at = (dotted: string): Path => dotted.split('.');

/** The string at a key, or an empty string. */
export const textAt = (values: Values, path: string | Path): string => {
  const found = getAt(values, typeof path === 'string' ? at(path) : path);
  return typeof found === 'string' ? found : '';
};

export const isOn = (values: Values, path: string): boolean => getAt(values, at(path)) === true;

export const itemsAt = (values: Values, path: string): Tree[] => {
  const found = getAt(values, at(path));
  return Array.isArray(found) ? found : [];
};

/** A copy without these leaves, and without maps that become empty. */
export function withoutLeaves(
  values: Values,
  isGone: (path: Path) => boolean,
  above: Path = [],
): Values {
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, below]) => {
      const path = [...above, key];
      if (!isMap(below) || Object.keys(below).length === 0)
        return isGone(path) ? [] : [[key, below]];
      const left = withoutLeaves(below, isGone, path);
      return Object.keys(left).length === 0 ? [] : [[key, left]];
    }),
  );
}
