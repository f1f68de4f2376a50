import {
  getAt,
  isMap,
  type Path,
  sameTree,
  type Tree,
  textAt,
  type Values,
} from '../../ground/tree.ts';
import type {KubernetesObject, Pod} from './objects.ts';

export const hasEnded = ({status}: Pod): boolean =>
  status?.phase === 'Succeeded' || status?.phase === 'Failed';

/** The specs of pods, wherever in an object: agent-job has them inside custom resources. */
export const podSpecs = (object: KubernetesObject): Values[] =>
  topmost(object as unknown as Tree, ['containers']);

/** A pod as something else makes it. */
export interface PodTemplate {
  metadata?: {
    labels?: Readonly<Record<string, string>>;
    annotations?: Readonly<Record<string, string>>;
  } | null;
  spec: Values;
}

/** The templates of pods, wherever in an object. */
export const podTemplates = (object: KubernetesObject): PodTemplate[] =>
  topmost(object as unknown as Tree, ['spec', 'containers']) as unknown as PodTemplate[];

/** The maps with a list at this path, without those below another one. */
function topmost(tree: Tree, path: Path): Values[] {
  if (Array.isArray(tree)) return tree.flatMap((each) => topmost(each, path));
  if (!isMap(tree)) return [];
  return Array.isArray(getAt(tree, path))
    ? [tree]
    : Object.values(tree).flatMap((each) => topmost(each, path));
}

/** The maps in a list; none of anything else. */
export const mapsIn = (tree: Tree | undefined): Values[] =>
  Array.isArray(tree) ? tree.filter(isMap) : [];

export const hostPaths = ({volumes}: Values): string[] =>
  mapsIn(volumes).flatMap((each) => textAt(each, ['hostPath', 'path']) || []);

/** All keys of a tree with their values. */
export function pairsBelow(tree: Tree): [key: string, below: Tree][] {
  if (Array.isArray(tree)) return tree.flatMap(pairsBelow);
  return isMap(tree) ? Object.entries(tree).flatMap((pair) => [pair, ...pairsBelow(pair[1])]) : [];
}

/** Secrets that containers read or mount, without image pull Secrets. */
export const secretNames = (tree: Tree): string[] => secretReferences(tree).map(({name}) => name);

/** Secrets without which no new pod starts. The ReplicaSets of earlier revisions, which start none, are left out. */
export function secretsRequiredBy(objects: readonly KubernetesObject[]): string[] {
  const names = objects
    .filter(({kind = ''}) => ['Deployment', 'DaemonSet'].includes(kind))
    .flatMap((each) => secretReferences(each as unknown as Tree))
    .flatMap(({name, isOptional}) => (isOptional ? [] : [name]));
  return [...new Set(names)];
}

const secretReferences = (tree: Tree): {name: string; isOptional: boolean}[] =>
  pairsBelow(tree).flatMap(([key, below]) => {
    if (!SECRET_REFERENCES.has(key) || !isMap(below)) return [];
    const name = below['secretName'] ?? below['name'];
    return typeof name === 'string' ? [{name, isOptional: below['optional'] === true}] : [];
  });

/** Of a variable, of all variables, and of a volume. */
const SECRET_REFERENCES: ReadonlySet<string> = new Set(['secretKeyRef', 'secretRef', 'secret']);

/** Whether the pods of both objects are made the same way. */
export const haveSamePods = (one: KubernetesObject, other: KubernetesObject): boolean =>
  sameTree(podTemplates(one) as unknown as Tree, podTemplates(other) as unknown as Tree);
