import {type Checked, findingsOf} from './check-files.ts';
import {applyFixes} from './fix.ts';

/** A file as it was and as it should be. */
export interface Rewrite {
  path: string;
  before: string;
  after: string;
  changes: number;
}

/** A mended key may show the next mistake; more rounds than these would go in circles. */
const ROUNDS = 5;

/** Mends what has exactly one right answer, until nothing is left to mend. Pure; the files are still to be written. */
export function mend(group: Checked): {mended: Checked; rewrites: Rewrite[]} {
  const rewrites = new Map(
    group.files.map(({file, text}): [string, Rewrite] => [file, {path: file, before: text, after: text, changes: 0}]),
  );
  let mended: Checked = {...group, fixed: 0};
  for (let round = 0; round < ROUNDS; round += 1) {
    const changes = [...rewrites.values()].reduce((sum, each) => sum + applyTo(each, mended), 0);
    if (changes === 0) break;
    const files = group.files.map(({file}) => ({file, text: rewrites.get(file)?.after as string}));
    const findings = findingsOf({files, areLayers: group.areLayers}, group.target);
    mended = {...mended, files, findings, fixed: (mended.fixed ?? 0) + changes};
  }
  return {mended, rewrites: [...rewrites.values()].filter(({changes}) => changes > 0)};
}

/** Makes the changes that belong into this file; returns how many there were. */
function applyTo(rewrite: Rewrite, {findings, areLayers}: Checked): number {
  const fixes = findings.flatMap(({fix, file}) => (fix && (!areLayers || file === rewrite.path) ? [fix] : []));
  const {text, applied} = applyFixes(rewrite.after, fixes);
  rewrite.after = text;
  rewrite.changes += applied.length;
  return applied.length;
}
