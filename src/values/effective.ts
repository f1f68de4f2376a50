import type {Get, Setting} from '../settings/define.ts';
import type {Settings} from '../settings/settings.ts';

/** What will hold: what a person gave; else what the values say, which --set may have changed; else the default. */
export const effectiveGet =
  (settings: Settings, read: ReadonlyMap<string, unknown>): Get =>
  <T>(setting: Setting<T>) => {
    if (settings.isExplicit(setting)) return settings.get(setting);
    return (read.get(setting.id) as T | undefined) ?? settings.get(setting);
  };
