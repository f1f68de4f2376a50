import type {Interfaces} from '@oclif/core';
import * as Flags from '@oclif/core/flags';
import type {Setting} from '../settings/define.ts';
import {target} from '../settings/release.ts';
import {repeated} from './flags.ts';

/**
 * One flag per setting, as raw text: defaults, variables, validation and requirements are part of the settings, so that
 * the answers file and prompts use them too. `summaries` replaces those that mean something else in a command.
 */
export function settingFlags(
  settings: readonly Setting[],
  summaries: Readonly<Record<string, string>> = {},
): Record<never, Interfaces.Flag<string>> {
  // Few commands support --target.
  const flags = settings.filter(
    (setting) => setting.onlyEnv === undefined && setting.id !== target.id,
  );
  return Object.fromEntries(
    flags.map((setting) => [
      setting.id,
      flagOf({...setting, summary: summaries[setting.id] ?? setting.summary}),
    ]),
  );
}

function flagOf(setting: Setting) {
  const {helpValue, ...common} = textFlagOf(setting);
  if (setting.kind.isSwitch) return Flags.boolean({...common, allowNo: true});
  const text = {...common, helpValue, ...(setting.id === 'namespace' ? {char: 'n' as const} : {})};
  return setting.kind.list ? Flags.string({...text, ...repeated}) : Flags.string(text);
}

function textFlagOf({summary, group, kind, fallback, fallbackFrom}: Setting) {
  const value =
    fallbackFrom === undefined && !kind.isSwitch ? fallback?.(() => undefined) : undefined;
  const byDefault = value === undefined ? '' : kind.format(value).join(', ');
  return {
    summary: [
      summary,
      ...(kind.list ? ['Can be repeated.'] : []),
      ...(byDefault === '' ? [] : [`Default: ${byDefault}.`]),
    ].join(' '),
    helpGroup: group.toUpperCase(),
    helpValue: `<${kind.hint}>`,
  };
}

/** For commands that support agents on this machine. */
export const targetFlag = {target: Flags.string(textFlagOf(target))};

/** For commands that cannot change a service of the Linux packages. */
export const targetWithoutSystemd = {
  target: Flags.string({...textFlagOf(target), helpValue: '<kubernetes|docker>'}),
};
