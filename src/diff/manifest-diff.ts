import {HIDDEN, hideSecretValues} from '../charts/hidden-values.ts';
import {isMap, sameTree, type Tree, type Values} from '../ground/tree.ts';
import type {KubernetesObject} from '../kubernetes/objects.ts';

/** An object that an install adds, removes or changes; secrets are hidden. */
export interface ObjectChange {
  /** Kind and name: Deployment scalr-agent */
  object: string;
  before?: Values;
  after?: Values;
}

/** The objects of two manifests that differ. Custom resource definitions are left out: no release contains them. Pure. */
export function manifestDiff(before: readonly KubernetesObject[], after: readonly KubernetesObject[]): ObjectChange[] {
  const [one, other] = [byName(before), byName(after)];
  return [...new Set([...one.keys(), ...other.keys()])].toSorted().flatMap((object) => {
    const [old, next] = [one.get(object), other.get(object)];
    if (sameTree(old, next)) return [];
    return [
      {
        object,
        ...(old && {before: hidden(old)}),
        ...(next && {after: old ? (markedChanges(next, old, hidden(next)) as Values) : hidden(next)}),
      },
    ];
  });
}

const byName = (objects: readonly KubernetesObject[]): Map<string, Values> =>
  new Map(
    objects
      .filter(({kind}) => kind !== 'CustomResourceDefinition')
      .map((object) => [`${object.kind} ${object.metadata.name}`, withoutNoise(object as unknown as Values) as Values]),
  );

/** Labels with the versions of chart and agent change with every upgrade, in every object; a checksum repeats another change. */
const NOISE: ReadonlySet<string> = new Set(['helm.sh/chart', 'app.kubernetes.io/version', 'checksum/secrets']);

const withoutNoise = (tree: Tree): Tree => {
  if (Array.isArray(tree)) return tree.map(withoutNoise);
  if (!isMap(tree)) return tree;
  const keys = Object.keys(tree).filter((key) => !NOISE.has(key));
  return Object.fromEntries(keys.toSorted().map((key) => [key, withoutNoise(tree[key] as Tree)]));
};

/** Without secrets. */
function hidden(object: Values): Values {
  if (object['kind'] !== 'Secret') return hideSecretValues(object);
  const fields = ['data', 'stringData'].filter((field) => isMap(object[field]));
  const keys = (field: string): string[] => Object.keys(object[field] as Values);
  return {...object, ...Object.fromEntries(fields.map((field) => [field, Object.fromEntries(keys(field).map((key) => [key, HIDDEN]))]))};
}

/** `shown` is `after` without secrets; hidden values that changed are marked. */
function markedChanges(after: Tree, before: Tree | undefined, shown: Tree): Tree {
  if (isMap(after) && isMap(shown)) {
    const former = isMap(before) ? before : {};
    return Object.fromEntries(Object.entries(shown).map(([key, text]) => [key, markedChanges(after[key] as Tree, former[key], text)]));
  }
  if (Array.isArray(after) && Array.isArray(shown)) {
    const former = Array.isArray(before) ? before : [];
    const formerOf = (item: Tree, index: number): Tree | undefined =>
      isMap(item) && item['name'] !== undefined ? former.find((each) => isMap(each) && each['name'] === item['name']) : former[index];
    return shown.map((text, index) => markedChanges(after[index] as Tree, formerOf(after[index] as Tree, index), text));
  }
  return shown === HIDDEN && before !== undefined && before !== after ? `${HIDDEN}, changed` : shown;
}
