import type {Path, Values} from '../../ground/tree.ts';
import type {ChartName} from '../releases/chart-name.ts';
import type {ImageKeys} from './pinned-agents.ts';
import type {ChartDefault, DerivedKeys, RowSet} from './row.ts';
import type {ChartRule, ValuesRule} from './rule.ts';

/** A container, and the keys of its extra variables. */
export interface ChartContainer {
  name: string;
  in?: string;
  extraEnv: readonly string[];
  /** Variables that the templates set in this container, if they differ from the chart's. */
  own?: ReadonlySet<string>;
}

/** A key that a version accepts and no template reads, always or until another key is set: docs/charts, "Keys without effect". */
export interface IgnoredKey {
  in?: string;
  path: string;
  /** Condition under which the templates read the key. */
  unless?(values: Values): boolean;
  because: string;
  /** The key to set in addition or instead. */
  instead?: string;
}

/** Keys that a version still reads although it has new ones, and that a migration must not rename without a decision of the user. */
export interface FormerKeys {
  in: string;
  test(path: Path, values: Values): boolean;
  because: string;
  remedy: string;
}

/** The minimum Kubernetes version of a chart version. */
export interface KubernetesFloor {
  /** Major and minor, such as 1.35. */
  version: string;
  /** True if the install or runs fail below it; false if only the README requires it. */
  isHard: boolean;
  because: string;
}

export interface Chart extends RowSet {
  name: ChartName;
  /** What tells it from the other charts, in one line. */
  character: string;
  defaults: readonly ChartDefault[];
  derived?: readonly DerivedKeys[];
  rules: readonly ChartRule[];
  valuesRules: readonly ValuesRule[];
  /** Environment variables that the templates set or reject, with their versions. */
  ownVariables: readonly {name: string; in?: string}[];
  containers: readonly ChartContainer[];
  images: readonly ImageKeys[];
  ignoredKeys: readonly IgnoredKey[];
  formerKeys?: readonly FormerKeys[];
  kubernetesFloors: readonly (KubernetesFloor & {in: string})[];
}

/** Names of variables by the versions that have them. */
export const variablesIn = (versions: Readonly<Record<string, string>>): Chart['ownVariables'] =>
  Object.entries(versions).flatMap(([range, names]) =>
    names.split(/\s+/).map((name) => ({name, in: range})),
  );
