import {type Get, type Setting, spell as spellAsFlag} from '../settings/define.ts';
import type {Settings} from '../settings/settings.ts';
import type {Spell} from '../settings/spelling.ts';
import {ChartVersion, chartFor} from './chart-version.ts';
import type {Target} from './releases/target.ts';
import type {Row, Scope} from './shared/row.ts';
import {hasRow, isWrittenWithoutRow, type Unsupported, unsupportedBy} from './shared/support.ts';

export const scopeOf = (
  target: Target,
  get: Get = () => undefined,
  spell: Spell = spellAsFlag,
): Scope => ({
  get,
  spell,
  version: target.version,
  defaults: ChartVersion.of(target).defaults,
});

/** The rows of a setting that have keys in the chart version. */
export const rowsWithKeys = (target: Target, {id}: Pick<Setting, 'id'>): Row[] =>
  chartFor(target).rows.filter(({setting, paths}) => setting.id === id && paths.length > 0);

/** True if the chart version has a key for the setting. */
export const hasKey = (target: Target, setting: Pick<Setting, 'id'>): boolean =>
  rowsWithKeys(target, setting).length > 0;

/** True if the chart version supports the value of the setting. */
export function supports(target: Target, setting: Setting, settings: Settings): boolean {
  const version = ChartVersion.of(target);
  return (
    isWrittenWithoutRow(setting) ||
    hasRow(version.description, setting, settings, scopeOf(version, settings.get))
  );
}

/** Every explicit setting that the chart version does not support. */
export function unsupported(target: Target, settings: Settings, spell?: Spell): Unsupported[] {
  const version = ChartVersion.of(target);
  return unsupportedBy(
    version.description,
    `${version.chart} ${version.version}`,
    settings,
    scopeOf(version, settings.get, spell),
  ).filter(({setting}) => !isWrittenWithoutRow(setting));
}
