import {type Finding, findingSentence, type Verdict} from '../findings/finding.ts';
import {paragraph, type Screen, theme} from './theme.ts';

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

/** A finding with its code, and what to do about it. Remedies are not wrapped, because they may be commands to copy. */
export function findingText(finding: Finding, screen: Screen): string {
  const {code, verdict, remedies} = finding;
  const head = `${theme(screen).bold(code)}  ${findingSentence(finding)}`;
  const steps = remedies.map(({text}) => `    → ${text.replaceAll('\n', '\n      ')}\n`);
  return [paragraph(`  ${verdictMark(verdict, screen)} `, head, screen), ...steps].join('');
}
