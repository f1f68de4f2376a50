import {ChartVersion, chartFor} from '../charts/chart-version.ts';
import {type ChartRequirements, type Recommendation, recommend} from '../charts/recommend.ts';
import type {SchemaNode} from '../charts/releases/schema.ts';
import {newestOf, type Target} from '../charts/releases/target.ts';
import type {Row, Scope, ValuesEntry} from '../charts/shared/row.ts';
import {isWrittenWithoutRow, notSupported, rowsFor} from '../charts/shared/support.ts';
import {scopeOf, unsupported} from '../charts/support.ts';
import {targetOf} from '../charts/target-of.ts';
import {ExpectedError, failed} from '../ground/errors.ts';
import {
  changing,
  type Remedy,
  remedyTexts,
  type SettingFinding,
  settingProblem,
  warningOf,
} from '../ground/finding.ts';
import {
  copyOf,
  getAt,
  isMap,
  leafPaths,
  mergeValues,
  type Path,
  sameTree,
  setAt,
  spellPath,
  startsWith,
  type Tree,
  type Values,
} from '../ground/tree.ts';
import {set, valuesFile} from '../settings/chart-values.ts';
import {type Setting, spell} from '../settings/define.ts';
import {InvalidValue} from '../settings/kinds/kind.ts';
import {chart, chartSource, chartVersion} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {type Spell, withValue} from '../settings/spelling.ts';
import {parseAssignment, refuseSecretsIn} from './assignment.ts';
import {refuseClearText} from './clear-text.ts';
import {FIRST_EXPONENT} from './reading/go-numbers.ts';
import {
  effectiveGet,
  effectiveValues,
  readEffective,
  withoutMethodNames,
} from './reading/read-values.ts';
import {readLayers} from './reading/source.ts';
import {applyRules} from './rules/check-rules.ts';
import {ignoredIn, refusePlaceholders, refuseRepeatedVariables} from './rules/check-values.ts';
import {suggestCharts} from './suggest-chart.ts';

/** The values for one chart version and everything a command shows about them. */
export interface GeneratedValues {
  target: Target;
  /** The settings with the defaults that depend on the chart. */
  settings: Settings;
  /** Effective settings by id, chart defaults included. */
  effective: ReadonlyMap<string, unknown>;
  values: Values;
  origins: readonly ValueOrigin[];
  warnings: readonly SettingFinding[];
  /** Why this chart; absent when the operator chose it. */
  recommendation?: Recommendation;
}

/** What is known besides the settings. */
export interface GenerateFacts extends ChartRequirements {
  /** How texts spell a setting (default: as its flag). */
  spell?: Spell;
}

/**
 * Generates the values for one exact chart version; `facts` of the cluster help to recommend a chart, and `read` is the chart itself for
 * a version that this program does not know. Pure. @throws ExpectedError
 */
export function generate(
  given: Settings,
  facts: GenerateFacts = {},
  read?: Target,
): GeneratedValues {
  let recommendation: Recommendation | undefined;
  const {target, warnings} = targetOf(
    given,
    () => {
      recommendation = recommend(given, facts);
      return recommendation.chart;
    },
    read,
  );
  const {spell: spelled = spell} = facts;
  refuseUnsupported(given, target, facts);
  const {settings, guesses} = withChartDefaults(given, target, spelled);
  refusing(valuesFile, () => refuseSecretsIn(readLayers(settings.get(valuesFile) ?? []), target));
  const {values, origins, ...written} = refusing(set, () =>
    renderValues(settings, target, spelled),
  );
  const seen = effectiveValues(withoutMethodNames(values), target);
  const effective = readEffective(seen, target).settings;
  refusePlaceholders({values, origins});
  refuseClearText(
    values,
    settings,
    (path) => origins.findLast((origin) => startsWith(path, origin.path))?.setting,
  );
  refuseRepeatedVariables({values, origins}, target);
  refuseOverruled(settings, effective, () => readAlone(settings, target, spelled));
  const input = {
    values: seen,
    get: effectiveGet(settings, effective),
    isExplicit: settings.isExplicit,
    kubernetes: facts.kubernetes,
    spell: spelled,
  };
  return {
    target,
    settings,
    effective,
    values,
    origins,
    warnings: [
      ...warnings,
      ...cautions(settings),
      ...written.warnings,
      ...guesses,
      ...ignoredKeys(values, seen, target),
      ...applyRules(input, target),
    ],
    ...(recommendation ? {recommendation} : {}),
  };
}

/** @throws ExpectedError with other charts or versions for settings that the chart does not support */
function refuseUnsupported(given: Settings, target: Target, facts: GenerateFacts): void {
  const refused = unsupported(target, given, facts.spell);
  if (refused.length === 0) return;
  if (target.schema !== undefined)
    throw notSupported(
      refused,
      [howToUseKnown(given, target)],
      [`If the chart has another key for it, use --set`],
    );
  const works = (other: Settings): boolean => isGenerated(other, facts);
  throw notSupported(refused, suggestCharts(refused, given, target, works));
}

const ignoredKeys = (values: Values, effective: Values, target: Target): SettingFinding[] =>
  ignoredIn(values, effective, target).map(({path, because}) =>
    warningOf(
      'IGNORED_KEY',
      `${path} has no effect in ${target.chart} ${target.version}: ${because}.`,
      set.id,
    ),
  );

/** False if the settings are rejected. */
function isGenerated(settings: Settings, facts: ChartRequirements): boolean {
  try {
    return generate(settings, facts).values !== undefined;
  } catch (error) {
    if (error instanceof ExpectedError) return false;
    throw error;
  }
}

const howToUseKnown = (given: Settings, {chart: name}: Target): Remedy =>
  given.get(chartSource) === undefined
    ? changing`Use ${withValue(chartVersion, newestOf(name))}`
    : changing`Use ${withValue(chart, name)} ${withValue(chartVersion, newestOf(name))} instead of ${chartSource}`;

function withChartDefaults(
  given: Settings,
  target: Target,
  spelled: Spell,
): {settings: Settings; guesses: SettingFinding[]} {
  const guesses: SettingFinding[] = [];
  const settings = chartFor(target).defaults.reduce((known, {setting, value}) => {
    if (known.get(setting) !== undefined) return known;
    const found = value(known.get);
    if (found === undefined) return known;
    if (found.untested !== undefined) {
      guesses.push(
        warningOf(
          'GUESS',
          `${spelled(setting)} ${found.value} ${found.untested}: verify on a node that it is writable and mounted without noexec.`,
          setting.id,
        ),
      );
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
    const {message, suggestion} = error;
    const problem = settingProblem(
      'INVALID_SETTING',
      {setting: setting.id},
      {message: `${message}.`, suggestion},
    );
    throw failed('INVALID_SETTING', `${spell(setting)}: ${message}.`, remedyTexts([problem]), {
      problems: [problem],
    });
  }
}

/** What the settings give without --set. */
function readAlone(settings: Settings, target: Target, spelled: Spell) {
  const {values} = renderValues(settings.without(set), target, spelled);
  return readEffective(effectiveValues(withoutMethodNames(values), target), target).settings;
}

/** A key given by --set must not change what an explicit setting gives. */
function refuseOverruled(
  settings: Settings,
  effective: ReadonlyMap<string, unknown>,
  readOthers: () => ReadonlyMap<string, unknown>,
): void {
  if (settings.get(set) === undefined) return;
  const alone = readOthers();
  const overruled = settings.entries().find(({setting, answer}) => {
    const given = alone.has(setting.id) ? alone.get(setting.id) : answer.value;
    return (
      settings.isExplicit(setting) &&
      effective.has(setting.id) &&
      !sameTree(effective.get(setting.id), given)
    );
  });
  if (overruled === undefined) return;
  throw failed(
    'CONFLICTING_SETTINGS',
    `--set and ${spell(overruled.setting)} set different values for the same setting.`,
    ['Use only one of them'],
  );
}

const cautions = (settings: Settings): SettingFinding[] =>
  settings.entries().flatMap(({setting, answer}) => {
    const message = setting.caution?.(answer.value, settings.get);
    return message === undefined ? [] : [warningOf('CAUTION', message, setting.id)];
  });

/** A key of values.yaml and the setting that wrote it. */
export interface ValueOrigin {
  path: Path;
  setting: Setting;
  /** The reason, where the setting does not explain it. */
  why?: string;
  /** Derived from other keys, not from a setting of the user. */
  isDerived?: true;
}

interface RenderedValues {
  values: Values;
  origins: readonly ValueOrigin[];
  warnings: readonly SettingFinding[];
}

/**
 * Writes settings as values of one chart version: only what differs from the chart defaults.
 * Unsupported settings must have been refused before. @throws InvalidValue for an invalid assignment
 */
function renderValues(settings: Settings, target: Target, spelled: Spell): RenderedValues {
  const writer = new ValuesWriter(settings, target, spelled);
  writer.writeSettings();
  writer.writeAssignments();
  writer.writeDerived();
  const {values, origins, warnings} = writer;
  return {values: withoutLargeNumbers(values, target), origins, warnings};
}

class ValuesWriter {
  readonly values: Values;
  readonly origins: ValueOrigin[];
  readonly warnings: SettingFinding[] = [];
  readonly #settings: Settings;
  readonly #target: Target;
  readonly #scope: Scope;
  readonly #ofFiles: Values;
  /** Also keys that keep the chart default because the user asked for that value. */
  readonly #chosen = new Set<string>();

  constructor(settings: Settings, target: Target, spelled: Spell) {
    this.#settings = settings;
    this.#target = target;
    this.#scope = scopeOf(target, settings.get, spelled);
    this.#ofFiles = readLayers(settings.get(valuesFile) ?? []);
    this.values = copyOf(this.#ofFiles);
    const setting = valuesFile as Setting;
    this.origins = leafPaths(this.#ofFiles).map((path) => ({path, setting}));
  }

  writeSettings(): void {
    const written = mergeValues(this.#scope.defaults, this.#ofFiles);
    for (const {setting, answer} of this.#settings.entries()) {
      if (isWrittenWithoutRow(setting) || answer.source === 'values-file') continue;
      for (const row of rowsFor(chartFor(this.#target), setting, answer.value, this.#scope)) {
        const isExplicit = this.#settings.isExplicit(setting);
        // Values files take precedence over defaults.
        if (!isExplicit && this.#isInFiles(row, answer.value)) continue;
        this.#add(setting, changes(row, answer.value, this.#scope, written));
        if (isExplicit) this.#noteChosen(row, setting, answer.value);
      }
    }
  }

  /** A file sets what the row would write. A row of a map writes single keys of it, and leaves the others alone. */
  #isInFiles(row: Row, value: unknown): boolean {
    const written = row.write(value, this.#scope).map(([path]) => path);
    return row.paths.some((path) => {
      const below = written.filter((each) => startsWith(each, path));
      const taken = below.length === 0 ? [path] : below;
      return taken.some((each) => getAt(this.#ofFiles, each) !== undefined);
    });
  }

  #noteChosen(row: Row, setting: Setting, value: unknown): void {
    for (const [path] of row.write(value, this.#scope)) this.#chosen.add(spellPath(path));
    const message = row.partly?.(value, this.#scope);
    if (message !== undefined && !this.warnings.some((each) => each.message === message))
      this.warnings.push(warningOf(row.code ?? 'PARTLY_SUPPORTED', message, setting.id));
  }

  /** The keys that users set by their names. */
  writeAssignments(): void {
    for (const [text, value] of Object.entries(this.#settings.get(set) ?? {})) {
      const assigned = parseAssignment(text, value, this.#target);
      refuseConflict(text, assigned.path, this.origins, this.#settings);
      this.#add(set as Setting, [[assigned.path, assigned.value]]);
    }
  }

  /** What follows from other keys. */
  writeDerived(): void {
    const isWritten = (path: Path): boolean =>
      this.#chosen.has(spellPath(path)) || getAt(this.values, path) !== undefined;
    for (const {setting, write} of chartFor(this.#target).derived ?? [])
      this.#add(setting, write(mergeValues(this.#scope.defaults, this.values), isWritten), true);
  }

  #add(setting: Setting, entries: readonly ValuesEntry[], isDerived = false): void {
    for (const [path, value, why] of entries) {
      setAt(this.values, path, value);
      this.origins.push({
        path,
        setting,
        ...(why !== undefined && {why}),
        ...(isDerived && {isDerived}),
      });
    }
  }
}

/** Entries of a row that differ from the written values; the same quantity in another notation is not a change. */
function changes(row: Row, value: unknown, scope: Scope, written: Values): readonly ValuesEntry[] {
  const entries = row
    .write(value, scope)
    .filter(([path, tree]) => !sameTree(getAt(written, path), tree));
  const isDefault = entries.length === 1 && sameTree(row.read(written, scope), value);
  return isDefault ? [] : entries;
}

function refuseConflict(
  text: string,
  path: Path,
  origins: readonly ValueOrigin[],
  settings: Settings,
): void {
  const other = origins.find(
    ({path: other, setting}) =>
      setting.id !== valuesFile.id &&
      (startsWith(other, path) || startsWith(path, other)) &&
      settings.isExplicit(setting),
  );
  if (other)
    throw new InvalidValue(
      `"${text}" is already set by ${spell(other.setting)}`,
      'Use only one of them',
    );
}

/**
 * Writes large numbers as texts, which templates print unchanged. Not below keys with a Kubernetes type: templates print
 * those as YAML, which keeps numbers whole, and Kubernetes would refuse a text.
 */
export function withoutLargeNumbers(values: Values, target: Target): Values {
  return withTexts(values, ChartVersion.of(target).closedSchema) as Values;
}

function withTexts(tree: Tree, node: SchemaNode | undefined): Tree {
  if (node?.['x-kubernetes'] !== undefined) return tree;
  if (Array.isArray(tree)) return tree.map((each) => withTexts(each, undefined));
  if (isMap(tree))
    return Object.fromEntries(
      Object.entries(tree).map(([key, below]) => [key, withTexts(below, node?.properties?.[key])]),
    );
  return typeof tree === 'number' && Math.abs(tree) >= FIRST_EXPONENT ? String(tree) : tree;
}
