import {evidenceText, type Finding, findingSentence, type Verdict} from '../ground/finding.ts';
import {nextStep, paragraph, type Screen, theme} from './theme.ts';

const MARKS = {
  error: ['×', 'red'],
  warning: ['!', 'yellow'],
  unknown: ['?', 'yellow'],
  note: ['-', 'dim'],
} as const;

/** The mark at the start of a finding. */
export function verdictMark(verdict: Verdict, screen: Screen): string {
  const [mark, color] = MARKS[verdict];
  return theme(screen)[color](mark);
}

/** A finding in a list: its mark, its code, what is wrong, and what to do. */
export function findingText(
  finding: Finding,
  screen: Screen,
  {margin = '  ', mark = verdictMark(finding.verdict, screen)} = {},
): string {
  const head = `${theme(screen).bold(finding.code)}  ${printable(findingSentence(finding))}`;
  return paragraph(`${margin}${mark} `, head, screen) + bodyText(finding, screen, `${margin}  → `);
}

/** What every layout of a finding has below its first line: where the problem can be seen, and what to do. `lead` begins each remedy. */
export function bodyText(
  {evidence, remedies}: Pick<Finding, 'evidence' | 'remedies'>,
  screen: Screen,
  lead: string,
): string {
  const place =
    evidence === undefined
      ? ''
      : paragraph('    ', theme(screen).dim(printable(`See ${evidenceText(evidence)}`)), screen);
  return place + remedies.map(({text}) => nextStep(lead, printable(text), screen)).join('');
}

/** A finding in one line, for formats that have a field for the code: what is wrong → what to do. */
export const findingLine = (finding: Finding): string =>
  [findingSentence(finding), ...finding.remedies.map(({text}) => `→ ${text}`)].join(' ');

/** Without the control characters of logs and events, which a terminal would obey. */
const printable = (text: string): string => text.replace(/[^\P{Cc}\n\t]/gu, '');
