import {Composer, CST, isScalar, isMap as isYamlMap, Parser, Scalar, stringify} from 'yaml';
import {getAt, isMap, type Path, sameTree, setAt, type Tree, type Values} from '../../charts/tree.ts';
import {moveBlock} from './blocks.ts';
import {type CheckedGroup, findingsOf} from './check-files.ts';
import {type Fix, type TreePath, valueAt} from './finding.ts';
import {readSource} from './source.ts';

/** A file before and after its fixes. */
export interface Rewrite {
  path: string;
  before: string;
  after: string;
  changes: number;
}

/** Applies the fixes of all findings until none is left. Pure; the caller writes the files. */
export function fixGroup(group: CheckedGroup): {fixed: CheckedGroup; rewrites: Rewrite[]} {
  const rewrites = group.files.map(({file, text}): Rewrite => ({path: file, before: text, after: text, changes: 0}));
  let fixed: CheckedGroup = {...group, fixed: 0};
  const seen = new Set<string>();
  // A fixed key may uncover the next mistake, and two fixes may undo each other.
  for (let state = ''; !seen.has(state); state = JSON.stringify(rewrites.map(({after}) => after))) {
    seen.add(state);
    const changes = rewrites.reduce((sum, each) => sum + applyTo(each, fixed), 0);
    if (changes === 0) break;
    const files = rewrites.map(({path, after}) => ({file: path, text: after}));
    fixed = {...fixed, files, findings: findingsOf({...group, files}, group.target), fixed: (fixed.fixed ?? 0) + changes};
  }
  return {fixed, rewrites: rewrites.filter(({changes}) => changes > 0)};
}

/** Applies the fixes that belong to this file; returns their number. */
function applyTo(rewrite: Rewrite, {findings, areLayers}: CheckedGroup): number {
  const fixes = findings.flatMap(({fix, file}) => (fix && (!areLayers || file === rewrite.path) ? [fix] : []));
  const {text, applied} = applyFixes(rewrite.after, fixes);
  rewrite.after = text;
  rewrite.changes += applied.length;
  return applied.length;
}

/** Applies the changes to the text of a file and keeps all other bytes. Pure. */
export function applyFixes(text: string, fixes: readonly Fix[]): {text: string; applied: Fix[]} {
  const applied: Fix[] = [];
  let current = text;
  for (const fix of fixes) {
    const next = applyFix(current, fix);
    if (next === undefined || next === current) continue;
    current = next;
    applied.push(fix);
  }
  return {text: current, applied};
}

/** Undefined if Helm would read more changes than this one, for example with a shared anchor. */
function applyFix(text: string, fix: Fix): string | undefined {
  const values = readSource(text).source?.values;
  const expected = values && valuesAfter(values, fix);
  const {path, to} = fix;
  const change = () => (to === undefined ? edit(text, fix, valueAt(values, path)) : moveBlock(text, path, to));
  const edited = expected === undefined ? undefined : change();
  return edited !== undefined && sameTree(readSource(edited).source?.values, expected) ? edited : undefined;
}

/** Undefined if the path does not exist, or the new name is in use. */
function valuesAfter(values: Values, {path, value, name, to}: Fix): Tree | undefined {
  if (to !== undefined) return valuesAfterMove(values, path, to);
  const parent = valueAt(values, path.slice(0, -1));
  const isTaken = name !== undefined && (!isMap(parent) || Object.hasOwn(parent, name));
  if (isTaken || valueAt(values, path) === undefined) return undefined;
  const change = (tree: Tree, [key, ...rest]: TreePath): Tree => {
    const below = (each: Tree): Tree => (rest.length > 0 ? change(each, rest) : (value ?? each));
    if (Array.isArray(tree)) return tree.map((each, index) => (index === key ? below(each) : each));
    if (!isMap(tree)) return tree;
    const renamed = rest.length === 0 && name !== undefined ? name : String(key);
    return Object.fromEntries(Object.entries(tree).map(([each, old]) => (each === key ? [renamed, below(old)] : [each, old])));
  };
  return change(values, path);
}

function valuesAfterMove(values: Values, path: TreePath, to: readonly string[]): Tree | undefined {
  const moved = valueAt(values, path);
  if (moved === undefined || getAt(values, to) !== undefined) return undefined;
  const after = without(values, path.map(String));
  const isBlocked = to.slice(1).some((_, index) => !isMap(getAt(after, to.slice(0, index + 1)) ?? {}));
  if (isBlocked) return undefined;
  setAt(after, to, moved);
  return after;
}

/** Without the key, and without the keys above it that held nothing else. */
function without(values: Values, [key, ...rest]: Path): Values {
  const {[key as string]: below, ...others} = values;
  const remaining = rest.length > 0 && isMap(below) ? without(below, rest) : {};
  return Object.keys(remaining).length > 0 ? {...others, [key as string]: remaining} : others;
}

/** Edits the tokens of the scalar and of its key, and writes all others as they were read. */
function edit(text: string, {path, value, name}: Fix, old: Tree | undefined): string | undefined {
  const tokens = [...new Parser().parse(text)];
  const composer = new Composer({version: '1.1', schema: 'failsafe', resolveKnownTags: false, uniqueKeys: false, keepSourceTokens: true});
  const [document] = composer.compose(tokens);
  const parent = document?.getIn(path.slice(0, -1), true);
  const pair = isYamlMap(parent) ? parent.items.find(({key}) => isScalar(key) && key.value === path.at(-1)) : undefined;
  if (value !== undefined && value !== old && !setScalar(document?.getIn(path, true), value)) return undefined;
  if (name !== undefined && !setScalar(pair?.key, name)) return undefined;
  return tokens.map((token) => CST.stringify(token)).join('');
}

function setScalar(node: unknown, value: string | number | boolean): boolean {
  if (!isScalar(node) || !node.srcToken) return false;
  CST.setScalarValue(node.srcToken, String(value), {type: styleOf(value, node.type), implicitKey: true, inFlow: true});
  return true;
}

/** A text keeps its quotes; without any it gets them where YAML 1.1 would read something else. */
function styleOf(value: string | number | boolean, style: Scalar['type']): Scalar.Type {
  if (typeof value !== 'string') return Scalar.PLAIN;
  const isPrintable = !/\p{Cc}/u.test(value);
  if (style === Scalar.QUOTE_SINGLE && isPrintable) return Scalar.QUOTE_SINGLE;
  const isPlain = isPrintable && stringify(value, {version: '1.1', lineWidth: 0}).trimEnd() === value;
  return style === Scalar.PLAIN && isPlain ? Scalar.PLAIN : Scalar.QUOTE_DOUBLE;
}
