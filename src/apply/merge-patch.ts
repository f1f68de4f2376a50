import {isMap, type Tree, type Values} from '../charts/tree.ts';

/** An object with a null for everything that the one before had and this one has not: merged into that one, it would stay otherwise. */
export function withoutFormer(after: Tree, before: Tree | undefined): Tree {
  if (Array.isArray(after)) {
    const former = Array.isArray(before) ? before : [];
    return after.map((each) =>
      withoutFormer(each, isNamed(each) ? former.find((other) => isNamed(other) && other.name === each.name) : undefined),
    );
  }
  if (!isMap(after)) return after;
  const known = isMap(before) ? before : {};
  const gone = Object.keys(known).filter((key) => after[key] === undefined);
  return {
    ...Object.fromEntries(Object.entries(after).map(([key, below]) => [key, withoutFormer(below, known[key])])),
    ...Object.fromEntries(gone.map((key) => [key, null])),
  };
}

/** Containers, variables and volumes are merged by their names. */
const isNamed = (tree: Tree): tree is Values & {name: string} => isMap(tree) && typeof tree['name'] === 'string';
