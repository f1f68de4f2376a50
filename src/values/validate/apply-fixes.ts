import type {Fix, ValuesFinding} from '../reading/finding.ts';
import {YamlText} from '../yaml-text.ts';
import {type CheckedGroup, findingsOf} from './check-files.ts';

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
  const rewrites = group.files.map(({file, text}, index) => ({
    path: file,
    before: text,
    after: fixed.files[index]?.text ?? text,
  }));
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
function withFixes(
  group: CheckedGroup,
  findings: readonly ValuesFinding[],
): CheckedGroup | undefined {
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
function applyTo(
  group: CheckedGroup,
  findings: readonly ValuesFinding[],
): CheckedGroup | undefined {
  const {target} = group;
  if (target === undefined) return undefined;
  let changes = 0;
  const files = group.files.map(({file, text}) => {
    const fixes = findings.flatMap((each) =>
      each.fix && (!group.areLayers || each.file === file) ? [each.fix] : [],
    );
    const result = applyFixes(text, fixes);
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

/** Applies the changes to the text of a file and keeps all other bytes. Pure. */
export function applyFixes(text: string, fixes: readonly Fix[]): {text: string; applied: Fix[]} {
  const applied: Fix[] = [];
  let current = new YamlText(text);
  for (const fix of fixes) {
    const next = current.fixed(fix);
    if (next === undefined || next.text === current.text) continue;
    current = next;
    applied.push(fix);
  }
  return {text: current.text, applied};
}
