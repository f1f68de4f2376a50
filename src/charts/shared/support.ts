import {type ExpectedError, failed} from '../../ground/errors.ts';
import {type Remedy, settingProblem} from '../../ground/finding.ts';
import type {Path, Values} from '../../ground/tree.ts';
import {secretAnnotation, secretLabel} from '../../settings/agent.ts';
import {catalog} from '../../settings/catalog.ts';
import {allowClearText, set, valuesFile} from '../../settings/chart-values.ts';
import type {Get, Setting} from '../../settings/define.ts';
import {load} from '../../settings/purpose.ts';
import type {Settings} from '../../settings/settings.ts';
import type {Refusal, Row, RowSet, Scope} from './row.ts';

/** The rows that write this value; empty if it is not supported. */
export function rowsFor({rows}: RowSet, setting: Setting, value: unknown, scope: Scope): Row[] {
  return rows.filter(
    (row) =>
      row.setting === setting &&
      (row.when?.(scope.get) ?? true) &&
      (row.accepts?.(value, scope) ?? true),
  );
}

/** Settings of the release, and settings that are written without rows. */
export const isWrittenWithoutRow = (setting: Setting): boolean =>
  setting.group === 'Release' ||
  [allowClearText, set, valuesFile, load, secretLabel, secretAnnotation].some(
    ({id}) => id === setting.id,
  );

/** True if rows write the value of the setting, or of the one that carries it. */
export function hasRow(
  described: RowSet,
  setting: Setting,
  settings: Settings,
  scope: Scope,
): boolean {
  const carrier = setting.carriedBy?.() ?? setting;
  return [setting, carrier].some(
    (each) => rowsFor(described, each, settings.get(each), scope).length > 0,
  );
}

export interface Unsupported {
  setting: Setting;
  /** As the reader of the message knows it. */
  spelled: string;
  /** Why, without what to use instead. */
  reason: string;
  message: string;
}

/** Every explicit setting without a row; `name` is what does not support it. */
export const unsupportedBy = (
  described: RowSet,
  name: string,
  settings: Settings,
  scope: Scope,
): Unsupported[] =>
  settings
    .entries()
    .filter(
      ({setting}) =>
        settings.isExplicit(setting) &&
        setting.id !== allowClearText.id &&
        !hasRow(described, setting, settings, scope),
    )
    .map(({setting}) => {
      const written = setting.carriedBy?.() ?? setting;
      const value = settings.get(written);
      const reason = refusalReason(described, written, value);
      const {use = []} = refusalOf(described, written, value) ?? {};
      const spelled = scope.spell(setting, valueToName(setting, settings));
      const instead = use.map((each) => scope.spell(each.setting, each.value)).join(' and ');
      const message = `${name} does not support ${spelled}: ${reason}`;
      return {
        setting,
        spelled,
        reason,
        message: instead === '' ? message : `${message}; use ${instead}`,
      };
    });

/** The error for unsupported settings, with next steps before and after the one to remove them. */
export function notSupported(
  refused: readonly Unsupported[],
  before: readonly (string | Remedy)[],
  after: readonly string[] = [],
): ExpectedError {
  // Without a fact about the cluster, the chart would fail there.
  const removable =
    before.length === 0 ? refused : refused.filter(({setting}) => setting.group !== 'Cluster');
  const removal =
    removable.length === 0 ? [] : [`Remove ${removable.map(({spelled}) => spelled).join(', ')}`];
  const suggestions = [...before, ...removal, ...after];
  const problems = refused.map(({setting: {id}, message}) =>
    settingProblem(
      'UNSUPPORTED_SETTING',
      {setting: id},
      {message: `${message}.`, suggestion: suggestions[0]},
    ),
  );
  return failed(
    'UNSUPPORTED_SETTING',
    problems.map(({message}) => message).join('\n'),
    suggestions,
    {problems},
  );
}

export const refusalOf = (
  {refusals}: RowSet,
  setting: Setting,
  value: unknown,
): Refusal | undefined =>
  refusals.find(({settings, of = value}) => settings.includes(setting) && of === value);

/** Why a value is not supported, without what to use instead. */
export const refusalReason = (described: RowSet, setting: Setting, value: unknown): string =>
  refusalOf(described, setting, value)?.reason ?? 'there is no key for it';

/** A choice is shown with its value, because other values may be supported. */
const valueToName = (setting: Setting, settings: Settings): unknown =>
  setting.kind.options || setting.kind.isSwitch ? settings.get(setting) : undefined;

/** Settings that rows have read, and the keys that the rows cover. */
export interface Reading {
  settings: ReadonlyMap<string, unknown>;
  claimed: readonly Path[];
}

/** The inverse of what rows write; the first row of a setting that can express the values wins. */
export function readRows(
  rows: readonly Row[],
  values: Values,
  scopeWith: (get: Get) => Scope,
): Reading {
  const readOnce = (known: ReadonlyMap<string, unknown>): Reading => {
    const settings = new Map<string, unknown>();
    const scope = scopeWith(
      <T>({id}: Setting<T>) => (settings.get(id) ?? known.get(id)) as T | undefined,
    );
    const claimed: Path[] = [];
    for (const row of rows) {
      const value = (row.when?.(scope.get) ?? true) ? row.read(values, scope) : undefined;
      if (value === undefined) continue;
      if (!settings.has(row.setting.id)) settings.set(row.setting.id, value);
      claimed.push(...row.paths);
    }
    return {settings, claimed};
  };
  // A row may depend on a setting that comes later, so a first pass reads them all.
  return readOnce(readOnce(new Map()).settings);
}

/** The rows in the order of the catalog, in which settings are read. */
export const inCatalogOrder = (rows: readonly Row[]): Row[] =>
  catalog.flatMap((setting) => rows.filter((each) => each.setting === setting));
