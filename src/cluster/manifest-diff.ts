import {isMap, sameTree, type Tree, type Values} from '../charts/tree.ts';
import {HIDDEN, hideSecrets} from './facts/releases.ts';
import type {KubernetesObject} from './objects.ts';

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
    return [{object, ...(old && {before: shown(old)}), ...(next && {after: shown(next, old)})}];
  });
}

const byName = (objects: readonly KubernetesObject[]): Map<string, Values> =>
  new Map(
    objects
      .filter(({kind}) => kind !== 'CustomResourceDefinition')
      .map((object) => [`${object.kind} ${object.metadata.name}`, withoutNoise(object as unknown as Values) as Values]),
  );

/** The label with the chart version changes with every upgrade, in every object. */
const NOISE: ReadonlySet<string> = new Set(['helm.sh/chart']);

const withoutNoise = (tree: Tree): Tree => {
  if (Array.isArray(tree)) return tree.map(withoutNoise);
  if (!isMap(tree)) return tree;
  const keys = Object.keys(tree).filter((key) => !NOISE.has(key));
  return Object.fromEntries(keys.toSorted().map((key) => [key, withoutNoise(tree[key] as Tree)]));
};

/** Without secrets; a hidden text that differs from the one before says so. */
function shown(object: Values, before?: Values): Values {
  if (object['kind'] !== 'Secret') return hideSecrets(object);
  const hidden = (field: string): Values => {
    const data = object[field];
    if (!isMap(data)) return {};
    const former = isMap(before?.[field]) ? (before[field] as Values) : {};
    const isChanged = (key: string): boolean => before !== undefined && former[key] !== data[key];
    return {[field]: Object.fromEntries(Object.keys(data).map((key) => [key, isChanged(key) ? `${HIDDEN}, changed` : HIDDEN]))};
  };
  return {...object, ...hidden('data'), ...hidden('stringData')};
}
