import {isMap, type Tree, type Values} from '../../ground/tree.ts';

/** Map keys and list indexes from the top of a file down. */
export type TreePath = readonly (string | number)[];

/** `a.b[0].c` */
export function dotted(path: TreePath): string {
  const text = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('');
  return text.replace(/^\./, '');
}

/** True if the dotted path is the other one or below it. */
export const isWithin = (path: string, above: string): boolean =>
  path === above ||
  (above !== '' && (path.startsWith(`${above}.`) || path.startsWith(`${above}[`)));

/** The value at a path through maps and lists. */
export const valueAt = (tree: Tree | undefined, path: TreePath): Tree | undefined =>
  path.reduce<Tree | undefined>(
    (node, key) =>
      (isMap(node) || Array.isArray(node)) && Object.hasOwn(node, key)
        ? (node as Values)[key]
        : undefined,
    tree,
  );
