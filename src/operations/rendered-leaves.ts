import type {KubernetesObject} from '../cluster/kubernetes/objects.ts';
import {isMap, type Tree, type Values} from '../ground/tree.ts';

/** A scalar of a manifest, and the containers or the kind of object that it belongs to, as schemas/reach.json spells them. */
interface RenderedLeaf {
  text: string;
  parts: readonly string[];
}

/** By place, which is the same in two renders. */
export type RenderedLeaves = ReadonlyMap<string, RenderedLeaf>;

interface Section {
  place: string;
  tree: Tree;
  parts: readonly string[];
}

export function leavesOfObjects(objects: readonly KubernetesObject[]): RenderedLeaves {
  const sections = objects.flatMap((object) => sectionsOf(object));
  return new Map(
    sections.flatMap(({place, tree, parts}) =>
      leavesOf(tree, place).map(([leaf, text]) => [leaf, {text, parts}] as const),
    ),
  );
}

/** Pods count for their containers, everything else for the kind of its object. */
function sectionsOf(object: KubernetesObject): Section[] {
  const {kind = '', metadata} = object;
  const place = `${kind} ${metadata.name}`;
  const pods: Values[] = [];
  const rest = withoutPods(object as unknown as Tree, pods);
  return [
    {place, tree: rest, parts: [kind]},
    ...pods.flatMap((pod) => podSections(pod, kind, place)),
  ];
}

function podSections(pod: Values, kind: string, place: string): Section[] {
  const {containers = [], initContainers = [], ...spec} = pod['spec'] as Values;
  const ofContainers = ([initContainers, containers].flat() as Values[]).map(
    (container): Section => ({
      place: `${place} ${container['name']}`,
      tree: container,
      parts: [roleOf(kind, container['name'])],
    }),
  );
  const roles = new Set(ofContainers.flatMap(({parts}) => parts));
  const shared = {spec, metadata: pod['metadata'] ?? {}};
  return [{place: `${place} pod`, tree: shared, parts: [...roles]}, ...ofContainers];
}

/** Moves the pod templates to `pods`. */
function withoutPods(tree: Tree, pods: Values[]): Tree {
  if (!isMap(tree)) return tree;
  const kept: Values = {};
  for (const [key, below] of Object.entries(tree)) {
    if (key === 'template' && isPod(below)) pods.push(below);
    else kept[key] = withoutPods(below, pods);
  }
  return kept;
}

const isPod = (tree: Tree): tree is Values =>
  isMap(tree) && isMap(tree['spec']) && Array.isArray(tree['spec']['containers']);

function leavesOf(tree: Tree, place: string): [string, string][] {
  const below = childrenOf(tree);
  if (below.length === 0) return [[place, JSON.stringify(tree)]];
  return below.flatMap(([key, child]) => leavesOf(child, `${place}/${key}`));
}

/** Items of lists are compared by name: containers, variables, volumes. */
function childrenOf(tree: Tree): [string, Tree][] {
  if (!Array.isArray(tree)) return Object.entries(isMap(tree) ? tree : {});
  return tree.map((item, index) => {
    const name = isMap(item) ? item['name'] : undefined;
    return [typeof name === 'string' ? name : String(index), item];
  });
}

/** docs/charts/README.md, "Terms". */
function roleOf(kind: string, container: Tree | undefined): string {
  if (container === 'agent-local') return 'agent';
  if (kind === 'DaemonSet') return 'worker';
  if (kind === 'Deployment' || kind === 'StatefulSet') return 'controller';
  return container === 'runner' ? 'runner' : 'worker';
}
