import {chartFor} from '../charts/charts.ts';
import type {Target} from '../charts/define.ts';
import {type ChartRequirements, type Recommendation, recommend} from '../charts/recommend.ts';
import {within} from '../charts/releases.ts';
import {notSupported, suggestCharts, unsupported} from '../charts/support.ts';
import {newestOf, targetOf} from '../charts/target.ts';
import {failed, type Warning} from '../ground/errors.ts';
import {sameTree, type Values} from '../ground/tree.ts';
import {InvalidValue, type Setting, spell} from '../settings/define.ts';
import {set, valuesFile} from '../settings/escape-hatch.ts';
import type {Settings} from '../settings/settings.ts';
import {effectiveValues, readEffective, withoutMethodNames} from './read-values.ts';
import {refuseSecretsIn, renderValues, type ValueOrigin} from './render.ts';
import {applyRules} from './validate/check-rules.ts';
import {ignoredIn, refusePlaceholders, refuseRepeatedVariables} from './validate/check-values.ts';
import {readLayers} from './validate/source.ts';

/** The values for one chart version and everything a command shows about them. */
export interface Generated {
  target: Target;
  /** The settings with the defaults that depend on the chart. */
  settings: Settings;
  /** Effective settings by id, chart defaults included. */
  effective: ReadonlyMap<string, unknown>;
  values: Values;
  origins: readonly ValueOrigin[];
  warnings: readonly Warning[];
  /** Why this chart; absent when the operator chose it. */
  recommendation?: Recommendation;
}

/**
 * Generates the values for one exact chart version; `facts` of the cluster help to recommend a chart, and `read` is the chart itself for
 * a version that this program does not know. Pure. @throws ExpectedError
 */
export function generate(given: Settings, facts: ChartRequirements = {}, read?: Target): Generated {
  let recommendation: Recommendation | undefined;
  const {target, warnings} = targetOf(
    given,
    () => {
      recommendation = recommend(given, facts);
      return recommendation.chart;
    },
    read,
  );
  const refused = unsupported(target, given);
  if (refused.length > 0)
    throw notSupported(refused, target.schema ? [`Use --chart-version ${newestOf(target.chart)}`] : suggestCharts(refused, given));
  const {settings, guesses} = withChartDefaults(given, target);
  refusing(valuesFile, () => refuseSecretsIn(readLayers(settings.get(valuesFile) ?? []), target));
  const rendered = refusing(set, () => renderValues(settings, target));
  const seen = effectiveValues(withoutMethodNames(rendered.values), target);
  const effective = readEffective(seen, target).settings;
  refusePlaceholders(rendered);
  refuseRepeatedVariables(rendered, target);
  refuseOverruled(settings, effective);
  return {
    target,
    settings,
    effective,
    values: rendered.values,
    origins: rendered.origins,
    warnings: [
      ...warnings,
      ...cautions(settings),
      ...rendered.warnings,
      ...guesses,
      ...ignoredIn(rendered.values, seen, target).map(({path, because}) => ({
        code: 'IGNORED_KEY',
        setting: set.id,
        message: `${path} has no effect in ${target.chart} ${target.version}: ${because}.`,
      })),
      ...applyRules(seen, effective, settings, target, facts.kubernetes),
    ],
    ...(recommendation ? {recommendation} : {}),
  };
}

function withChartDefaults(given: Settings, target: Target): {settings: Settings; guesses: Warning[]} {
  const guesses: Warning[] = [];
  const settings = chartFor(target).defaults.reduce((known, {setting, in: range, value}) => {
    if (known.get(setting) !== undefined || !within(target.version, range)) return known;
    const found = value(known.get);
    if (found === undefined) return known;
    if (found.untested !== undefined) {
      guesses.push({
        code: 'GUESS',
        setting: setting.id,
        message: `${spell(setting)} ${found.value} ${found.untested}: verify on a node that it is writable and mounted without noexec.`,
      });
    }
    return known.with(setting, {value: found.value, source: 'default', because: found.because});
  }, given);
  return {settings, guesses};
}

function refusing<T>(setting: Setting<unknown>, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    throw failed('INVALID_SETTING', `${spell(setting)}: ${error.message}.`, error.suggestion === undefined ? [] : [error.suggestion]);
  }
}

/** A key given by --set must not change a setting: reading the values back must give every explicit setting. */
function refuseOverruled(settings: Settings, effective: ReadonlyMap<string, unknown>): void {
  if (settings.get(set) === undefined) return;
  const overruled = settings
    .entries()
    .find(
      ({setting, answer}) =>
        settings.isExplicit(setting) && effective.has(setting.id) && !sameTree(effective.get(setting.id), answer.value),
    );
  if (overruled === undefined) return;
  throw failed('CONFLICTING_SETTINGS', `--set and ${spell(overruled.setting)} set different values for the same setting.`, [
    'Use only one of them',
  ]);
}

const cautions = (settings: Settings): Warning[] =>
  settings.entries().flatMap(({setting, answer}) => {
    const message = setting.caution?.(answer.value, settings.get);
    return message === undefined ? [] : [{code: 'CAUTION', setting: setting.id, message}];
  });
