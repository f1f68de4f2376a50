import {isMap, type Path, sameTree, setAt, startsWith, type Tree, type Values} from '../../charts/tree.ts';
import {moveKey} from '../edit/move.ts';
import {renameKey, replaceValue} from '../edit/replace.ts';
import {commentsOf} from '../edit/text.ts';
import {parseFile} from '../edit/yaml-file.ts';
import type {Fix, TreePath} from './finding.ts';
import {readSource} from './source.ts';

const BYTE_ORDER_MARK = '\uFEFF';
/** Stands where bytes were no text; writing it back would lose them. */
const REPLACEMENT = '\uFFFD';

/** Makes the changes in the text of a file, each only where nothing else changes with it. Pure. */
export function applyFixes(text: string, fixes: readonly Fix[]): {text: string; applied: Fix[]} {
  if (text.includes(REPLACEMENT)) return {text, applied: []};
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  let body = text.slice(mark.length);
  const applied: Fix[] = [];
  for (const fix of fixes) {
    const next = applyOne(body, fix);
    if (next === undefined || next === body) continue;
    body = next;
    applied.push(fix);
  }
  return {text: mark + body, applied};
}

/** The last gate: what Helm reads afterwards has to be what was meant, and no comment may be lost. */
function applyOne(text: string, fix: Fix): string | undefined {
  const tree = readSource(text).source?.values;
  const meant = tree && treeAfter(tree, fix);
  if (tree === undefined || meant === undefined) return undefined;
  const edited = endedAs(text, edit(text, tree, fix));
  if (edited === undefined || !sameTree(readSource(edited).source?.values, meant)) return undefined;
  return sameTree(commentsOf(edited), commentsOf(text)) ? edited : undefined;
}

/** A file whose last line has no end keeps it so, whichever line is the last one now. */
const endedAs = (text: string, edited: string | undefined): string | undefined =>
  text.endsWith('\n') ? edited : edited?.replace(/\r?\n$/, '');

function edit(before: string, tree: Values, {path, value, to}: Fix): string | undefined {
  const file = parseFile(before);
  if (file === undefined) return undefined;
  const isOther = value !== undefined && !sameTree(valueAt(tree, path), value);
  const text = isOther ? replaceValue(file, path, value) : before;
  const next = text === undefined ? undefined : parseFile(text);
  if (next === undefined || to === undefined) return text;
  const isSameParent = sameTree(path.slice(0, -1).map(String), to.slice(0, -1));
  return isSameParent ? renameKey(next, path, to.at(-1) as string) : moveKey(next, path, to);
}

const valueAt = (tree: Tree | undefined, path: TreePath): Tree | undefined =>
  path.reduce<Tree | undefined>((node, key) => {
    if (Array.isArray(node)) return node[Number(key)];
    return isMap(node) && Object.hasOwn(node, String(key)) ? node[String(key)] : undefined;
  }, tree);

/** The tree as it should be read afterwards; undefined where the change cannot be made, or would overwrite something. */
function treeAfter(tree: Tree, {path, value, to}: Fix): Tree | undefined {
  const copy = unshared(tree);
  const [holder, key] = [valueAt(copy, path.slice(0, -1)), path.at(-1)];
  const old = valueAt(copy, path);
  if (key === undefined || old === undefined || (!isMap(holder) && !Array.isArray(holder))) return undefined;
  const meant = value === undefined ? old : value;
  if (to === undefined) {
    (holder as Values)[String(key)] = meant;
    return copy;
  }
  if (!isMap(holder)) return undefined;
  delete holder[String(key)];
  const isSameParent = sameTree(path.slice(0, -1).map(String), to.slice(0, -1));
  if (isSameParent) {
    if (Object.hasOwn(holder, to.at(-1) as string)) return undefined;
    setAt(holder, to.slice(-1), meant);
    return copy;
  }
  if (!isMap(copy) || path.some((each) => typeof each === 'number') || !isFree(copy, to)) return undefined;
  setAt(copy, to, meant);
  prune(copy, path.slice(0, -1) as Path, to);
  return copy;
}

/** Nothing stands at the path, and nothing above it but mappings and keys without a value. */
const isFree = (tree: Values, path: Path): boolean =>
  path.every((_, index) => {
    const there = valueAt(tree, path.slice(0, index + 1));
    return index === path.length - 1 ? there === undefined : there === undefined || there === null || isMap(there);
  });

/** Takes away the mappings that the move left empty. */
function prune(tree: Values, path: Path, to: Path): void {
  for (let length = path.length; length > 0 && !startsWith(to, path.slice(0, length)); length -= 1) {
    const [above, at] = [valueAt(tree, path.slice(0, length - 1)), valueAt(tree, path.slice(0, length))];
    if (!isMap(above) || !isMap(at) || Object.keys(at).length > 0) return;
    delete above[path[length - 1] as string];
  }
}

/** A copy in which what an anchor shares is no longer the same object. */
const unshared = (tree: Tree): Tree => {
  if (Array.isArray(tree)) return tree.map(unshared);
  return isMap(tree) && Object.getPrototypeOf(tree) === Object.prototype
    ? Object.fromEntries(Object.entries(tree).map(([key, below]) => [key, unshared(below)]))
    : tree;
};
