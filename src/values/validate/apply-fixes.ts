import {parseDocument} from 'yaml';
import type {Edit, KeyFinding} from '../../ground/finding.ts';
import {
  copyOf,
  getAt,
  isMap,
  type Path,
  sameTree,
  setAt,
  startsWith,
  type Tree,
  type Values,
  withoutLeaves,
} from '../../ground/tree.ts';
import {EditedValues, pairIn} from '../edited-values.ts';
import {readSource} from '../reading/source.ts';
import {type TreePath, valueAt} from '../reading/tree-path.ts';
import {SYNTAX} from '../reading/yaml-syntax.ts';
import {applyEdits, scalarEdit} from '../text-edits.ts';
import {type CheckedGroup, findingsOf} from './check-files.ts';
import type {CheckedFile} from './file-group.ts';

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
      state.findings.filter((each) => editOf(each) !== undefined),
    );
  }
  const rewrites = group.files.map(({file, text}, index) => ({
    path: file,
    before: text,
    after: fixed.files[index]?.text ?? text,
  }));
  return {fixed, rewrites: rewrites.filter(({before, after}) => before !== after)};
}

/** Halves find the fixes to leave out: one fix at a time is slow for thousands of findings. */
function withMost(group: CheckedGroup, findings: readonly KeyFinding[]): CheckedGroup {
  const half = Math.ceil(findings.length / 2);
  const fixed = withFixes(group, findings);
  if (fixed !== undefined || half === findings.length) return fixed ?? group;
  return withMost(withMost(group, findings.slice(0, half)), findings.slice(half));
}

/** Undefined if nothing changes, or a new finding has no fix. A fixed key may uncover mistakes below it, which are fixed too. */
function withFixes(group: CheckedGroup, findings: readonly KeyFinding[]): CheckedGroup | undefined {
  const known = new Set(group.findings.map(nameOf));
  let fixed = applyTo(group, findings);
  for (let rounds = MAX_DEPTH; rounds > 0; rounds -= 1) {
    const uncovered = fixed?.findings.filter((each) => !known.has(nameOf(each))) ?? [];
    if (fixed === undefined || uncovered.length === 0) return fixed;
    fixed = uncovered.every((each) => editOf(each) !== undefined)
      ? applyTo(fixed, uncovered)
      : undefined;
  }
  return undefined;
}

/** Keys below a fixed key; more rounds mean that two fixes undo each other. */
const MAX_DEPTH = 9;

const nameOf = ({code, subject: {path, file = ''}}: KeyFinding): string =>
  `${code} ${path} ${file}`;

/** The change that fixes a finding, if there is exactly one. */
const editOf = ({remedies}: KeyFinding): Edit | undefined =>
  remedies.find(({edit}) => edit !== undefined)?.edit;

/** Undefined if no fix can be applied. */
function applyTo(group: CheckedGroup, findings: readonly KeyFinding[]): CheckedGroup | undefined {
  const {target} = group;
  if (target === undefined) return undefined;
  let changes = 0;
  const files = group.files.map((given): CheckedFile => {
    const {file, text, read} = given;
    // A part of a file is not edited.
    if (read) return given;
    const own = findings.filter(({subject}) => !group.areLayers || subject.file === file);
    const result = applyFixes(
      text,
      own.flatMap((each) => editOf(each) ?? []),
    );
    changes += result.applied.length;
    return {file, text: result.text};
  });
  if (changes === 0) return undefined;
  return {
    ...group,
    files,
    findings: findingsOf({...group, files}, target),
    fixed: (group.fixed ?? 0) + changes,
  };
}

/** Applies the changes to the text of a file. All other bytes stay, unless a key moves: see EditedValues. Pure. */
export function applyFixes(text: string, fixes: readonly Edit[]): {text: string; applied: Edit[]} {
  const applied: Edit[] = [];
  let current = text;
  for (const fix of fixes) {
    const next = withFix(current, fix);
    if (next === undefined || next === current) continue;
    current = next;
    applied.push(fix);
  }
  return {text: current, applied};
}

/** Undefined if Helm would read more changes than this one, for example with a shared anchor. */
function withFix(text: string, fix: Edit): string | undefined {
  const values = readSource(text).source?.values;
  const expected = values && valuesAfter(values, fix);
  if (values === undefined || expected === undefined) return undefined;
  const edited =
    fix.to === undefined ? withScalars(text, fix, values) : withMove(text, fix.path, fix.to);
  const read = edited === undefined ? undefined : readSource(edited).source?.values;
  return sameTree(read, expected) ? edited : undefined;
}

function withScalars(text: string, {path, value, name}: Edit, values: Values): string {
  const document = parseDocument(text, SYNTAX);
  const pair = pairIn(document.getIn(path.slice(0, -1), true), path.at(-1));
  const isChanged = value !== undefined && value !== valueAt(values, path);
  const edits = [
    isChanged ? scalarEdit(text, document.getIn(path, true), value) : undefined,
    name === undefined ? undefined : scalarEdit(text, pair?.key, name),
  ];
  return applyEdits(
    text,
    edits.filter((each) => each !== undefined),
  );
}

/** Maps that become empty go too. */
function withMove(text: string, path: TreePath, to: Path): string | undefined {
  const edited = new EditedValues(text);
  const pair = edited.take(path);
  return pair && edited.put(to, pair, edited.prune(path)) ? edited.print() : undefined;
}

/** Undefined if the path does not exist, or the new name or place is in use. */
function valuesAfter(values: Values, {path, value, name, to}: Edit): Values | undefined {
  const old = valueAt(values, path);
  if (old === undefined) return undefined;
  if (to !== undefined) return valuesAfterMove(values, path.map(String), to);
  const after = copyOf(values);
  const parent = valueAt(after, path.slice(0, -1)) as Values;
  const key = path.at(-1) as string;
  if (name !== undefined) {
    if (!isMap(parent) || Object.hasOwn(parent, name)) return undefined;
    delete parent[key];
  }
  setAt(parent, [name ?? key], value ?? old);
  return after;
}

/** Without the keys above the old place that held nothing else. */
function valuesAfterMove(values: Values, path: Path, to: Path): Values | undefined {
  const after = copyOf(withoutLeaves(values, (leaf) => startsWith(leaf, path)));
  const isBlocked = to
    .slice(1)
    .some((_, index) => !isMap(getAt(after, to.slice(0, index + 1)) ?? {}));
  if (isBlocked || getAt(values, to) !== undefined) return undefined;
  setAt(after, to, getAt(values, path) as Tree);
  return after;
}
