import type {Target} from '../charts/define.ts';
import {scopeOf} from '../charts/support.ts';
import {mergeValues, type Values} from '../charts/tree.ts';
import type {Get, Setting} from '../settings/define.ts';
import type {Settings} from '../settings/settings.ts';

/** What the templates see: the values over the defaults of the release. */
export const effectiveValues = (values: Values, target: Target): Values => mergeValues(scopeOf(target, () => undefined).defaults, values);

/** What will hold: what a person gave; else what the values say, which --set may have changed; else the default. */
export const effectiveGet =
  (settings: Settings, read: ReadonlyMap<string, unknown>): Get =>
  <T>(setting: Setting<T>) => {
    if (settings.isExplicit(setting)) return settings.get(setting);
    return (read.get(setting.id) as T | undefined) ?? settings.get(setting);
  };
