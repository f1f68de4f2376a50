import {chartFor} from '../../charts/chart-version.ts';
import {knowsKey} from '../../charts/releases/keys.ts';
import {leavesOf, schemaOf} from '../../charts/releases/schema.ts';
import type {Target} from '../../charts/releases/target.ts';
import {isUnprotected, protectionsOf} from '../../charts/security.ts';
import type {ValuesEntry} from '../../charts/shared/row.ts';
import {refusalOf, rowsFor} from '../../charts/shared/support.ts';
import {rowsWithKeys, scopeOf} from '../../charts/support.ts';
import {getAt, type Path, sameTree, spellPath, startsWith, type Values} from '../../ground/tree.ts';
import {catalog} from '../../settings/catalog.ts';
import type {Setting} from '../../settings/define.ts';
import {agentImage, runnerImage} from '../../settings/images.ts';
import {getFrom} from '../../settings/settings.ts';
import {dataHome} from '../../settings/storage.ts';
import {effectiveValues, readValues, withEntries} from '../reading/read-values.ts';
import {errorsIn} from '../validate/validate.ts';
import {type Change, changeOf, lineOf, targetName} from './change.ts';

/** Which old defaults the new values keep: those that protect, or all. None for values that only override others. */
export type KeptDefaults = 'security' | 'all' | 'none';

interface Kept {
  values: Values;
  changes: readonly Change[];
}

/** Writes old defaults into the new values, and lists them and those that changed. */
export function keepDefaults(sides: Sides, from: Target, to: Target, which: KeptDefaults): Kept {
  const errors = errorsIn(sides.after, to).length;
  let after = sides.after;
  const kept: Change[] = [];
  const write = (
    entries: readonly ValuesEntry[],
    isReached: (values: Values) => boolean,
  ): boolean => {
    const tried = withEntries(after, entries);
    if (!isReached(tried) || errorsIn(tried, to).length > errors) return false;
    after = tried;
    return true;
  };
  const remaining = (): ChangedDefault[] => changedDefaults({...sides, after}, from, to);
  for (const {id} of remaining().filter(
    (each) => which === 'all' || isUnprotected(each.id, each.is),
  )) {
    // An earlier one can have resolved it.
    const open = remaining().find((each) => each.id === id);
    if (open?.entries === undefined) continue;
    const isReached = (values: Values): boolean =>
      !changedDefaults({...sides, after: values}, from, to).some((each) => each.id === id);
    if (!write(open.entries, isReached)) continue;
    kept.push(
      changeOf(
        'kept',
        open.path,
        `${open.message} The old value is written: ${linesOf(open.entries)}.`,
      ),
    );
  }
  const protections = keepProtections(sides.before, from, to, {values: () => after, write});
  const changed = remaining().map(({path, message, entries, reason}) =>
    changeOf(
      'default-changed',
      path,
      reason === undefined ? message : `${message} It cannot be kept: ${reason}.`,
      entries && `To keep it, set ${linesOf(entries)}`,
    ),
  );
  return {values: after, changes: [...kept, ...protections, ...changed]};
}

const linesOf = (entries: readonly ValuesEntry[]): string =>
  entries.map(([path, value]) => lineOf(path, value)).join(' and ');

interface Writer {
  values(): Values;
  write(entries: readonly ValuesEntry[], isReached: (values: Values) => boolean): boolean;
}

/** Keeps what restricts run pods, or says that the target does not have it. */
function keepProtections(
  before: Values,
  from: Target,
  to: Target,
  {values, write}: Writer,
): Change[] {
  const old = effectiveValues(before, from);
  const known = protectionsOf(to);
  return protectionsOf(from).flatMap(({name, isOn}) => {
    const own = known.find((each) => each.name === name);
    const isKept = (tree: Values): boolean => own?.isOn(effectiveValues(tree, to)) ?? false;
    if (own === undefined || !isOn(old) || isKept(values())) return [];
    const was = `${targetName(from)} starts runs ${name}, unlike ${targetName(to)} by default.`;
    const entry =
      own.refused === undefined ? own.keys.find((each) => write([each], isKept)) : undefined;
    if (entry)
      return [
        changeOf(
          'kept',
          entry[0],
          `${was} The old value is written: ${linesOf([entry])}.`,
          own.partly,
        ),
      ];
    return [
      changeOf(
        'default-changed',
        [],
        `${was} It cannot be kept: ${own.refused ?? 'the other keys do not allow it'}.`,
      ),
    ];
  });
}

/** Different in every chart, so a user of another chart does not expect the old value. */
const OF_ONE_CHART: readonly Setting[] = [agentImage, runnerImage, dataHome] as Setting[];

interface Sides {
  before: Values;
  after: Values;
  /** Settings of the user, by id. */
  settings: ReadonlyMap<string, unknown>;
}

interface ChangedDefault {
  /** The setting, or the key. */
  id: string;
  path: Path;
  message: string;
  /** The new value of the setting. */
  is: unknown;
  /** The keys that keep the old value; undefined if the target cannot express it. */
  entries?: readonly ValuesEntry[] | undefined;
  /** Why the target cannot. */
  reason?: string | undefined;
}

/** Defaults that changed, for settings and keys that the user did not set. */
function changedDefaults(sides: Sides, from: Target, to: Target): ChangedDefault[] {
  return [
    ...ofSettings(sides, from, to),
    ...(from.chart === to.chart ? ofKeys(sides, from, to) : []),
  ];
}

function ofSettings({before, after, settings}: Sides, from: Target, to: Target): ChangedDefault[] {
  const old = readValues(before, from).settings;
  const read = readValues(after, to).settings;
  const usual = readValues({}, to).settings;
  return catalog.flatMap((setting) => {
    const was = old.get(setting.id);
    const is = read.get(setting.id);
    if (settings.has(setting.id) || was === undefined || sameTree(was, is)) return [];
    // Other keys of the release decide it.
    if (is !== undefined && !sameTree(is, usual.get(setting.id))) return [];
    // Without a default of the chart, the agent has its own.
    if (from.chart !== to.chart && (is === undefined || OF_ONE_CHART.includes(setting))) return [];
    const kept = keeping(setting, was, after, to);
    const reason = kept ? undefined : refusalOf(chartFor(to), setting, was)?.reason;
    const path =
      kept?.[0]?.[0] ??
      rowsWithKeys(to, setting)[0]?.paths[0] ??
      (isUnprotected(setting.id, is) ? [] : undefined);
    if (path === undefined) return [];
    const spell = (value: unknown): string =>
      value === undefined ? 'not set' : setting.kind.format(value).join(', ') || 'off';
    return [
      {
        id: setting.id,
        path,
        message: `${setting.summary.split(/[;:.](?: |$)/)[0]}: the default was ${spell(was)} and is ${spell(is)} in ${targetName(to)}.`,
        is,
        entries: kept,
        reason,
      },
    ];
  });
}

/** The keys that keep the old value; undefined if the target cannot express it. */
function keeping(
  setting: Setting,
  value: unknown,
  after: Values,
  to: Target,
): readonly ValuesEntry[] | undefined {
  const scope = scopeOf(to, getFrom(readValues(after, to).settings));
  const entries = rowsFor(chartFor(to), setting, value, scope).flatMap((row) =>
    row.write(value, scope),
  );
  const read = readValues(withEntries(after, entries), to).settings.get(setting.id);
  return entries.length > 0 && sameTree(read, value) ? entries : undefined;
}

/** Keys without a setting, whose default differs between two versions of a chart. */
function ofKeys({before, after}: Sides, from: Target, to: Target): ChangedDefault[] {
  const rows = [from, to].flatMap((each) => chartFor(each).rows);
  const ofSetting = (path: Path): boolean =>
    rows.some(({paths}) => paths.some((each) => startsWith(path, each)));
  const effective = effectiveValues(after, to);
  return leavesOf(schemaOf(from), from.version).flatMap((leaf) => {
    const is = getAt(effective, leaf.path);
    const isKnown = knowsKey(to, leaf.path);
    const isOwn = leaf.path[0] === 'rbac' || leaf.node['x-template-only'] || ofSetting(leaf.path);
    if (!isKnown || isOwn || getAt(before, leaf.path) !== undefined || sameTree(is, leaf.default))
      return [];
    const message = `the default was ${JSON.stringify(leaf.default)} and is ${is === undefined ? 'not set' : JSON.stringify(is)} in ${targetName(to)}.`;
    return [
      {
        id: spellPath(leaf.path),
        path: leaf.path,
        message,
        is,
        entries: [[leaf.path, leaf.default]],
      },
    ];
  });
}
