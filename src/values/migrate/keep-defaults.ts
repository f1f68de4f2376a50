import type {Target, ValuesEntry} from '../../charts/define.ts';
import {isUnprotected, protectionsOf} from '../../charts/security.ts';
import {copyOf, setAt, type Values} from '../../ground/tree.ts';
import {effectiveValues} from '../read-values.ts';
import {errorsIn} from '../validate/validate.ts';
import {type Change, changeOf, lineOf, targetName} from './change.ts';
import {type ChangedDefault, changedDefaults, type Sides} from './changed-defaults.ts';

/** Which old defaults the new values keep: those that protect, or all. */
export type KeptDefaults = 'security' | 'all';

interface Kept {
  values: Values;
  changes: readonly Change[];
}

/** Writes old defaults into the new values, and lists them and those that changed. */
export function keepDefaults(sides: Sides, from: Target, to: Target, which: KeptDefaults): Kept {
  const errors = errorsIn(sides.after, to).length;
  let after = sides.after;
  const kept: Change[] = [];
  const write = (entries: readonly ValuesEntry[], isReached: (values: Values) => boolean): boolean => {
    const tried = copyOf(after);
    for (const [path, value] of entries) setAt(tried, path, copyOf(value));
    if (!isReached(tried) || errorsIn(tried, to).length > errors) return false;
    after = tried;
    return true;
  };
  const remaining = (): ChangedDefault[] => changedDefaults({...sides, after}, from, to);
  for (const {id} of remaining().filter((each) => which === 'all' || isUnprotected(each.id, each.is))) {
    // An earlier one can have resolved it.
    const open = remaining().find((each) => each.id === id);
    if (open?.entries === undefined) continue;
    const isReached = (values: Values): boolean => !changedDefaults({...sides, after: values}, from, to).some((each) => each.id === id);
    if (!write(open.entries, isReached)) continue;
    kept.push(changeOf('kept', open.path, `${open.message} The old value is written: ${linesOf(open.entries)}.`));
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

const linesOf = (entries: readonly ValuesEntry[]): string => entries.map(([path, value]) => lineOf(path, value)).join(' and ');

interface Writer {
  values(): Values;
  write(entries: readonly ValuesEntry[], isReached: (values: Values) => boolean): boolean;
}

/** Keeps what restricts the pods of runs, or says that the target does not have it. */
function keepProtections(before: Values, from: Target, to: Target, {values, write}: Writer): Change[] {
  const [old, known] = [effectiveValues(before, from), protectionsOf(to)];
  return protectionsOf(from).flatMap(({name, isOn}) => {
    const own = known.find((each) => each.name === name);
    const isKept = (tree: Values): boolean => own?.isOn(effectiveValues(tree, to)) ?? false;
    if (own === undefined || !isOn(old) || isKept(values())) return [];
    const was = `${targetName(from)} starts runs ${name}, unlike ${targetName(to)} by default.`;
    const entry = own.refused === undefined ? own.keys.find((each) => write([each], isKept)) : undefined;
    if (entry) return [changeOf('kept', entry[0], `${was} The old value is written: ${linesOf([entry])}.`, own.partly)];
    return [changeOf('default-changed', [], `${was} It cannot be kept: ${own.refused ?? 'the other keys do not permit it'}.`)];
  });
}
