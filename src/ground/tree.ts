import {isDeepStrictEqual} from 'node:util';
import {maskSecrets} from './errors.ts';
import type {ReadResult} from './fact.ts';
import {jsonIn, noJson} from './json.ts';

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
function mapBelow(tree: Tree, change: (below: Tree, key: string) => Tree): Tree {
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

/** A JSON object with unknown fields. */
export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Parses JSON output of a tool and checks its shape. */
export function readJson<T>(
  tool: string,
  text: string,
  is: (value: unknown) => value is T,
): ReadResult<T> {
  const value = jsonIn(text);
  if (is(value)) return {value};
  return {error: {kind: 'refused', message: noJson(tool, text.trim())}};
}

export const isListOf =
  <Name extends string>(...texts: readonly Name[]) =>
  (value: unknown): value is Readonly<Record<Name, string>>[] =>
    Array.isArray(value) &&
    value.every((each) => isFields(each) && texts.every((name) => typeof each[name] === 'string'));

export const HIDDEN = '[hidden]';

const SECRET_KEY = /^(token|client_?key|.*password|.*private_?key)$/i;

/** Boolean settings of the agent, which a diff must show. */
const PLAIN_VARIABLES: ReadonlySet<unknown> = new Set(['SCALR_AGENT_DEBUG']);

/** The charts take tokens and keys inline, and environment variables may hold anything. */
export const hideSecretValues = (values: Values): Values => hideIn(values) as Values;

function hideIn(tree: Tree): Tree {
  if (typeof tree === 'string') return maskSecrets(tree);
  const variable = isMap(tree) && typeof tree['name'] === 'string' ? tree['name'] : undefined;
  return mapBelow(tree, (below, key) => {
    const isOfVariable =
      variable !== undefined && key === 'value' && !PLAIN_VARIABLES.has(variable);
    if (isText(below) && (SECRET_KEY.test(key) || isOfVariable)) return HIDDEN;
    return /env$/i.test(key) && isMap(below) ? hideAll(below) : hideIn(below);
  });
}

const isText = (tree: Tree): boolean =>
  (typeof tree === 'string' && tree !== '') || typeof tree === 'number';

const hideAll = (variables: Values): Values =>
  Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      name,
      PLAIN_VARIABLES.has(name) && isText(value) ? value : HIDDEN,
    ]),
  );
