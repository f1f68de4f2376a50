import {CHARTS} from '../../charts/charts.ts';
import type {Target} from '../../charts/define.ts';
import {within} from '../../charts/releases.ts';
import {scopeOf} from '../../charts/support.ts';
import {at, copyOf, getAt, leafPaths, type Path, sameTree, setAt, spellPath, type Values, withoutLeaves} from '../../ground/tree.ts';
import {effectiveValues, readEffective} from '../read-values.ts';
import {dotted, isWithin, type ValuesFinding} from '../validate/finding.ts';
import {errorsIn} from '../validate/validate.ts';
import type {Carried} from './carry.ts';
import {changeOf, targetName} from './change.ts';
import {getFrom} from './read-explicit.ts';

/**
 * Makes the new values valid: writes an old default where the new one does not fit, and drops keys that the target rejects. Errors that
 * the old values have too are left to the user.
 */
export function settleValues(before: Values, carried: Carried, from: Target, to: Target): Carried {
  const own = new Set(errorsIn(before, from).map(({code, path}) => `${code} ${path}`));
  const old = readEffective(effectiveValues(before, from), from).settings;
  let state = carried;
  // Every round writes or drops at least one key.
  for (let rounds = 2 * leafPaths(carried.values).length + 9; rounds > 0; rounds -= 1) {
    const errors = errorsIn(state.values, to);
    const next = withOldDefault(state, errors, old, to) ?? withoutInvalid(state, errors, own, to);
    if (next === undefined) break;
    state = next;
  }
  return {...state, moves: state.moves.filter((each) => each.to.length > 0)};
}

/** Undefined if no old default resolves an error. */
function withOldDefault(
  carried: Carried,
  errors: readonly ValuesFinding[],
  old: ReadonlyMap<string, unknown>,
  to: Target,
): Carried | undefined {
  const scope = scopeOf(to, getFrom(old));
  for (const {path: name} of errors) {
    const path = at(name);
    const row = CHARTS[to.chart].rows.find((each) => within(to.version, each.in) && each.paths.some((key) => sameTree(key, path)));
    const value = row && old.get(row.setting.id);
    if (row === undefined || value === undefined || getAt(carried.values, path) !== undefined) continue;
    const values = copyOf(carried.values);
    for (const [key, tree] of row.write(value, scope)) setAt(values, key, tree);
    if (errorsIn(values, to).some((each) => each.path === name)) continue;
    const message = `The default of ${name} in ${targetName(to)} does not fit the other keys. The old default is written.`;
    return {...carried, values, changes: [...carried.changes, changeOf('kept', path, message)]};
  }
  return undefined;
}

/** Undefined if no error concerns a key that was valid before. */
function withoutInvalid(carried: Carried, errors: readonly ValuesFinding[], own: ReadonlySet<string>, to: Target): Carried | undefined {
  const {values, changes, moves} = carried;
  const origin = (path: Path): Path => moves.find((each) => each.to.some((place) => sameTree(place, path)))?.from ?? path;
  const paths = leafPaths(values);
  for (const finding of errors) {
    const gone = paths.filter((path) => concerns(finding, path));
    if (gone.length === 0 || gone.some((path) => own.has(`${finding.code} ${dotted(origin(path))}`))) continue;
    const isGone = (path: Path): boolean => gone.some((each) => sameTree(each, path));
    const sources = new Map(gone.map((path) => [spellPath(origin(path)), origin(path)]));
    return {
      values: withoutLeaves(values, isGone),
      changes: [
        ...changes.filter(({kind, path}) => kind !== 'renamed' || !sources.has(path)),
        ...[...sources.values()].map((path) =>
          changeOf('dropped', path, `${targetName(to)} rejects ${spellPath(path)}: ${finding.message}`, finding.suggestion),
        ),
      ],
      moves: moves.map((each) => ({...each, to: each.to.filter((path) => !isGone(path))})),
    };
  }
  return undefined;
}

/** True for the key of the finding, and for keys above and below it. */
function concerns(finding: ValuesFinding, path: Path): boolean {
  const name = dotted(path);
  return isWithin(finding.path, name) || isWithin(name, finding.path);
}
