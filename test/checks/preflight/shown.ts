import type {CheckFinding, CheckReport} from '../../../src/checks/preflight/checks/check.ts';
import {findingSentence} from '../../../src/ground/finding.ts';
import {findingText} from '../../../src/ui/finding-text.ts';

const SCREEN = {hasColor: false, columns: 76};

/** A result as `preflight` prints it on a screen of 96 columns; `nothing` where a check has nothing to look at. */
export function shown(report: CheckReport | undefined): string {
  if (report === undefined) return '  nothing\n';
  return report.verdict === 'passed'
    ? `  ✓ ${findingSentence(report)}\n`
    : findingText(report as CheckFinding, SCREEN);
}
