import {HIDDEN, hideSecretValues} from '../../ground/hide-values.ts';
import {
  getAt,
  isMap,
  leafPaths,
  type Path,
  sameTree,
  setAt,
  spellPath,
  type Tree,
  type Values,
} from '../../ground/tree.ts';
import type {KubernetesObject} from '../kubernetes/objects.ts';

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
export function driftOf(given: Values, desired: Values): Drift {
  const installed = hideSecretValues(sorted(given));
  const file = hideSecretValues(sorted(desired));
  const differences = pathsOf(given, desired).map((path): Difference => {
    const one = getAt(installed, path);
    const other = getAt(file, path);
    // Two hidden values would look equal.
    if (one !== undefined && other !== undefined && sameTree(one, other))
      setAt(file, path, one === HIDDEN ? HIDDEN_DIFFERENCE : [HIDDEN_DIFFERENCE]);
    const before = one;
    const after = getAt(file, path);
    return {
      path: spellPath(path),
      ...(before === undefined ? {} : {installed: before}),
      ...(after === undefined ? {} : {file: after}),
    };
  });
  return {differences, installed, file};
}

/** The ends of both trees that differ. An empty map counts as absent. */
function pathsOf(given: Values, desired: Values): Path[] {
  const paths = [...leafPaths(given), ...leafPaths(desired)].map((path) =>
    shortened(path, given, desired),
  );
  const different = paths.filter((path) => {
    const one = valueOrMap(given, path);
    const other = valueOrMap(desired, path);
    return !sameTree(one, other) && !(isMap(one) && isMap(other));
  });
  return [...new Map(different.map((path) => [spellPath(path), path])).values()].toSorted(
    (one, other) => (spellPath(one) < spellPath(other) ? -1 : 1),
  );
}

/** A key that is not set compares as an empty map, unlike one that is null. */
function valueOrMap(values: Values, path: Path): Tree {
  const found = getAt(values, path);
  return found === undefined ? {} : found;
}

/** Down to where one side has no map to go on. */
function shortened(path: Path, ...trees: readonly Values[]): Path {
  const end = path.findIndex((_, index) => {
    const found = trees.map((tree) => getAt(tree, path.slice(0, index + 1)));
    return found.every((each) => each !== undefined) && found.some((each) => !isMap(each));
  });
  return end < 0 ? path : path.slice(0, end + 1);
}

function sorted<T extends Tree>(tree: T): T {
  if (Array.isArray(tree)) return tree.map(sorted) as unknown as T;
  if (!isMap(tree)) return tree;
  const keys = Object.keys(tree).toSorted();
  return Object.fromEntries(keys.map((key) => [key, sorted(tree[key] as Tree)])) as T;
}

/** An object that an install adds, removes or changes; secrets are hidden. */
export interface ObjectChange {
  /** Kind and name: Deployment scalr-agent */
  object: string;
  before?: Values;
  after?: Values;
}

/** The objects of two manifests that differ. Custom resource definitions are left out: no release contains them. Pure. */
export function manifestDiff(
  before: readonly KubernetesObject[],
  after: readonly KubernetesObject[],
): ObjectChange[] {
  const one = byName(before);
  const other = byName(after);
  return [...new Set([...one.keys(), ...other.keys()])].toSorted().flatMap((object) => {
    const old = one.get(object);
    const next = other.get(object);
    if (sameTree(old, next)) return [];
    return [
      {
        object,
        ...(old && {before: hidden(old)}),
        ...(next && {
          after: old ? (markedChanges(next, old, hidden(next)) as Values) : hidden(next),
        }),
      },
    ];
  });
}

const byName = (objects: readonly KubernetesObject[]): Map<string, Values> =>
  new Map(
    objects
      .filter(({kind}) => kind !== 'CustomResourceDefinition')
      .map((object) => [
        `${object.kind} ${object.metadata.name}`,
        withoutNoise(object as unknown as Values) as Values,
      ]),
  );

/** Labels with the versions of chart and agent change with every upgrade, in every object; a checksum repeats another change. */
const NOISE: ReadonlySet<string> = new Set([
  'helm.sh/chart',
  'app.kubernetes.io/version',
  'checksum/secrets',
]);

const withoutNoise = (tree: Tree): Tree => {
  if (Array.isArray(tree)) return tree.map(withoutNoise);
  if (!isMap(tree)) return tree;
  const keys = Object.keys(tree).filter((key) => !NOISE.has(key));
  return Object.fromEntries(keys.toSorted().map((key) => [key, withoutNoise(tree[key] as Tree)]));
};

function hidden(object: Values): Values {
  if (object['kind'] !== 'Secret') return hideSecretValues(object);
  const fields = ['data', 'stringData'].filter((field) => isMap(object[field]));
  const keys = (field: string): string[] => Object.keys(object[field] as Values);
  return {
    ...object,
    ...Object.fromEntries(
      fields.map((field) => [field, Object.fromEntries(keys(field).map((key) => [key, HIDDEN]))]),
    ),
  };
}

/** `shown` is `after` without secrets; hidden values that changed are marked. */
function markedChanges(after: Tree, before: Tree | undefined, shown: Tree): Tree {
  if (isMap(after) && isMap(shown)) {
    const former = isMap(before) ? before : {};
    return Object.fromEntries(
      Object.entries(shown).map(([key, text]) => [
        key,
        markedChanges(after[key] as Tree, former[key], text),
      ]),
    );
  }
  if (Array.isArray(after) && Array.isArray(shown)) {
    const former = Array.isArray(before) ? before : [];
    const formerOf = (item: Tree, index: number): Tree | undefined =>
      isMap(item) && item['name'] !== undefined
        ? former.find((each) => isMap(each) && each['name'] === item['name'])
        : former[index];
    return shown.map((text, index) =>
      markedChanges(after[index] as Tree, formerOf(after[index] as Tree, index), text),
    );
  }
  return shown === HIDDEN && before !== undefined && before !== after
    ? `${HIDDEN}, changed`
    : shown;
}
