import {type Finding, findingSentence, type Verdict} from '../findings/finding.ts';
import {paragraph, type Screen, theme} from './theme.ts';

const MARKS: Readonly<Record<Verdict, string>> = {
  error: '×',
  warning: '!',
  note: '-',
  unknown: '?',
};

/** A finding with its code, and what to do about it. Remedies are not wrapped, because they may be commands to copy. */
export function findingText(finding: Finding, screen: Screen): string {
  const {code, verdict, remedies} = finding;
  const head = `${theme(screen).bold(code)}  ${findingSentence(finding)}`;
  const steps = remedies.map(({text}) => `    → ${text.replaceAll('\n', '\n      ')}\n`);
  return [paragraph(`  ${MARKS[verdict]} `, head, screen), ...steps].join('');
}
