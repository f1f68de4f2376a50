import {isMap, type Tree, type Values} from '../charts/tree.ts';
import type {KubernetesObject} from '../cluster/objects.ts';

/** Secrets that pods cannot start without, with the keys they read, wherever in the objects of a chart; those it makes itself are none. */
export function secretsNamedIn(objects: readonly KubernetesObject[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  const add = (name: Tree | undefined, keys: readonly (Tree | undefined)[] = []): void => {
    if (typeof name !== 'string' || name === '' || makes(objects, 'Secret', name)) return;
    const known = found.get(name) ?? new Set();
    found.set(name, known);
    for (const key of keys) if (typeof key === 'string') known.add(key);
  };
  for (const [key, below] of pairsIn(objects)) {
    if (key === 'imagePullSecrets') for (const each of mapsIn(below)) add(each['name']);
    if (!isMap(below) || below['optional'] === true) continue;
    if (key === 'secretKeyRef') add(below['name'], [below['key']]);
    if (key === 'secretRef') add(below['name']);
    if (key === 'secret')
      add(
        below['secretName'] ?? below['name'],
        mapsIn(below['items']).map((each) => each['key']),
      );
  }
  return found;
}

export const pullSecretsIn = (objects: readonly KubernetesObject[]): string[] => [
  ...new Set(pairsIn(objects).flatMap(([key, below]) => (key === 'imagePullSecrets' ? mapsIn(below).map(({name}) => String(name)) : []))),
];

/** Claims that pods mount, those that the chart makes too. */
export const claimsNamedIn = (objects: readonly KubernetesObject[]): string[] => [
  ...new Set(
    pairsIn(objects).flatMap(([key, below]) => {
      const name = key === 'persistentVolumeClaim' && isMap(below) ? below['claimName'] : undefined;
      return typeof name === 'string' ? [name] : [];
    }),
  ),
];

const makes = (objects: readonly KubernetesObject[], kind: string, name: string): boolean =>
  objects.some((object) => object.kind === kind && object.metadata.name === name);

/** Every key with what lies below it; a definition describes keys, and its own are none. */
const pairsIn = (objects: readonly KubernetesObject[]): [key: string, below: Tree][] =>
  objects.filter(({kind}) => kind !== 'CustomResourceDefinition').flatMap((object) => pairsBelow(object as unknown as Tree));

function pairsBelow(tree: Tree): [key: string, below: Tree][] {
  if (Array.isArray(tree)) return tree.flatMap(pairsBelow);
  return isMap(tree) ? Object.entries(tree).flatMap((pair) => [pair, ...pairsBelow(pair[1])]) : [];
}

const mapsIn = (tree: Tree | undefined): Values[] => (Array.isArray(tree) ? tree.filter(isMap) : []);
