import {oneOf} from '../../ground/text.ts';
import {at, getAt, isMap, type Tree} from '../../ground/tree.ts';
import {set} from '../../settings/chart-values.ts';
import type {Get} from '../../settings/define.ts';
import type {SettingValue} from '../../settings/spelling.ts';
import type {ChartRule, RuleFacts, RuleViolation} from './rule.ts';

/** A text, with settings as `spell` of the facts spells them. */
type Text = string | ((get: Get, facts: RuleFacts) => string);
interface SettingRule
  extends Omit<ChartRule, 'code' | 'verdict' | 'test'>,
    Pick<RuleViolation, 'setting' | 'path' | 'paths'> {
  isWrong(get: Get, facts: RuleFacts): boolean;
  message: Text;
  suggestion?: Text;
}

const settingRule =
  (verdict: ChartRule['verdict']) =>
  (
    code: string,
    {setting, path, paths, isWrong, message, suggestion, ...rule}: SettingRule,
  ): ChartRule => ({
    ...rule,
    code,
    verdict,
    test: (get, facts) => {
      if (!isWrong(get, facts)) return undefined;
      const say = (text: Text): string => (typeof text === 'string' ? text : text(get, facts));
      return {
        setting,
        message: say(message),
        path,
        paths,
        suggestion: suggestion && say(suggestion),
      };
    },
  });
/** Use --cache ephemeral or --concurrency 1 */
export const useOneOf =
  (...values: readonly SettingValue[]) =>
  (_: Get, {spell}: RuleFacts): string =>
    `Use ${oneOf(values.map(({setting, value}) => spell(setting, value)))}`;
export const settingError = settingRule('error');
export const settingWarning = settingRule('warning');
interface Breaking {
  in?: string;
  path: string;
  breaks(value: Tree): boolean;
  suggestion: string;
}

/** A value that some versions cannot be rendered with. */
export const breaksTemplates = ({breaks, path, ...rule}: Breaking): ChartRule =>
  settingError('BREAKS_TEMPLATES', {
    ...rule,
    setting: set,
    path,
    isWrong: (_, {values}) => {
      const value = getAt(values, at(path));
      return value !== undefined && breaks(value);
    },
    message: `This version of the chart cannot be rendered with this value of ${path}`,
  });
export const isFilledMap = (value: Tree): boolean => isMap(value) && Object.keys(value).length > 0;
export const isDash = (value: Tree): boolean => value === '-';
export const isPem = (value: Tree): boolean =>
  typeof value === 'string' &&
  (/["\\]/.test(value) || (value.includes('\n') && !/^[\w+/=\s]*$/.test(value)));
