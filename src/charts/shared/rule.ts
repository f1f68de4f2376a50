import type {Values} from '../../ground/tree.ts';
import type {Get, Setting} from '../../settings/define.ts';
import type {KubernetesVersions} from '../releases/versions.ts';
import type {Scope} from './row.ts';

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
  verdict: 'error' | 'warning';
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
  verdict: 'error' | 'warning';
  /** `values` are merged over the chart defaults; findings at paths that the file does not set are dropped. */
  test(values: Values): readonly {
    path: readonly (string | number)[];
    message: string;
    suggestion?: string | undefined;
  }[];
}
