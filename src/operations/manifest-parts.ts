import {isMap, type Tree, type Values} from '../ground/tree.ts';
import type {KubernetesObject} from '../kubernetes/objects.ts';

/** Every scalar of a manifest, and the container or kind of object that it belongs to, as in schemas/reach.json. */
export type RenderedParts = ReadonlyMap<string, {text: string; parts: readonly string[]}>;

/** Pods count for their containers, everything else for the kind of its object. */
export function renderedParts(objects: readonly KubernetesObject[]): RenderedParts {
  const found = new Map<string, {text: string; parts: readonly string[]}>();
  const add = (place: string, tree: Tree, parts: readonly string[]): void => {
    const below: [string, Tree][] = Array.isArray(tree)
      ? tree.map((item, index) => [nameOf(item) ?? String(index), item])
      : Object.entries(isMap(tree) ? tree : {});
    for (const [key, each] of below) add(`${place}/${key}`, each, parts);
    if (below.length === 0) found.set(place, {text: JSON.stringify(tree), parts});
  };
  for (const object of objects) {
    const {kind = ''} = object;
    const place = `${kind} ${object.metadata.name}`;
    const pods: Values[] = [];
    add(place, withoutPods(object as unknown as Tree, pods), [kind]);
    for (const pod of pods) {
      const {containers = [], initContainers = [], ...spec} = pod['spec'] as Values;
      const all = [initContainers, containers].flat() as Values[];
      add(`${place} pod`, {spec, metadata: pod['metadata'] ?? {}}, [...new Set(all.map((each) => roleOf(kind, each['name'])))]);
      for (const container of all) add(`${place} ${container['name']}`, container, [roleOf(kind, container['name'])]);
    }
  }
  return found;
}

/** Items of lists are compared by name: containers, variables, volumes. */
const nameOf = (item: Tree): string | undefined => (isMap(item) && typeof item['name'] === 'string' ? item['name'] : undefined);

function withoutPods(tree: Tree, pods: Values[]): Tree {
  if (!isMap(tree)) return tree;
  return Object.fromEntries(
    Object.entries(tree).flatMap(([key, below]): [string, Tree][] => {
      const isPod = key === 'template' && isMap(below) && isMap(below['spec']) && Array.isArray(below['spec']['containers']);
      if (isPod) pods.push(below);
      return isPod ? [] : [[key, withoutPods(below, pods)]];
    }),
  );
}

/** docs/charts/README.md, "Terms". */
function roleOf(kind: string, container: Tree | undefined): string {
  if (container === 'agent-local') return 'agent';
  if (kind === 'DaemonSet') return 'worker';
  if (kind === 'Deployment' || kind === 'StatefulSet') return 'controller';
  return container === 'runner' ? 'runner' : 'worker';
}
