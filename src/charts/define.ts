import type {Path, Tree, Values} from '../ground/tree.ts';
import type {Get, Setting} from '../settings/define.ts';
import type {KubernetesVersions} from './releases.ts';
import type {ChartName, ChartSchema} from './schema.ts';

/** An entry of `artifacthub.io/changes` in Chart.yaml. */
export interface UpstreamChange {
  /** added, changed, removed, fixed, … */
  kind?: string | undefined;
  description: string;
}

/** One exact chart version. */
export interface Target {
  chart: ChartName;
  version: string;
  /** Schema of a chart from --chart-source, if this program does not know the version. */
  schema?: ChartSchema;
  /** Violations of the chart's values.schema.json by values merged over its defaults. */
  refusals?(values: Values): {path: Path; message: string}[];
  /** The change list of that chart. */
  changes?: readonly UpstreamChange[];
}

/** Context of a row besides its value. */
export interface Scope {
  get: Get;
  version: string;
  /** The values.yaml of the release itself. */
  defaults: Values;
}

/** One key to write; `why` explains a key that is not obvious from the setting. */
export type ValuesEntry = readonly [path: Path, value: Tree, why?: string];

/** How one setting is written into values.yaml and read back, for a range of versions. */
export interface Row<T = unknown> {
  setting: Setting<T>;
  /** Semver range of chart versions (default: all supported versions). */
  in?: string;
  /** Condition on other settings. */
  when?(get: Get): boolean;
  /** Values of the setting that the chart supports. */
  accepts?(value: T, scope: Scope): boolean;
  /** Paths that it may write; the contract test verifies them in every release. */
  paths: readonly Path[];
  write(value: T, scope: Scope): readonly ValuesEntry[];
  /** The setting in the merged values; undefined if they cannot be expressed as this setting. */
  read(values: Values, scope: Scope): T | undefined;
  /** Limitations of a supported value. */
  partly?(value: T, scope: Scope): string | undefined;
}

export interface DefaultValue<T = unknown> {
  value: T;
  because: string;
  /** Why the operator must test it on a node; completes "--flag VALUE …". */
  untested?: string;
}

/** A default of this chart that depends on other settings. */
export interface ChartDefault<T = unknown> {
  setting: Setting<T>;
  in?: string;
  value(get: Get): DefaultValue<T> | undefined;
}

/** Keys that are derived from other keys unless the user sets them. */
export interface DerivedKeys {
  in?: string;
  /** The setting in the comment of the keys. */
  setting: Setting;
  paths: readonly Path[];
  /** `values` and the chart defaults together; `isWritten` is true for keys that settings, files or --set wrote. */
  write(values: Values, isWritten: (path: Path) => boolean): readonly ValuesEntry[];
}

/** Context of a rule besides the effective settings. */
export interface RuleFacts extends Scope {
  /** Values merged over the chart defaults. */
  values: Values;
  /** True if the user set it. */
  isExplicit(setting: Setting): boolean;
  /** Undefined without a cluster. */
  kubernetes?: KubernetesVersions | undefined;
}

export interface RuleViolation {
  setting: Setting;
  message: string;
  suggestion?: string | undefined;
  /** The key of the violation, if no setting writes it. */
  path?: string | undefined;
  /** Candidate keys for the position of the finding; the first key in the file is used, before those of the setting. */
  paths?: readonly string[] | undefined;
}

/** A rule for the effective settings. */
export interface ChartRule {
  /** Its name in JSON. */
  code: string;
  in?: string;
  severity: 'error' | 'warning';
  /** A reminder about facts outside the values file, such as the state of a node. */
  isReminder?: boolean;
  /** Reported only if the user sets the setting, not for the chart default. */
  whenAsked?: boolean;
  /** Returns the violation; `get` returns effective values including chart defaults. */
  test(get: Get, facts: RuleFacts): RuleViolation | undefined;
}

/** A rule for keys of values.yaml. */
export interface ValuesRule {
  code: string;
  in?: string;
  severity: 'error' | 'warning';
  /** `values` are merged over the chart defaults; findings at paths that the file does not set are dropped. */
  test(values: Values): readonly {
    path: readonly (string | number)[];
    message: string;
    suggestion?: string | undefined;
  }[];
}

/** Why settings are not supported. */
export interface Refusal {
  settings: readonly Setting[];
  in?: string;
  /** The unsupported value (default: all values). */
  of?: string;
  reason: string;
}

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

/** What the known problems of an upgrade depend on besides both versions. */
export interface KnownProblemFacts {
  release: string;
  /** Installed values, merged over the chart defaults. */
  values: Values;
}

/** An effect of an upgrade from one range of versions to another. */
export interface KnownProblem {
  /** Its name in JSON. */
  code: string;
  /** `blocking`: the upgrade fails or loses data. `behavior`: runs or the agent behave differently. */
  level: 'blocking' | 'behavior' | 'info';
  from: string;
  to: string;
  /** Releases that it applies to (default: all releases). */
  when?(facts: KnownProblemFacts): boolean;
  /** For which releases, for the documentation. */
  whose?: string;
  reason: string;
  remedy: string;
  /** `scalr-agent upgrade` applies the remedy itself. */
  isHandled?: true;
}

/** What settings are written for: a chart, or an agent on a machine. */
export interface Described {
  rows: readonly Row[];
  refusals: readonly Refusal[];
}

export interface Chart extends Described {
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
  ignoredKeys: readonly IgnoredKey[];
  formerKeys?: readonly FormerKeys[];
  kubernetesFloors: readonly (KubernetesFloor & {in: string})[];
}

export const CHART_NAMES: readonly ChartName[] = ['agent-k8s', 'agent-local', 'agent-job'];

export const isChart = (name: unknown): name is ChartName =>
  CHART_NAMES.includes(name as ChartName);

export const scalrChart = (chart: string): {chart: ChartName; version: string} | undefined => {
  const [, name, version] = /^(agent-(?:k8s|local|job))-(\d.*)$/.exec(chart) ?? [];
  return name === undefined || version === undefined
    ? undefined
    : {chart: name as ChartName, version};
};
