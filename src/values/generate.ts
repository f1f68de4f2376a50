import {CHARTS} from '../charts/charts.ts';
import type {Scope, Target} from '../charts/define.ts';
import {type Recommendation, recommend} from '../charts/recommend.ts';
import {within} from '../charts/releases.ts';
import {scopeOf, unsupported, whereElse} from '../charts/support.ts';
import {targetOf} from '../charts/target.ts';
import {getAt, isMap, type Values} from '../charts/tree.ts';
import {ExitCode, ExpectedError, type Warning} from '../errors.ts';
import {catalogue} from '../settings/catalogue.ts';
import {type Get, InvalidValue, type Setting, spell} from '../settings/define.ts';
import {extraEnv} from '../settings/escape-hatch.ts';
import {chart, chartVersion} from '../settings/release.ts';
import type {AnswerSource, Settings} from '../settings/settings.ts';
import {readValues} from './read.ts';
import {type Origin, renderValues} from './render.ts';

/** Everything there is to say about the values of one chart version. */
export interface Generated {
  target: Target;
  /** Settings with the defaults that follow from the chart. */
  settings: Settings;
  /** What holds after the install, defaults of the chart included, for settings nobody gave. */
  effective: ReadonlyMap<string, unknown>;
  values: Values;
  origins: readonly Origin[];
  warnings: readonly Warning[];
  /** Why this chart; absent when the operator named it. */
  recommendation?: Recommendation;
}

/** Settings in, values out, right for one exact chart version. Pure. @throws ExpectedError */
export function generate(given: Settings): Generated {
  let recommendation: Recommendation | undefined;
  const {target, warnings} = targetOf(given, () => {
    recommendation = recommend(given);
    return recommendation.chart;
  });
  refuseUnsupported(target, given);
  const {settings, guesses} = withChartDefaults(given, target);
  const rendered = renderOrRefuse(settings, target);
  const effective = readValues(rendered.values, target).settings;
  const scope = scopeOf(target, effectiveGet(settings, effective));
  refuseOwnVariables(rendered.values, target);
  return {
    target,
    settings,
    effective,
    values: rendered.values,
    origins: rendered.origins,
    warnings: [...warnings, ...cautions(settings), ...rendered.warnings, ...guesses, ...applyRules(target, scope, settings)],
    ...(recommendation ? {recommendation} : {}),
  };
}

const effectiveGet =
  (settings: Settings, effective: ReadonlyMap<string, unknown>): Get =>
  <T>(setting: Setting<T>) =>
    settings.get(setting) ?? (effective.get(setting.id) as T | undefined);

function refuseUnsupported(target: Target, settings: Settings): void {
  const refused = unsupported(target, settings);
  if (refused.length === 0) return;
  throw new ExpectedError(refused.map(({message}) => `${message}.`).join('\n'), {
    code: 'UNSUPPORTED_SETTING',
    exit: ExitCode.usage,
    suggestions: [
      ...whereElse(
        refused.map(({setting}) => setting),
        settings,
      ),
      `Leave out ${refused.map(({setting}) => spell(setting)).join(', ')}`,
    ],
  });
}

function withChartDefaults(given: Settings, {chart: name, version}: Target): {settings: Settings; guesses: Warning[]} {
  const guesses: Warning[] = [];
  const settings = CHARTS[name].defaults.reduce((known, {setting, in: range, value}) => {
    if (known.get(setting) !== undefined || !within(version, range)) return known;
    const found = value(known.get);
    if (found === undefined) return known;
    if (found.isGuess) {
      guesses.push({
        code: 'GUESS',
        setting: setting.id,
        message: `${spell(setting)} ${found.value} is a guess, because ${found.because}: test on a node that it can be written to and executed from.`,
      });
    }
    return known.with(setting, {value: found.value, source: 'default', because: found.because});
  }, given);
  return {settings, guesses};
}

function renderOrRefuse(settings: Settings, target: Target): ReturnType<typeof renderValues> {
  try {
    return renderValues(settings, target);
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    throw new ExpectedError(`--set: ${error.message}.`, {
      code: 'INVALID_SETTING',
      exit: ExitCode.usage,
      suggestions: error.suggestion === undefined ? [] : [error.suggestion],
    });
  }
}

const cautions = (settings: Settings): Warning[] =>
  settings.entries().flatMap(({setting, answer}) => {
    const message = setting.caution?.(answer.value, settings.get);
    return message === undefined ? [] : [{code: 'CAUTION', setting: setting.id, message}];
  });

function applyRules({chart: name, version}: Target, scope: Scope, settings: Settings): Warning[] {
  const found = CHARTS[name].rules
    .filter((rule) => within(version, rule.in))
    .flatMap((rule) => {
      const finding = rule.test(scope.get, scope);
      return finding === undefined || (rule.whenAsked && !settings.isExplicit(finding.setting)) ? [] : [{rule, ...finding}];
    });
  const errors = found.filter(({rule}) => rule.severity === 'error');
  if (errors.length > 0) {
    throw new ExpectedError(errors.map(({message}) => `${name} ${version}: ${message}.`).join('\n'), {
      code: 'CONFLICTING_SETTINGS',
      exit: ExitCode.usage,
      suggestions: errors.flatMap(({suggestion}) => (suggestion === undefined ? [] : [suggestion])),
    });
  }
  return found.map(({rule, setting, message}) => ({code: rule.id, setting: setting.id, message}));
}

/** A variable that a template sets too would stand twice in the pod: Helm 4 refuses that, Helm 3 loses one later (R33). */
function refuseOwnVariables(values: Values, {chart: name, version}: Target): void {
  const maps = CHARTS[name].rows.filter((row) => row.setting === extraEnv && within(version, row.in)).flatMap((row) => row.paths);
  const own = new Set(CHARTS[name].ownVariables.filter((each) => within(version, each.in)).map((each) => each.name));
  const names = maps.flatMap((path) => {
    const map = getAt(values, path);
    return isMap(map) ? Object.keys(map).filter((each) => own.has(each)) : [];
  });
  if (names.length === 0) return;
  throw new ExpectedError(`${name} ${version} sets ${[...new Set(names)].join(', ')} itself, so it must not be an extra variable.`, {
    code: 'RESERVED_VARIABLE',
    exit: ExitCode.usage,
    suggestions: ['Leave it out, or set the key of the chart with --set'],
  });
}

/** A setting that holds after the install, and who said so. */
export interface Explained {
  id: string;
  value: unknown;
  source: AnswerSource;
  because?: string;
}

/** Every setting that holds after the install, in the order of the catalogue, secrets left out. */
export function explain({settings, effective, target}: Generated): Explained[] {
  const chosen: Readonly<Record<string, string>> = {[chart.id]: target.chart, [chartVersion.id]: target.version};
  return catalogue.flatMap((setting): Explained[] => {
    if (setting.kind.isSecret) return [];
    const answer = settings.answer(setting);
    if (answer) {
      const value = answer.given ?? setting.kind.shown?.(answer.value) ?? answer.value;
      return [{id: setting.id, value, source: answer.source, ...(answer.because ? {because: answer.because} : {})}];
    }
    if (chosen[setting.id] !== undefined) return [{id: setting.id, value: chosen[setting.id], source: 'default'}];
    const value = effective.get(setting.id);
    return value === undefined ? [] : [{id: setting.id, value, source: 'chart'}];
  });
}
