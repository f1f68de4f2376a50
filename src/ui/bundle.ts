import type {Damage, Inspection} from '../support-bundle/archive/inspect.ts';
import type {Bundle} from '../support-bundle/archive/save-bundle.ts';
import {SUPPORT_CENTER, type Unsearched, unsearchedText} from '../support-bundle/report.ts';
import {count} from './count.ts';
import {paragraph, type Screen, theme} from './theme.ts';

/** Comes before everything else. */
export function reviewText(unsearched: Unsearched, screen: Screen): string {
  const text = unsearchedText(unsearched);
  return text === undefined ? '' : `${theme(screen).yellow(text)}\n`;
}

/** Every file that would be written. */
export const wantedText = (names: readonly string[]): string => names.map((name) => `${name}\n`).join('');

/** One line that is drawn over where it can be, and now and then a line in a pipe. */
export function progressText(done: number, all: number, {columns}: Screen): string {
  const text = `${done} of ${all} files`;
  if (columns !== undefined) return done === all ? `\r${text}\n` : `\r${text}`;
  return done === all || done % 100 === 0 ? `${text}\n` : '';
}

/** Of what is missing; the rest is in the bundle. */
const MOST = 10;

/** What came out, what stands out, what is missing, and what to do with it. */
export function bundleText(
  {file, bytes, containers, noun, findings, gaps, cutLogs, redactions}: Bundle & {file: string},
  screen: Screen,
): string {
  const {bold, green} = theme(screen);
  const found = findingLines(findings, screen);
  return [
    `${green('✓')} ${bold(file)}: ${sizeText(bytes)}, ${count(containers, noun)}, ${count(redactions.total, 'redaction')}\n`,
    ...(found.length === 0 ? [] : [`${bold('What stands out:')}\n`, ...found]),
    missingText(gaps, screen),
    ...(cutLogs === 0 ? [] : [`${count(cutLogs, 'log')} ${cutLogs === 1 ? 'was' : 'were'} cut in the middle: --max-size\n`]),
    'Begin with SUMMARY.md in it.\n',
    `Scalr Support Center: ${SUPPORT_CENTER}\n`,
  ].join('');
}

/** Nothing where there is none. */
export function missingText(gaps: Bundle['gaps'], screen: Screen): string {
  if (gaps.length === 0) return '';
  const {bold} = theme(screen);
  const missing = gaps.slice(0, MOST).map(({what, trouble}) => paragraph('  - ', `${what}: ${trouble.message}`, screen));
  if (gaps.length > MOST) missing.push(`  - and ${gaps.length - MOST} more, which are in errors.json\n`);
  return `${bold('What could not be read:')}\n${missing.join('')}`;
}

/** Nothing where there is none. */
export const accessText = (commands: readonly string[]): string =>
  commands.length === 0 ? '' : `To include it, ask an administrator to run:\n${commands.map((each) => `  ${each}\n`).join('')}`;

export function findingLines(findings: Bundle['findings'], screen: Screen): string[] {
  const {dim, red, yellow} = theme(screen);
  const marks = {error: red('×'), warning: yellow('!'), info: dim('i')};
  return findings.map(({severity, object, message, evidence, line, remedy}) => {
    const place = evidence === undefined ? '' : ` (${evidence}${line === undefined ? '' : `:${line}`})`;
    return paragraph(`  ${marks[severity]} `, `${object}: ${message} ${dim(`→ ${remedy}${place}`)}`, screen);
  });
}

const sizeText = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;

/** Somebody else wrote it, and a terminal acts on control characters. */
const shown = (text: string): string => text.replace(/[^\P{Cc}\n\t]/gu, '');

/** The summary as it was written, in which the findings stand; these alone where it was lost. */
export function inspectionText({summary, findings}: Pick<Inspection, 'summary' | 'findings'>, screen: Screen): string {
  if (summary !== undefined) return shown(summary).replace(/\n*$/, '\n');
  const plain = findings.map((finding) => ({
    ...finding,
    object: shown(finding.object),
    message: shown(finding.message),
    remedy: shown(finding.remedy),
    ...(finding.evidence === undefined ? {} : {evidence: shown(finding.evidence)}),
  }));
  return plain.length === 0 ? 'There is neither a summary nor a finding in it.\n' : findingLines(plain, screen).join('');
}

/** Which entries are not what they were. */
export function damageText(file: string, damage: readonly Damage[], screen: Screen): string {
  const {bold, red} = theme(screen);
  return [
    `${red('×')} ${bold(file)} is not as collect-logs wrote it:\n`,
    ...damage.map(({entry, problem}) => paragraph('  - ', `${shown(entry)}: ${MEANING[problem]}`, screen)),
    'Copy it again from where it was made, or collect anew.\n',
  ].join('');
}

const MEANING: Readonly<Record<Damage['problem'], string>> = {
  differs: 'its content differs from its checksum',
  missing: 'it is missing',
  'not in the manifest': 'it was added later',
  unreadable: 'it is damaged',
};
