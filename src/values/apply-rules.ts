import {CHARTS} from '../charts/charts.ts';
import type {Target} from '../charts/define.ts';
import {within} from '../charts/releases.ts';
import {scopeOf} from '../charts/support.ts';
import {mergeValues, type Values} from '../charts/tree.ts';
import {ExitCode, ExpectedError, type Warning} from '../errors.ts';
import type {Get, Setting} from '../settings/define.ts';
import type {Settings} from '../settings/settings.ts';

/** Holds the rules of the chart against what will be in effect. Returns the warnings. @throws ExpectedError for errors */
export function applyRules(values: Values, effective: ReadonlyMap<string, unknown>, settings: Settings, target: Target): Warning[] {
  const {chart, version} = target;
  const get: Get = <T>(setting: Setting<T>) => settings.get(setting) ?? (effective.get(setting.id) as T | undefined);
  const scope = scopeOf(target, get);
  const facts = {...scope, values: mergeValues(scope.defaults, values), isExplicit: settings.isExplicit};
  const found = CHARTS[chart].rules
    .filter((rule) => within(version, rule.in))
    .flatMap((rule) => {
      const finding = rule.test(get, facts);
      return finding === undefined || (rule.whenAsked && !settings.isExplicit(finding.setting)) ? [] : [{rule, ...finding}];
    });
  const errors = found.filter(({rule}) => rule.severity === 'error');
  if (errors.length > 0) {
    throw new ExpectedError(errors.map(({message}) => `${chart} ${version}: ${message}.`).join('\n'), {
      code: 'CONFLICTING_SETTINGS',
      exit: ExitCode.usage,
      suggestions: errors.flatMap(({suggestion}) => (suggestion === undefined ? [] : [suggestion])),
    });
  }
  return found.map(({rule, setting, message}) => ({code: rule.code, setting: setting.id, message}));
}
