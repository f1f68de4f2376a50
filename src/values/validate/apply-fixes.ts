import {Composer, CST, isScalar, isMap as isYamlMap, Parser, Scalar, stringify} from 'yaml';
import {getAt, isMap, type Path, sameTree, setAt, type Tree, type Values} from '../../ground/tree.ts';
import {moveBlock} from './blocks.ts';
import {type CheckedGroup, findingsOf} from './check-files.ts';
import {type Fix, type TreePath, type ValuesFinding, valueAt} from './finding.ts';
import {readSource} from './source.ts';

/** A file before and after its fixes. */
export interface Rewrite {
  path: string;
  before: string;
  after: string;
}

/** Applies the fixes that leave no new finding behind. Pure; the caller writes the files. */
export function fixGroup(group: CheckedGroup): {fixed: CheckedGroup; rewrites: Rewrite[]} {
  let fixed: CheckedGroup = {...group, fixed: 0};
  for (let state: CheckedGroup | undefined; state !== fixed; ) {
    state = fixed;
    fixed = withMost(
      state,
      state.findings.filter(({fix}) => fix !== undefined),
    );
  }
  const rewrites = group.files.map(({file, text}, index) => ({path: file, before: text, after: fixed.files[index]?.text ?? text}));
  return {fixed, rewrites: rewrites.filter(({before, after}) => before !== after)};
}

/** Halves find the fixes to leave out: one fix at a time is slow for thousands of findings. */
function withMost(group: CheckedGroup, findings: readonly ValuesFinding[]): CheckedGroup {
  const half = Math.ceil(findings.length / 2);
  const fixed = withFixes(group, findings);
  if (fixed !== undefined || half === findings.length) return fixed ?? group;
  return withMost(withMost(group, findings.slice(0, half)), findings.slice(half));
}

/** Undefined if nothing changes, or a new finding has no fix. A fixed key may uncover mistakes below it, which are fixed too. */
function withFixes(group: CheckedGroup, findings: readonly ValuesFinding[]): CheckedGroup | undefined {
  const known = new Set(group.findings.map(nameOf));
  let fixed = applyTo(group, findings);
  for (let rounds = MAX_DEPTH; rounds > 0; rounds -= 1) {
    const uncovered = fixed?.findings.filter((each) => !known.has(nameOf(each))) ?? [];
    if (fixed === undefined || uncovered.length === 0) return fixed;
    fixed = uncovered.every(({fix}) => fix !== undefined) ? applyTo(fixed, uncovered) : undefined;
  }
  return undefined;
}

/** Keys below a fixed key; more rounds mean that two fixes undo each other. */
const MAX_DEPTH = 9;

const nameOf = ({code, path, file = ''}: ValuesFinding): string => `${code} ${path} ${file}`;

/** Undefined if no fix can be applied. */
function applyTo(group: CheckedGroup, findings: readonly ValuesFinding[]): CheckedGroup | undefined {
  let changes = 0;
  const files = group.files.map(({file, text}) => {
    const fixes = findings.flatMap((each) => (each.fix && (!group.areLayers || each.file === file) ? [each.fix] : []));
    const result = applyFixes(text, fixes);
    changes += result.applied.length;
    return {file, text: result.text};
  });
  if (changes === 0) return undefined;
  return {...group, files, findings: findingsOf({...group, files}, group.target), fixed: (group.fixed ?? 0) + changes};
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
