import type {Get, Setting} from '../settings/define.ts';
import type {Settings} from '../settings/settings.ts';
import {chartFor} from './charts.ts';
import {defaultsOf, schemaOf} from './releases/schema.ts';
import type {Target} from './releases/target.ts';
import {oncePerVersion} from './releases/versions.ts';
import type {Row, Scope} from './shared/row.ts';
import {hasRow, isWrittenWithoutRow, type Unsupported, unsupportedBy} from './shared/support.ts';

const shipped = oncePerVersion(defaultsOf);
export const scopeOf = (target: Target, get: Get = () => undefined): Scope => ({
  get,
  version: target.version,
  defaults: shipped(schemaOf(target), target.version),
});

/** The rows of a setting that have keys in the chart version. */
export const rowsWithKeys = (target: Target, {id}: Pick<Setting, 'id'>): Row[] =>
  chartFor(target).rows.filter(({setting, paths}) => setting.id === id && paths.length > 0);

/** True if the chart version has a key for the setting. */
export const hasKey = (target: Target, setting: Pick<Setting, 'id'>): boolean =>
  rowsWithKeys(target, setting).length > 0;

/** True if the chart version supports the value of the setting. */
export const supports = (target: Target, setting: Setting, settings: Settings): boolean =>
  isWrittenWithoutRow(setting) ||
  hasRow(chartFor(target), setting, settings, scopeOf(target, settings.get));

/** Every explicit setting that the chart version does not support. */
export const unsupported = (target: Target, settings: Settings): Unsupported[] =>
  unsupportedBy(
    chartFor(target),
    `${target.chart} ${target.version}`,
    settings,
    scopeOf(target, settings.get),
  ).filter(({setting}) => !isWrittenWithoutRow(setting));
