import {type Checked, nameOf} from '../../values/validate/check-files.ts';
import type {Finding} from '../../values/validate/finding.ts';

interface FileResult {
  chart: string;
  chartVersion: string;
  valid: boolean;
  findings: Omit<Finding, 'fix'>[];
  fixed?: number;
}

export type Result = FileResult | {valid: boolean; files: (FileResult & {file: string})[]};

/** The document of --json: of the one file or the layers, else of every file. */
export function resultOf(checked: readonly Checked[]): Result {
  const [first, ...others] = checked;
  if (first && others.length === 0) return fileResult(first);
  const files = checked.map((each) => ({file: nameOf(each), ...fileResult(each)}));
  return {valid: files.every(({valid}) => valid), files};
}

const fileResult = ({target, findings, fixed}: Checked): FileResult => ({
  chart: target.chart,
  chartVersion: target.version,
  valid: findings.every(({severity}) => severity !== 'error'),
  findings: findings.map(({fix: _, ...shown}) => shown),
  ...(fixed === undefined ? {} : {fixed}),
});
