import {chartFor} from '../../charts/chart-version.ts';
import {matchingKey} from '../../charts/moved-keys.ts';
import {knowsKey} from '../../charts/releases/keys.ts';
import type {Target} from '../../charts/releases/target.ts';
import {isUnknown} from '../../charts/releases/target.ts';
import type {ValuesEntry} from '../../charts/shared/row.ts';
import {refusalReason, rowsFor} from '../../charts/shared/support.ts';
import {scopeOf} from '../../charts/support.ts';
import {
  at,
  getAt,
  leafPaths,
  type Path,
  sameTree,
  spellPath,
  startsWith,
  type Tree,
  type Values,
} from '../../ground/tree.ts';
import {extraEnv} from '../../settings/chart-values.ts';
import type {Get, Setting} from '../../settings/define.ts';
import {getFrom} from '../../settings/settings.ts';
import {withoutLargeNumbers} from '../generate.ts';
import {effectiveValues, readValues, withEntries} from '../reading/read-values.ts';
import {ignoredIn} from '../rules/check-values.ts';
import {suggestKey} from '../rules/suggest-key.ts';
import {type Change, changeOf, lineOf, type Move, shownValue, targetName} from './change.ts';
import {isSameValue, type SettingEntries} from './old-settings.ts';

/** New values, and how they differ from the old ones. */
export interface MappedKeys {
  values: Values;
  changes: readonly Change[];
  moves: readonly Move[];
}

/** A setting with what the target writes for it. */
interface Rewritten extends SettingEntries {
  after: readonly ValuesEntry[];
  isSupported: boolean;
  /** Every key keeps its place and its value. */
  isInPlace: boolean;
  /** The same row writes both versions. */
  isSpeltAlike: boolean;
  /** A key keeps its place although the target has a new one. */
  isFormer: boolean;
  limits: readonly string[];
}

/** Carries keys and settings over to the target. */
export function mapKeys(
  values: Values,
  explicit: readonly SettingEntries[],
  from: Target,
  to: Target,
): MappedKeys {
  const change = {values, from, to};
  const settings = rewrite(explicit, change);
  const fates = leafPaths(values).map((path) => ({path, ...fateOf(path, settings, change)}));
  const entryOf = (path: Path, place = path): ValuesEntry => [place, getAt(values, path) as Tree];
  const kept = withEntries(
    {},
    fates.flatMap(({path, isKept}) => (isKept ? [entryOf(path)] : [])),
  );
  const moved = fates.reduce(
    (tree, {path, to: place}) =>
      place && getAt(tree, place) === undefined ? withEntries(tree, [entryOf(path, place)]) : tree,
    kept,
  );
  const written = settings.flatMap(({isInPlace, after}) => (isInPlace ? [] : after));
  const result = withDerived(withCompleteKeys(withEntries(moved, written), settings, to), from, to);
  const read = readValues(result, to).settings;
  const oldRead = readValues(values, from).settings;
  const reinterpreted = settings.filter(
    ({setting, value, isInPlace}) =>
      isInPlace &&
      ![value, oldRead.get(setting.id)].some((each) => sameTree(read.get(setting.id), each)),
  );
  return {
    values: withoutLargeNumbers(result, to),
    changes: [
      ...fates.flatMap(({changes}) => changes),
      ...fates.flatMap(({path, isKept}) =>
        isKept && !sameTree(getAt(result, path), getAt(values, path))
          ? [replaced(path, result)]
          : [],
      ),
      ...reinterpreted.flatMap(({leaves}) =>
        leaves.map((path) =>
          changeOf('kept', path, `unchanged, but ${targetName(to)} has another default.`),
        ),
      ),
      ...limitsOf(settings, to),
    ],
    moves: fates.flatMap(({path, moves}) => (moves.length === 0 ? [] : [{from: path, to: moves}])),
  };
}

/** Values of one version that become values of another. */
interface ValuesChange {
  values: Values;
  from: Target;
  to: Target;
}

const isWithinChart = ({from, to}: ValuesChange): boolean => from.chart === to.chart;

function rewrite(explicit: readonly SettingEntries[], change: ValuesChange): Rewritten[] {
  const get = getFrom(new Map(explicit.map(({setting, value}) => [setting.id, value])));
  return explicit.map((each) => rewriteSetting(each, change, get));
}

function rewriteSetting(given: SettingEntries, change: ValuesChange, get: Get): Rewritten {
  const {setting, value, leaves, before} = given;
  const {from, to} = change;
  const scope = scopeOf(to, get);
  const old = scopeOf(from, get);
  const rows = rowsFor(chartFor(to), setting, value, scope);
  const oldRows = rowsFor(chartFor(from), setting, value, old);
  const written = rows.flatMap((row) => row.write(value, scope));
  const {after, limits} = withoutGain(given, written, change);
  const isSpeltAlike =
    isWithinChart(change) &&
    oldRows.every((row) => chartFor(to).rows.includes(row)) &&
    leaves.every((path) => knowsKey(to, path));
  const isFormer =
    isWithinChart(change) &&
    leaves.some((path) => knowsKey(to, path) && isStillRead(path, change) !== undefined);
  const isSame = (path: Path): boolean => isSameValue(valueIn(before, path), valueIn(after, path));
  const known = new Set(oldRows.map((row) => row.partly?.(value, old)));
  const partly = rows.flatMap((row) => row.partly?.(value, scope) ?? []);
  return {
    ...given,
    after,
    isSupported: rows.length > 0,
    isSpeltAlike,
    isFormer,
    isInPlace: isFormer || (leaves.length > 0 && (isSpeltAlike || leaves.every(isSame))),
    limits: [...partly.filter((text) => !known.has(text)), ...limits],
  };
}

/** Extra variables reach the same containers as before, as far as the target can restrict them. */
function withoutGain(
  {setting, leaves}: SettingEntries,
  written: readonly ValuesEntry[],
  change: ValuesChange,
): Pick<Rewritten, 'after' | 'limits'> {
  const {from, to} = change;
  const reached = reachedBy(leaves, from);
  if (!isWithinChart(change) || reached.size === 0) return {after: written, limits: []};
  const isReached = ([path]: ValuesEntry): boolean =>
    [...reachedBy([path], to)].some((name) => reached.has(name));
  const after = setting === (extraEnv as Setting) ? written.filter(isReached) : written;
  const places = after.map(([path]) => path);
  const gained = [...reachedBy(places, to)].filter((name) => !reached.has(name));
  const limits: string[] = [];
  if (after.length < written.length)
    limits.push(
      `Extra variables did not reach runs in ${targetName(from)}, so they are not set for them.`,
    );
  if (gained.length > 0)
    limits.push(
      `${leaves.map(spellPath).join(', ')} reached only the ${[...reached].join(' and ')} in ${targetName(from)}, and now also reaches the ${gained.join(' and ')}.`,
    );
  return {after, limits};
}

/** The containers that get the variables at these paths; all of them for those below `global`, such as the proxy. */
const reachedBy = (paths: readonly Path[], target: Target): ReadonlySet<string> =>
  new Set(
    chartFor(target)
      .containers.filter(({extraEnv}) =>
        paths.some((path) => ['global', ...extraEnv].some((map) => startsWith(path, at(map)))),
      )
      .map(({name}) => name),
  );
/** The value that entries write at a path, also inside of a map. */
const valueIn = (entries: readonly ValuesEntry[], path: Path): Tree | undefined =>
  getAt(withEntries({}, entries), path);

/** What becomes of one key. */
interface Fate {
  isKept?: boolean;
  /** The place of a key without a setting. */
  to?: Path;
  moves: readonly Path[];
  changes: readonly Change[];
}

const KEPT: Fate = {isKept: true, moves: [], changes: []};

function fateOf(path: Path, settings: readonly Rewritten[], change: ValuesChange): Fate {
  const {values, from, to} = change;
  const own = settings.filter(({leaves}) => leaves.some((leaf) => sameTree(leaf, path)));
  const still = isWithinChart(change) && knowsKey(to, path) ? isStillRead(path, change) : undefined;
  if (still) return {...KEPT, changes: [changeOf('kept', path, still.because, still.remedy)]};
  if (own.length > 0)
    return own.every(({isInPlace}) => isInPlace) ? KEPT : fateOfSetting(path, values, own, to);
  const place = matchingKey(path, from, to);
  if (knowsKey(from, path)) {
    if (place && knowsKey(to, place))
      return {
        to: place,
        moves: [place],
        changes: sameTree(place, path) ? [] : [renamed(path, [place])],
      };
    if (isWithinChart(change) && knowsKey(to, path)) return KEPT;
  }
  return {moves: [], changes: [dropped(path, change)]};
}

function fateOfSetting(path: Path, values: Values, own: readonly Rewritten[], to: Target): Fate {
  const entries = own.flatMap(({after}) => after);
  const value = getAt(values, path) as Tree;
  const places = leafEntries(entries);
  const best = [
    places.filter(([key, tree]) => key.at(-1) === path.at(-1) && isSameValue(tree, value)),
    places.filter(([, tree]) => isSameValue(tree, value)),
    places.filter(([key]) => key.at(-1) === path.at(-1)),
    places,
  ].find((each) => each.length > 0);
  if (best) {
    const isSame =
      best.length === 1 && sameTree(best[0]?.[0], path) && isSameValue(best[0]?.[1], value);
    const moves = best.map(([key]) => key);
    return {moves, changes: isSame ? [] : [renamed(path, moves, {value, best})]};
  }
  const refused = own.find(({isSupported}) => !isSupported);
  const text = refused
    ? `not supported by ${targetName(to)}: ${refusalReason(chartFor(to), refused.setting, refused.value)}.`
    : (own.flatMap(({limits}) => limits)[0] ??
      `not required: ${targetName(to)} always works this way.`);
  return {moves: [], changes: [changeOf('dropped', path, text)]};
}

const leafEntries = (entries: readonly ValuesEntry[]): [Path, Tree][] =>
  entries.flatMap(([path, value]) =>
    leafPaths(value, path).map((leaf): [Path, Tree] => [
      leaf,
      getAt(value, leaf.slice(path.length)) as Tree,
    ]),
  );

function renamed(
  path: Path,
  places: readonly Path[],
  converted?: {value: Tree; best: readonly (readonly [Path, Tree])[]},
): Change {
  const names = places.map(spellPath).join(' and ');
  const [first] = converted?.best ?? [];
  const [before, after] =
    converted && first && !isSameValue(first[1], converted.value)
      ? [shownValue(path, converted.value), shownValue(first[0], first[1])]
      : [];
  const values =
    before === undefined || after === undefined ? '' : `, and ${before} becomes ${after}`;
  const isSame = places.length === 1 && sameTree(places[0], path);
  return changeOf(
    'renamed',
    path,
    isSame ? `${before} becomes ${after}.` : `now ${names}${values}.`,
  );
}

const replaced = (path: Path, result: Values): Change =>
  changeOf(
    'dropped',
    path,
    `replaced: another key requires ${lineOf(path, getAt(result, path) as Tree)}.`,
  );

/** A key that the version reads although it has a new name for it, and that must not change without a decision of the user. */
const isStillRead = (path: Path, {values, to}: ValuesChange) =>
  chartFor(to).formerKeys?.find((each) => each.test(path, values));

function dropped(path: Path, change: ValuesChange): Change {
  const {values, from, to} = change;
  const name = spellPath(path);
  if (!knowsKey(from, path) && !isUnknown(from, false)) {
    const {message, suggestion} = suggestKey(path, values, from);
    return changeOf(
      'dropped',
      path,
      `${message} It had no effect.`,
      suggestion === undefined ? undefined : `Did you mean ${suggestion}?`,
    );
  }
  if (!isWithinChart(change) && knowsKey(to, path))
    return changeOf(
      'dropped',
      path,
      `may have a different meaning in ${targetName(to)}.`,
      `Check the value, and set ${name} in the new file`,
    );
  const ignored = ignoredIn(values, effectiveValues(values, from), from).find((each) =>
    name.startsWith(each.path),
  );
  const {message, suggestion} = suggestKey(path, values, to);
  const reason = knowsKey(from, path)
    ? message
    : `not carried over, because this program does not know ${targetName(from)}.`;
  const text = ignored ? `had no effect in ${targetName(from)}: ${ignored.because}.` : reason;
  return changeOf(
    'dropped',
    path,
    text,
    suggestion === undefined ? undefined : `To set it, use ${suggestion}`,
  );
}

/** A key that keeps its place can need another one: the chart requires it, or another default changes what the key means. */
function withCompleteKeys(values: Values, settings: readonly Rewritten[], to: Target): Values {
  const read = readValues(values, to).settings;
  const open = settings.filter(
    ({setting, value, isInPlace, isSpeltAlike, isFormer}) =>
      isInPlace && !isFormer && !(isSpeltAlike && sameTree(read.get(setting.id), value)),
  );
  return open
    .flatMap(({after}) => after)
    .reduce(
      (tree, entry) => (getAt(tree, entry[0]) === undefined ? withEntries(tree, [entry]) : tree),
      values,
    );
}

/** A key that the old version of the chart has too is as the user left it. */
const withDerived = (values: Values, from: Target, to: Target): Values =>
  (chartFor(to).derived ?? []).reduce((tree, {write}) => {
    const isWritten = (path: Path): boolean =>
      getAt(tree, path) !== undefined || (from.chart === to.chart && knowsKey(from, path));
    return withEntries(tree, write(effectiveValues(tree, to), isWritten));
  }, values);

/** Settings without a key that the target does not support, and settings that it supports in part. */
const limitsOf = (settings: readonly Rewritten[], to: Target): Change[] =>
  settings.flatMap(({setting, value, leaves, isSupported, isInPlace, after, limits}) => {
    if (!isSupported && leaves.length === 0) {
      const reason = refusalReason(chartFor(to), setting, value);
      return [
        changeOf(
          'dropped',
          [],
          `${targetName(to)} does not support ${setting.id} ${setting.kind.format(value).join(', ')}: ${reason}.`,
        ),
      ];
    }
    return isInPlace || after.length > 0
      ? [...new Set(limits)].map((text) => changeOf('kept', after[0]?.[0] ?? [], text))
      : [];
  });
