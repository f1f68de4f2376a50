import type {Get, Setting} from '../settings/define.ts';
import type {ChartName, ChartSchema} from './schema.ts';
import type {Path, Tree, Values} from './tree.ts';

/** One exact chart version. */
export interface Target {
  chart: ChartName;
  version: string;
  /** What a chart at hand says of itself, where this program does not know the version. */
  schema?: ChartSchema;
  /** What the values.schema.json of such a chart has against values with its defaults below them. */
  refusals?(values: Values): {path: Path; message: string}[];
}

/** What a row may look at beside its own value. */
export interface Scope {
  get: Get;
  version: string;
  /** The values.yaml of the release itself. */
  defaults: Values;
}

/** One key to write; `why` explains a key that the setting does not make obvious. */
export type Entry = readonly [path: Path, value: Tree, why?: string];

/** How one setting is written into values.yaml and read back, for a range of versions. */
export interface Row<T = unknown> {
  setting: Setting<T>;
  /** Semver range of chart versions; none means every supported one. */
  in?: string;
  /** The other settings that decide whether this row is the one. */
  when?(get: Get): boolean;
  /** The values of the setting that the chart can take here. */
  accepts?(value: T, scope: Scope): boolean;
  /** What it may write; the contract test looks each of them up in every release. */
  paths: readonly Path[];
  write(value: T, scope: Scope): readonly Entry[];
  /** The setting as the merged values state it; undefined when they say nothing a setting can say. */
  read(values: Values, scope: Scope): T | undefined;
  /** What is missing although the value is written. */
  partly?(value: T, scope: Scope): string | undefined;
}

/** A default with its reason. */
export interface DefaultValue<T = unknown> {
  value: T;
  because: string;
  /** Why the operator must test it on a node; completes "--flag VALUE …". */
  untested?: string;
}

/** A value that follows from other settings for this chart. */
export interface ChartDefault<T = unknown> {
  setting: Setting<T>;
  in?: string;
  value(get: Get): DefaultValue<T> | undefined;
}

/** Keys that follow from other keys, where nobody wrote them. */
export interface DerivedKeys {
  in?: string;
  /** The setting that explains them. */
  setting: Setting;
  /** What it may write. */
  paths: readonly Path[];
  /** `values` and the chart defaults together; `isWritten` is true for keys that settings, files or --set wrote. */
  write(values: Values, isWritten: (path: Path) => boolean): readonly Entry[];
}

/** What a rule may look at beside the effective settings. */
export interface RuleFacts extends Scope {
  /** Values and defaults together, as the templates see them. */
  values: Values;
  /** True when a person gave the setting. */
  isExplicit(setting: Setting): boolean;
}

/** What a rule has found. */
export interface RuleViolation {
  setting: Setting;
  message: string;
  suggestion?: string;
  /** The key it is about, where no setting writes it. */
  path?: string;
  /** Keys of which the first that a file wrote is the place of the finding, before those of the setting. */
  paths?: readonly string[];
}

/** What must or should hold between the effective settings. */
export interface ChartRule {
  /** Its name in JSON. */
  code: string;
  in?: string;
  severity: 'error' | 'warning';
  /** It reminds of what no values file can show, such as the state of a node. */
  isReminder?: boolean;
  /** Only worth saying when somebody asked for the setting; the chart's own default is no news. */
  whenAsked?: boolean;
  /** The finding, and for errors what to do; `get` reads effective values, chart defaults included. */
  test(get: Get, facts: RuleFacts): RuleViolation | undefined;
}

/** What must or should hold between keys of values.yaml, whichever setting they belong to. */
export interface ValuesRule {
  code: string;
  in?: string;
  severity: 'error' | 'warning';
  /** `values` are those of the file over the defaults; the finding counts only where the file itself wrote at its path. */
  test(values: Values): readonly {path: readonly (string | number)[]; message: string; suggestion?: string}[];
}

/** Why a chart has no place for a setting, in words. */
export interface Refusal {
  setting: Setting;
  in?: string;
  /** The one value it is about; the others are taken. */
  of?: string;
  reason: string;
}

/** A container and the keys whose variables end up in it. */
export interface Container {
  name: string;
  in?: string;
  extraEnv: readonly string[];
  /** Variables the templates set here, where they are not the ones of the whole chart. */
  own?: ReadonlySet<string>;
}

/** A key that a version accepts and no template reads, always or until another key is set: docs/charts, "Keys that do nothing". */
export interface IgnoredKey {
  in?: string;
  path: string;
  /** With these values (defaults included) the templates do read it. */
  unless?(values: Values): boolean;
  because: string;
  /** What to set as well or instead. */
  instead?: string;
}

/** The oldest Kubernetes that a chart version works with. */
export interface KubernetesFloor {
  /** Major and minor, such as 1.35. */
  version: string;
  /** Below it the install or its runs fail; otherwise only the README asks for it. */
  isHard: boolean;
  because: string;
}

/** An unexpected effect of an upgrade between two ranges of versions. */
export interface UpgradeTrap {
  from: string;
  to: string;
  /** Only a release of this name. */
  release?: string;
  text: string;
}

export interface Chart {
  name: ChartName;
  rows: readonly Row[];
  defaults: readonly ChartDefault[];
  derived?: readonly DerivedKeys[];
  rules: readonly ChartRule[];
  valuesRules: readonly ValuesRule[];
  refusals: readonly Refusal[];
  /** Names of environment variables that templates set themselves or refuse, with the versions that do. */
  ownVariables: readonly {name: string; in?: string}[];
  containers: readonly Container[];
  ignoredKeys: readonly IgnoredKey[];
  upgradeTraps: readonly UpgradeTrap[];
  kubernetesFloors: readonly (KubernetesFloor & {in: string})[];
}
