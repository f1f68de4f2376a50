import {findingSentence, type KeyFinding, remedyText, type Verdict} from '../ground/finding.ts';
import {count} from '../ground/text.ts';
import type {SourcePosition} from '../values/reading/finding.ts';
import {linesWithoutSecrets} from '../values/reading/hidden-lines.ts';
import type {CheckedGroup} from '../values/validate/check-files.ts';
import {groupName} from '../values/validate/file-group.ts';
import {githubAnnotations} from './annotations.ts';
import {bodyText} from './finding-text.ts';
import {junit} from './junit.ts';
import {asciiFallback, paragraph, type Screen, theme} from './theme.ts';

/** Findings as a compiler shows them: position, message, the line with a caret, what to write instead; then the totals. */
export function findingsText(checked: readonly CheckedGroup[], screen: Screen): string {
  const all = checked.flatMap(({findings}) => findings);
  const total = checked.length > 1 ? `${totalOf(checked)}: ${sumOf(all)}\n` : '';
  const shown = checked.filter((each) => checked.length === 1 || !isSkipped(each));
  return shown.map((each) => groupText(each, screen)).join('') + total;
}

/** Not about an agent, and nothing wrong with it. */
export const isSkipped = ({target, findings}: CheckedGroup): boolean =>
  target === undefined && findings.length === 0;

const isUnchecked = ({target, findings}: CheckedGroup): boolean =>
  target === undefined && findings.some(({verdict}) => verdict === 'unknown');

/** "312 files: 4 checked, 3 not checked, 305 without an agent"; only their number if all were checked. */
function totalOf(checked: readonly CheckedGroup[]): string {
  const unchecked = checked.filter(isUnchecked).length;
  const skipped = checked.filter(isSkipped).length;
  const names = new Set(checked.map(groupName));
  if (unchecked + skipped === 0) return count(names.size, 'file');
  const parts = [
    `${checked.length - unchecked - skipped} checked`,
    unchecked > 0 ? `${unchecked} not checked` : '',
    skipped > 0 ? `${skipped} without an agent` : '',
  ];
  return `${count(checked.length, 'file')} (${parts.filter(Boolean).join(', ')})`;
}

function groupText(checked: CheckedGroup, screen: Screen): string {
  const {findings, target, fixed = 0} = checked;
  const name = groupName(checked);
  const lines = new Map(
    findings.length === 0
      ? []
      : checked.files.map(({file, text}) => [file, linesWithoutSecrets(text)]),
  );
  const texts = findings.map((finding) => positionedText(finding, name, lines, screen)).join('\n');
  const against = target === undefined ? '' : ` (${target.chart} ${target.version})`;
  const sum = `${name}: ${isSkipped(checked) ? 'no release or values of an agent' : sumOf(findings)}${against}\n`;
  return `${texts}${findings.length > 0 ? '\n' : ''}${sum}${fixed > 0 ? `${name}: ${fixed} fixed\n` : ''}`;
}

function sumOf(findings: readonly KeyFinding[]): string {
  const of = (wanted: Verdict): number => findings.filter(({verdict}) => verdict === wanted).length;
  if (findings.length === 0) return 'no problems found';
  const problems = `${count(of('error'), 'error')}, ${count(of('warning'), 'warning')}`;
  const unchecked = findings.filter(({verdict}) => verdict === 'unknown');
  if (unchecked.length === 0) return problems;
  if (unchecked.some(({subject}) => subject.path !== ''))
    return `${problems}, some values not checked`;
  return unchecked.length === findings.length ? 'not checked' : `${problems}, not checked`;
}

/** The layout of compilers, which editors and terminals link: position, verdict, message, and the line with a caret. */
function positionedText(
  finding: KeyFinding,
  group: string,
  lines: ReadonlyMap<string, readonly string[]>,
  screen: Screen,
): string {
  const {verdict, code, subject} = finding;
  const {bold, dim, red, yellow} = theme(screen);
  const {file, line, column} = subject;
  const label = (verdict === 'error' ? red : yellow).bold(
    verdict === 'unknown' ? 'not checked:' : verdict,
  );
  const name = file ?? group;
  const place = line === undefined ? name : `${name}:${line}:${column}`;
  const head = paragraph(
    '',
    `${bold(place)} ${label} ${findingSentence(finding)} ${dim(code)}`,
    screen,
  );
  const written = line === undefined ? '' : (lines.get(name)?.[line - 1] ?? '');
  const source =
    written.trim() === '' ? '' : `    ${written}\n    ${' '.repeat((column ?? 1) - 1)}^\n`;
  return head + source + bodyText(finding, screen, '    → ');
}

/** A finding as --json prints it. Scripts depend on these names. */
export interface FindingDocument extends Partial<SourcePosition> {
  severity: Verdict;
  code: string;
  path: string;
  message: string;
  suggestion?: string;
}

export const findingDocument = ({
  verdict,
  code,
  subject,
  message,
  remedies,
}: KeyFinding): FindingDocument => ({
  severity: verdict,
  code,
  ...subject,
  message,
  ...(remedies.length > 0 && {suggestion: remedyText({remedies})}),
});

interface FileResult {
  /** Absent if the file cannot be read as values, and does not tell its chart. */
  chart?: string;
  chartVersion?: string;
  valid: boolean;
  findings: FindingDocument[];
  fixed?: number;
}

export type Result =
  | FileResult
  | {valid: boolean; skipped?: number; files: (FileResult & {file: string})[]};

/** The document of --json: for a single file or the layers of one, else a list of files. */
export function resultOf(checked: readonly CheckedGroup[]): Result {
  const [first, ...others] = checked;
  if (first && others.length === 0) return fileResult(first);
  const shown = checked.filter((each) => !isSkipped(each));
  const files = shown.map((each) => ({file: groupName(each), ...fileResult(each)}));
  const result = {valid: files.every(({valid}) => valid), files};
  const skipped = checked.length - shown.length;
  return skipped === 0 ? result : {...result, skipped};
}

const fileResult = ({target, findings, fixed}: CheckedGroup): FileResult => ({
  ...(target === undefined ? {} : {chart: target.chart, chartVersion: target.version}),
  valid: findings.every(({verdict}) => verdict === 'warning'),
  findings: findings.map(findingDocument),
  ...(fixed === undefined ? {} : {fixed}),
});

/** The findings in the format of --format, except JSON. */
export async function inFormat(
  format: string | undefined,
  checked: readonly CheckedGroup[],
  {
    bin,
    name,
    version,
    pjson,
  }: {bin: string; name: string; version: string; pjson: Readonly<Record<string, unknown>>},
  screen: Screen,
): Promise<string> {
  const program = {name: bin ?? name, version, homepage: pjson['homepage'] as string | undefined};
  if (format === 'sarif') return (await import('./sarif.ts')).sarif(checked, program);
  if (format === 'github') return githubAnnotations(checked);
  if (format === 'junit') return junit(checked, `${program.name} validate`);
  return asciiFallback(findingsText(checked, screen), screen);
}
