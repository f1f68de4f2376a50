import type {Interfaces} from '@oclif/core';
import * as Flags from '@oclif/core/flags';
import type {Setting} from '../settings/define.ts';

/**
 * One flag per setting, as raw text: defaults, variables, checks and requirements belong to the settings, because the
 * answers file and the prompts must not escape them.
 */
export function settingFlags(settings: readonly Setting[]): Interfaces.FlagInput {
  return Object.fromEntries(settings.filter(({onlyEnv}) => onlyEnv === undefined).map((setting) => [setting.id, flagOf(setting)]));
}

function flagOf({id, summary, group, kind}: Setting) {
  const common = {summary, helpGroup: group.toUpperCase()};
  if (kind.isSwitch) return Flags.boolean({...common, allowNo: true});
  const text = {...common, helpValue: `<${kind.hint}>`, ...(id === 'namespace' ? {char: 'n' as const} : {})};
  return kind.list ? Flags.string({...text, multiple: true, multipleNonGreedy: true}) : Flags.string(text);
}
