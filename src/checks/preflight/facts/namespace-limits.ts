import type {KubernetesObject} from '../../../cluster/kubernetes/objects.ts';

type Quantities = Readonly<Record<string, string>>;

export interface ResourceQuota extends KubernetesObject {
  spec?: {
    hard?: Quantities;
    scopes?: readonly string[];
    scopeSelector?: {
      matchExpressions?: readonly {
        scopeName: string;
        operator: string;
        values?: readonly string[];
      }[];
    };
  };
  status?: {hard?: Quantities; used?: Quantities};
}

export interface LimitRange extends KubernetesObject {
  spec?: {limits?: readonly LimitRangeItem[]};
}

export interface LimitRangeItem {
  /** Container, Pod or PersistentVolumeClaim. */
  type: string;
  max?: Quantities;
  min?: Quantities;
  default?: Quantities;
  defaultRequest?: Quantities;
  maxLimitRequestRatio?: Quantities;
}
