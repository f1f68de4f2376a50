import {CHARTS} from '../charts/charts.ts';
import type {ChartRule, Target} from '../charts/define.ts';
import {within} from '../charts/releases.ts';
import {scopeOf} from '../charts/support.ts';
import type {Values} from '../charts/tree.ts';
import {ExitCode, ExpectedError, type Warning} from '../errors.ts';
import type {Get, Setting} from '../settings/define.ts';
import type {Settings} from '../settings/settings.ts';
import {effectiveGet} from './effective.ts';

/** A rule of the chart that does not hold. */
export interface Broken {
  rule: ChartRule;
  setting: Setting;
  message: string;
  suggestion?: string;
  /** The key it is about, where no setting writes it. */
  path?: string;
}

/** The rules that do not hold for these values over the defaults; `get` reads what will be in effect. */
export function brokenRules(effective: Values, get: Get, isExplicit: Settings['isExplicit'], target: Target): Broken[] {
  const scope = scopeOf(target, get);
  const facts = {...scope, values: effective, isExplicit};
  return CHARTS[target.chart].rules
    .filter((rule) => within(target.version, rule.in))
    .flatMap((rule) => {
      const finding = rule.test(get, facts);
      return finding === undefined || (rule.whenAsked && !isExplicit(finding.setting)) ? [] : [{rule, ...finding}];
    });
}

/** Holds the rules against what settings will have in effect. Returns the warnings. @throws ExpectedError for errors */
export function applyRules(effective: Values, read: ReadonlyMap<string, unknown>, settings: Settings, target: Target): Warning[] {
  const found = brokenRules(effective, effectiveGet(settings, read), settings.isExplicit, target);
  const errors = found.filter(({rule}) => rule.severity === 'error');
  if (errors.length > 0) {
    throw new ExpectedError(errors.map(({message}) => `${target.chart} ${target.version}: ${message}.`).join('\n'), {
      code: 'CONFLICTING_SETTINGS',
      exit: ExitCode.usage,
      suggestions: errors.flatMap(({suggestion}) => (suggestion === undefined ? [] : [suggestion])),
      cause: new Error(errors.map(({rule}) => rule.code).join(', ')),
    });
  }
  return found.map(({rule, setting, message}) => ({code: rule.code, setting: setting.id, message}));
}
