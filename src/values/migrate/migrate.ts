import {CHART_CHANGES, changeWithUpgrade, knownProblemsOf} from '../../charts/advise.ts';
import {ChartVersion, chartFor} from '../../charts/chart-version.ts';
import {floorOf, isBelow} from '../../charts/charts.ts';
import type {Target} from '../../charts/releases/target.ts';
import {scopeOf} from '../../charts/support.ts';
import type {KeyFinding} from '../../ground/finding.ts';
import {
  at,
  getAt,
  leafPaths,
  type Path,
  sameTree,
  spellPath,
  type Values,
  withoutLeaves,
} from '../../ground/tree.ts';
import {type SecretNames, secretNamesOf} from '../../settings/release.ts';
import {getFrom} from '../../settings/settings.ts';
import {codeAndKey} from '../reading/finding.ts';
import {
  effectiveValues,
  readValues,
  withEntries,
  withoutMethodNames,
} from '../reading/read-values.ts';
import {dotted, isWithin} from '../reading/tree-path.ts';
import {errorsIn} from '../validate/validate.ts';
import {type Change, changeOf, type Move, targetName, withoutRepeats} from './change.ts';
import {type KeptDefaults, keepDefaults} from './keep-defaults.ts';
import {type MappedKeys, mapKeys} from './map-keys.ts';
import {extractSecrets, type SettingEntries, withTextVariables} from './old-settings.ts';

export interface MigrationOptions {
  /** Names of the Secrets to read secrets from. */
  names?: SecretNames;
  keeps?: KeptDefaults;
}

export interface MigratedValues {
  values: Values;
  /** The settings that the old values express, by id, without chart defaults. */
  settings: ReadonlyMap<string, unknown>;
  changes: readonly Change[];
  /** Keys that have other places in the new values. */
  moves: readonly Move[];
}

/**
 * Values of one chart version for another version or chart. The rows of the charts read and write settings; keys without a setting are
 * kept where the target has them, and everything else is listed. The result contains no token: the target reads it from a Secret. Pure.
 */
export function migrateValues(
  given: Values,
  source: Target,
  target: Target,
  {names = secretNamesOf(), keeps = 'security'}: MigrationOptions = {},
): MigratedValues {
  const from = ChartVersion.of(source);
  const to = ChartVersion.of(target);
  const {
    values,
    settings: explicit,
    changes: secrets,
  } = extractSecrets(withoutMethodNames(given), from, names);
  const carried = mapKeys(values, explicit, from, to);
  const {values: settled, changes, moves} = settleValues(values, carried, from, to);
  const settings = new Map(explicit.map(({setting, value}) => [setting.id, value]));
  const lost = withoutEffect(explicit, settled, changes, to);
  const {values: after, changes: defaults} =
    keeps === 'none'
      ? {values: settled, changes: []}
      : keepDefaults({before: values, after: settled, settings}, from, to, keeps);
  return {
    values: after,
    settings,
    changes: withoutRepeats([
      ...requirements(values, from, to),
      ...secrets,
      ...changes,
      ...lost,
      ...defaults,
    ]),
    moves,
  };
}

/** Settings that the new values do not express, because a key they require is not carried over. */
function withoutEffect(
  explicit: readonly SettingEntries[],
  after: Values,
  changes: readonly Change[],
  to: Target,
): Change[] {
  const read = readValues(withTextVariables(after, to), to).settings;
  const listed = new Set(changes.map(({subject}) => subject.path));
  return explicit.flatMap(({setting, value, leaves}) => {
    const [path] = leaves;
    const isKnown =
      path === undefined ||
      sameTree(read.get(setting.id), value) ||
      leaves.some((each) => listed.has(spellPath(each)));
    return isKnown
      ? []
      : [
          changeOf(
            'dropped',
            path,
            `has no effect in ${targetName(to)} without the keys that are not carried over.`,
          ),
        ];
  });
}

/** What the target requires and the old version did not. */
export function requirements(given: Values, from: Target, to: Target): Change[] {
  const old = floorOf(from);
  const floor = floorOf(to);
  const isHigher =
    floor !== undefined &&
    (old === undefined || isBelow(old.version, floor.version) || (floor.isHard && !old.isHard));
  return [
    ...(isHigher
      ? [
          needs(
            `${targetName(to)} requires Kubernetes ${floor.version} or newer: ${floor.because}.`,
            CHECK_CLUSTER,
          ),
        ]
      : []),
    ...(from.chart === to.chart
      ? knownProblems(given, from, to)
      : [
          needs(
            `A change from ${from.chart} to ${to.chart} with Helm alone ${CHART_CHANGES.helm}.`,
            changeWithUpgrade(to.chart),
          ),
        ]),
  ];
}

const CHECK_CLUSTER = 'Check the cluster: scalr-agent preflight';
const needs = (message: string, remedy?: string): Change =>
  changeOf('requirement', [], message, remedy);

/** Without the effects that the migrated values avoid. The name of the release is unknown, so the default name is assumed. */
const knownProblems = (given: Values, from: Target, to: Target): Change[] =>
  knownProblemsOf(from, to, {release: 'scalr-agent', values: effectiveValues(given, from)})
    .filter(({code, verdict}) => verdict !== 'note' && code !== 'KEYS_RENAMED')
    .map(({code, verdict, reason, remedy}) => ({...needs(`${reason}.`, remedy), code, verdict}));

/**
 * Makes the new values valid: writes an old default where the new one does not fit, and drops keys that the target rejects. Errors that
 * the old values have too are left to the user.
 */
function settleValues(before: Values, carried: MappedKeys, from: Target, to: Target): MappedKeys {
  const old: OldValues = {
    values: before,
    settings: readValues(before, from).settings,
    errors: new Set(errorsIn(before, from).map(codeAndKey)),
  };
  let state = carried;
  // Every round writes or drops at least one key.
  for (let rounds = 2 * leafPaths(carried.values).length + 9; rounds > 0; rounds -= 1) {
    const errors = errorsIn(state.values, to);
    const next = withOldDefault(state, errors, old, to) ?? withoutInvalid(state, errors, old, to);
    if (next === undefined) break;
    state = next;
  }
  return {...state, moves: state.moves.filter((each) => each.to.length > 0)};
}

/** What was read from the old values. */
interface OldValues {
  values: Values;
  settings: ReadonlyMap<string, unknown>;
  /** The codes and paths of their own errors. */
  errors: ReadonlySet<string>;
}

/** Undefined if no old default resolves an error. */
function withOldDefault(
  carried: MappedKeys,
  errors: readonly KeyFinding[],
  {settings: old}: OldValues,
  to: Target,
): MappedKeys | undefined {
  const scope = scopeOf(to, getFrom(old));
  for (const {subject} of errors) {
    const name = subject.path;
    const path = at(name);
    const row = chartFor(to).rows.find((each) => each.paths.some((key) => sameTree(key, path)));
    const value = row && old.get(row.setting.id);
    if (row === undefined || value === undefined || getAt(carried.values, path) !== undefined)
      continue;
    const values = withEntries(carried.values, row.write(value, scope));
    if (errorsIn(values, to).some((each) => each.subject.path === name)) continue;
    const message = `the default in ${targetName(to)} does not fit the other keys. The old default is written.`;
    return {...carried, values, changes: [...carried.changes, changeOf('kept', path, message)]};
  }
  return undefined;
}

/** Undefined if no error concerns a key that was valid before. */
function withoutInvalid(
  carried: MappedKeys,
  errors: readonly KeyFinding[],
  {values: before, errors: own}: OldValues,
  to: Target,
): MappedKeys | undefined {
  const {values, changes, moves} = carried;
  // Several old keys can have become one.
  const origins = (path: Path): Path[] => {
    const moved = moves
      .filter((each) => each.to.some((place) => sameTree(place, path)))
      .map(({from}) => from);
    return moved.length === 0 || getAt(before, path) !== undefined ? [path, ...moved] : moved;
  };
  const paths = leafPaths(values);
  for (const finding of errors) {
    const gone = paths.filter((path) => concerns(finding, path));
    const old = gone.flatMap(origins);
    if (gone.length === 0 || old.some((path) => own.has(`${finding.code} ${dotted(path)}`)))
      continue;
    const isGone = (path: Path): boolean => gone.some((each) => sameTree(each, path));
    const sources = new Map(old.map((path) => [spellPath(path), path]));
    return {
      values: withoutLeaves(values, isGone),
      changes: [
        ...changes.filter(({kind, subject}) => kind !== 'renamed' || !sources.has(subject.path)),
        ...[...sources.values()].map((path) =>
          changeOf(
            'dropped',
            path,
            `rejected by ${targetName(to)}: ${finding.message}`,
            finding.remedies[0]?.text,
          ),
        ),
      ],
      moves: moves.map((each) => ({...each, to: each.to.filter((path) => !isGone(path))})),
    };
  }
  return undefined;
}

/** True for the key of the finding, and for keys above and below it. */
function concerns(finding: KeyFinding, path: Path): boolean {
  const name = dotted(path);
  return isWithin(finding.subject.path, name) || isWithin(name, finding.subject.path);
}
