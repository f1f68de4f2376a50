import {HIDDEN, hideSecretValues} from '../charts/hidden-values.ts';
import {getAt, isMap, leafPaths, type Path, sameTree, setAt, spellPath, type Tree, type Values} from '../ground/tree.ts';

/** A key with different values in the release and in a file; an absent side has no value. Secrets are hidden. */
export interface Difference {
  path: string;
  installed?: Tree;
  file?: Tree;
}

export interface Drift {
  differences: readonly Difference[];
  /** Both sides for `diff`, with sorted keys and without secrets. */
  installed: Values;
  file: Values;
}

const HIDDEN_DIFFERENCE = '[hidden, different value]';

/** Compares the values of a release with those of a file. Pure. */
export function driftOf(given: Values, wanted: Values): Drift {
  const [installed, file] = [hideSecretValues(sorted(given)), hideSecretValues(sorted(wanted))];
  const differences = pathsOf(given, wanted).map((path): Difference => {
    const [one, other] = [getAt(installed, path), getAt(file, path)];
    // Two hidden values would look equal.
    if (one !== undefined && other !== undefined && sameTree(one, other))
      setAt(file, path, one === HIDDEN ? HIDDEN_DIFFERENCE : [HIDDEN_DIFFERENCE]);
    const [before, after] = [one, getAt(file, path)];
    return {path: spellPath(path), ...(before === undefined ? {} : {installed: before}), ...(after === undefined ? {} : {file: after})};
  });
  return {differences, installed, file};
}

/** The ends of both trees that differ. An empty map counts as absent. */
function pathsOf(given: Values, wanted: Values): Path[] {
  const paths = [...leafPaths(given), ...leafPaths(wanted)].map((path) => shortened(path, given, wanted));
  const different = paths.filter((path) => {
    const [one = {}, other = {}] = [getAt(given, path), getAt(wanted, path)];
    return !sameTree(one, other) && !(isMap(one) && isMap(other));
  });
  return [...new Map(different.map((path) => [spellPath(path), path])).values()].toSorted((one, other) =>
    spellPath(one) < spellPath(other) ? -1 : 1,
  );
}

/** Down to where one side has no map to go on. */
function shortened(path: Path, ...trees: readonly Values[]): Path {
  const end = path.findIndex((_, index) => {
    const found = trees.map((tree) => getAt(tree, path.slice(0, index + 1)));
    return found.every((each) => each !== undefined) && found.some((each) => !isMap(each));
  });
  return end < 0 ? path : path.slice(0, end + 1);
}

const sorted = <T extends Tree>(tree: T): T =>
  (isMap(tree)
    ? Object.fromEntries(
        Object.keys(tree)
          .toSorted()
          .map((key) => [key, sorted(tree[key] as Tree)]),
      )
    : Array.isArray(tree)
      ? tree.map(sorted)
      : tree) as T;
