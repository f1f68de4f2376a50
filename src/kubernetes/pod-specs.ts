import {getAt, isMap, type Tree, type Values} from '../ground/tree.ts';
import type {KubernetesObject} from './objects.ts';

/** Scheduling constraints of a pod other than resources. */
export interface NodePlace {
  labels: Readonly<Record<string, string>>;
  taints: readonly Taint[];
}

interface Taint {
  key: string;
  value?: string;
  effect: string;
}

interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
}

/** The specs of pods, wherever in an object: agent-job has them inside custom resources. */
export const podSpecs = (object: KubernetesObject): Values[] => specsIn(object as unknown as Tree);

function specsIn(tree: Tree): Values[] {
  if (Array.isArray(tree)) return tree.flatMap(specsIn);
  if (!isMap(tree)) return [];
  return Array.isArray(tree['containers']) ? [tree] : Object.values(tree).flatMap(specsIn);
}

/** A pod as something else makes it. */
export interface PodTemplate {
  metadata?: {labels?: Readonly<Record<string, string>>; annotations?: Readonly<Record<string, string>>} | null;
  spec: Values;
}

/** The templates of pods, wherever in an object. */
export const podTemplates = (object: KubernetesObject): PodTemplate[] => templatesIn(object as unknown as Tree);

function templatesIn(tree: Tree): PodTemplate[] {
  if (Array.isArray(tree)) return tree.flatMap(templatesIn);
  if (!isMap(tree)) return [];
  return Array.isArray(getAt(tree, ['spec', 'containers'])) ? [tree as unknown as PodTemplate] : Object.values(tree).flatMap(templatesIn);
}

const volumesOf = ({volumes}: Values): readonly Tree[] => (Array.isArray(volumes) ? volumes : []);

const textsAt = (trees: readonly Tree[], path: readonly string[]): string[] =>
  trees.flatMap((each) => {
    const found = getAt(each, path);
    return typeof found === 'string' ? [found] : [];
  });

export const hostPaths = (spec: Values): string[] => textsAt(volumesOf(spec), ['hostPath', 'path']);

/** Secrets that containers read or mount, without image pull Secrets. */
export function secretNames(tree: Tree): string[] {
  if (Array.isArray(tree)) return tree.flatMap(secretNames);
  if (!isMap(tree)) return [];
  return Object.entries(tree).flatMap(([key, below]) => {
    const name = SECRET_REFERENCES.has(key) && isMap(below) ? (below['secretName'] ?? below['name']) : undefined;
    return typeof name === 'string' ? [name] : secretNames(below);
  });
}

/** Of a variable, of all variables, and of a volume. */
const SECRET_REFERENCES: ReadonlySet<string> = new Set(['secretKeyRef', 'secretRef', 'secret']);

export const selectorOf = (spec: Values): [key: string, value: string][] =>
  Object.entries((spec['nodeSelector'] ?? {}) as Record<string, string>);

export const isSelected = (spec: Values, {labels}: NodePlace): boolean => selectorOf(spec).every(([key, value]) => labels[key] === value);

/** Taints of the node that exclude the pod permanently; taints by Kubernetes itself are temporary. */
export const untolerated = <T extends Taint>(spec: Values, {taints}: {taints: readonly T[]}): T[] => {
  const tolerations = (spec['tolerations'] ?? []) as unknown as Toleration[];
  return taints.filter(
    (taint) =>
      taint.effect !== 'PreferNoSchedule' &&
      // Ignores temporary taints of cordoned or broken nodes: earlier data is still on the node.
      !taint.key.startsWith('node.kubernetes.io/') &&
      !tolerations.some((each) => tolerates(each, taint)),
  );
};

export const mayRun = (spec: Values, node: NodePlace): boolean => isSelected(spec, node) && untolerated(spec, node).length === 0;

const tolerates = ({key, operator = 'Equal', value = '', effect}: Toleration, taint: Taint): boolean =>
  (effect === undefined || effect === '' || effect === taint.effect) &&
  (operator === 'Exists' ? key === undefined || key === '' || key === taint.key : key === taint.key && value === (taint.value ?? ''));
