import {commandLine} from '../../ground/command-line.ts';
import {count, sizeText} from '../../ground/text.ts';
import {findingText} from '../../ui/finding-text.ts';
import {nextStep, paragraph, type Screen, theme} from '../../ui/theme.ts';
import {gapFinding} from './collect/gap.ts';
import type {DamagedEntry, Inspection} from './inspect.ts';
import type {RedactionDecision} from './redact/redactor.ts';
import {SUPPORT_CENTER, type Unsearched, unsearchedText} from './report.ts';
import type {Bundle} from './write-bundle.ts';

/** Printed first. */
export function reviewText(unsearched: Unsearched, screen: Screen): string {
  const text = unsearchedText(unsearched);
  return text === undefined ? '' : `${theme(screen).yellow(text)}\n`;
}

/** Every file that a dry run lists. */
export const fileListText = (names: readonly string[]): string =>
  names.map((name) => `${name}\n`).join('');

/** One line that is overwritten on a terminal, and a line per 100 files in a pipe. */
export function progressText(done: number, all: number, {columns}: Screen): string {
  const text = `${done} of ${all} files`;
  if (columns !== undefined) return done === all ? `\r${text}\n` : `\r${text}`;
  return done === all || done % 100 === 0 ? `${text}\n` : '';
}

/** Maximum number of missing items shown; the bundle contains all. */
const MOST = 10;

/** The result: findings, missing items and next steps. */
export function bundleText(
  {
    file,
    bytes,
    containers,
    noun,
    findings,
    gaps,
    cutLogs,
    redactions,
    withheld,
  }: Bundle & {file: string},
  screen: Screen,
): string {
  const {bold, green} = theme(screen);
  const found = findings.map((each) => findingText(each, screen));
  return [
    `${green('✓')} ${bold(file)}: ${sizeText(bytes)}, ${count(containers, noun)}, ${count(redactions.total, 'redaction')}\n`,
    ...(found.length === 0 ? [] : [`${bold('Findings:')}\n`, ...found]),
    missingText(gaps, screen),
    withheldText(withheld, screen),
    ...(cutLogs === 0
      ? []
      : [
          `${count(cutLogs, 'log')} ${cutLogs === 1 ? 'was' : 'were'} truncated in the middle (increase --max-size to keep more)\n`,
        ]),
    `Open report.html of the bundle in a browser, or run: ${commandLine({tool: 'scalr-agent', args: ['inspect', file, '--open']})}\n`,
    'Read it before you send it: no search finds every secret.\n',
    'TICKET.md has the details that support asks for.\n',
    `Scalr Support Center: ${SUPPORT_CENTER}\n`,
  ].join('');
}

/** The missing parts of a bundle; empty if it is complete. */
export function missingText(gaps: Bundle['gaps'], screen: Screen): string {
  const items = gaps.map((gap) => findingText(gapFinding(gap), screen));
  return listText('Could not be read:', items, 'errors.json', screen);
}

/** Files that were changed or left out; empty if there are none. */
export const withheldText = (withheld: Bundle['withheld'], screen: Screen): string =>
  listText(
    'Secrets found by the final check (masked, or the file was excluded):',
    withheld.map((file) => paragraph('  - ', file, screen)),
    'SUMMARY.md',
    screen,
  );

function listText(title: string, items: readonly string[], all: string, screen: Screen): string {
  if (items.length === 0) return '';
  const lines = items.slice(0, MOST);
  if (items.length > MOST) lines.push(`  - and ${items.length - MOST} more, see ${all}\n`);
  return `${theme(screen).bold(title)}\n${lines.join('')}`;
}

/** How to get the missing parts; empty if none is missing for lack of access. */
export const accessText = (access: string | undefined, screen: Screen): string =>
  access === undefined ? '' : `To include it:\n${nextStep('  - ', access, screen)}`;

/** Removes control characters from untrusted text. */
const shown = (text: string): string => text.replace(/[^\P{Cc}\n\t]/gu, '');

/** The summary, which contains the findings; only the findings if the summary is missing. */
export function inspectionText(
  {summary, findings}: Pick<Inspection, 'summary' | 'findings'>,
  screen: Screen,
): string {
  if (summary !== undefined) return shown(summary).replace(/\n*$/, '\n');
  return findings.length === 0
    ? 'The bundle contains no summary and no findings.\n'
    : findings.map((each) => findingText(each, screen)).join('');
}

/** Entries that differ from the manifest of the bundle. */
export function damageText(file: string, damage: readonly DamagedEntry[], screen: Screen): string {
  const {bold, red} = theme(screen);
  return [
    `${red('×')} ${bold(file)} is damaged or was modified:\n`,
    ...damage.map(({entry, problem, code}) =>
      paragraph('  - ', `${bold(code)}  ${shown(entry)}: ${MEANING[problem]}`, screen),
    ),
    'Copy the bundle again from its source, or run collect-logs again.\n',
  ].join('');
}

const MEANING: Readonly<Record<DamagedEntry['problem'], string>> = {
  differs: 'checksum mismatch',
  missing: 'missing',
  'not in the manifest': 'added later',
  unreadable: 'damaged',
};

/** A line as in a bundle, and what decided about it. */
export const decisionsText = ({
  redacted,
  decisions,
}: {
  redacted: string;
  decisions: readonly RedactionDecision[];
}): string =>
  [
    redacted,
    ...decisions.map(({rule, example}) =>
      [
        rule === undefined ? '  kept' : `  redacted by the rule "${rule}"`,
        ...(example === undefined ? [] : [`as in: ${example}`]),
      ].join(', '),
    ),
    ...(decisions.length === 0 ? ['  no rule applies'] : []),
    '',
  ].join('\n');
