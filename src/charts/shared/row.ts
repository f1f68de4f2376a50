import type {Path, Tree, Values} from '../../ground/tree.ts';
import type {Get, Setting} from '../../settings/define.ts';
import type {SettingValue, Spell} from '../../settings/spelling.ts';

/** Context of a row besides its value. */
export interface Scope {
  get: Get;
  version: string;
  /** The values.yaml of the release itself. */
  defaults: Values;
  /** Spells a setting as the reader of a text knows it: as a flag, a key or a question. */
  spell: Spell;
}

/** One key to write; `why` explains a key that is not obvious from the setting. */
export type ValuesEntry = readonly [path: Path, value: Tree, why?: string];

/** How one setting is written into values.yaml and read back, for a range of versions. */
export interface Row<T = unknown> {
  setting: Setting<T>;
  /** Semver range of chart versions, if it does not apply to every version that has its keys. */
  in?: string;
  /** Condition on other settings. */
  when?(get: Get): boolean;
  /** Values of the setting that the chart supports. */
  accepts?(value: T, scope: Scope): boolean;
  /** Keys that it may write. */
  paths: readonly Path[];
  /** Keys of other rows from which it is read. */
  from?: readonly Path[];
  write(value: T, scope: Scope): readonly ValuesEntry[];
  /** The setting in the merged values; undefined if they cannot be expressed as this setting. */
  read(values: Values, scope: Scope): T | undefined;
  /** Limitations of a supported value. */
  partly?(value: T, scope: Scope): string | undefined;
  /** The code of that warning, if it is about an effect, and not about a part without one (default: PARTLY_SUPPORTED). */
  code?: 'CAUTION' | undefined;
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

/** Why settings are not supported. */
export interface Refusal {
  settings: readonly Setting[];
  in?: string;
  /** The unsupported value (default: all values). */
  of?: string;
  reason: string;
  /** What to use instead. */
  use?: readonly SettingValue[];
}

/** What settings are written for: a chart, or an agent on a machine. */
export interface RowSet {
  rows: readonly Row[];
  refusals: readonly Refusal[];
}
