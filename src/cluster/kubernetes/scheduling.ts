import type {Values} from '../../ground/tree.ts';

/** Scheduling constraints of a pod other than resources. */
export interface NodePlace {
  labels: Readonly<Record<string, string>>;
  taints: readonly Taint[];
}

export interface Taint {
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

export const selectorOf = (spec: Values): [key: string, value: string][] =>
  Object.entries((spec['nodeSelector'] ?? {}) as Record<string, string>);

export const isSelected = (spec: Values, {labels}: NodePlace): boolean =>
  selectorOf(spec).every(([key, value]) => labels[key] === value);

/** Taints of the node that exclude the pod permanently; taints by Kubernetes itself are temporary. */
export const untolerated = <T extends Taint>(
  spec: Values,
  {taints}: {taints: readonly T[]},
): T[] => {
  const tolerations = (spec['tolerations'] ?? []) as unknown as Toleration[];
  return taints.filter(
    (taint) =>
      taint.effect !== 'PreferNoSchedule' &&
      // Ignores temporary taints of cordoned or broken nodes: earlier data is still on the node.
      !taint.key.startsWith('node.kubernetes.io/') &&
      !tolerations.some((each) => tolerates(each, taint)),
  );
};

export const mayRun = (spec: Values, node: NodePlace): boolean =>
  isSelected(spec, node) && untolerated(spec, node).length === 0;

const tolerates = (
  {key, operator = 'Equal', value = '', effect}: Toleration,
  taint: Taint,
): boolean =>
  (effect === undefined || effect === '' || effect === taint.effect) &&
  (operator === 'Exists'
    ? key === undefined || key === '' || key === taint.key
    : key === taint.key && value === (taint.value ?? ''));
