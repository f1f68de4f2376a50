import {type Setting, settingName} from './define.ts';

/** A setting, or one value of it, that a text recommends. */
export interface SettingValue {
  setting: Setting;
  value?: unknown;
}

/** A value of a setting, for a text. */
export const withValue = (setting: Setting<never> | Setting, value: unknown): SettingValue => ({
  setting: setting as Setting,
  value,
});

/** How a reader knows a setting, or one value of it: as a flag, a key or a question. */
export type Spell = (setting: Setting, value?: unknown) => string;

/** As the wizard asks for it: cache "Node directory" */
export const spellAsQuestion: Spell = (setting, value) => {
  const name = settingName(setting);
  if (value === undefined || setting.kind.isSwitch) return name;
  const label = setting.labels?.[String(value)];
  return label === undefined ? `${name} ${value}` : `${name} "${label}"`;
};
