import type {Explanation} from '../findings/catalog.ts';
import {paragraph, type Screen, theme} from './theme.ts';

const CAUSES = 'causes.md';

/** Address of the most detailed documentation of a code. */
export const pageOf = ({code, topic, symptom}: Explanation, docs: string): string =>
  symptom === undefined
    ? `${docs}/${topic.page}#${code.toLowerCase()}`
    : `${docs}/guide/symptoms.md#${symptom}`;

/** What a code means, what to do about it, and what the program printed in an example. `docs` is the address of the documentation. */
export function explanationText(explanation: Explanation, docs: string, screen: Screen): string {
  const {code, topic, title, why, remedy, words = [], example} = explanation;
  const {bold, dim} = theme(screen);
  const lines = [
    quoted('', explanation, screen),
    paragraph('', `${bold(code)}: ${title}`, screen),
    '\n',
    paragraph('  ', withoutMarks(why), screen),
    paragraph('  → ', withoutMarks(remedy), screen),
  ];
  if (example !== undefined)
    lines.push(`\n${bold('Example')}\n`, `${example.replaceAll(/^(?=.)/gm, '  ')}\n`);
  if (topic.page === CAUSES && remedy.includes('`--'))
    lines.push(
      '\n',
      paragraph(
        '',
        `Change a setting of an agent: ${docs}/guide/symptoms.md#apply-a-remedy`,
        screen,
      ),
    );
  if (words.length > 0) lines.push('\n', paragraph('Also known as ', words.join(', '), screen));
  lines.push(`\n${dim(`More: ${pageOf(explanation, docs)}`)}\n`);
  return lines.join('');
}

/** Codes with what they mean, one per line, below the title of their topic. `isFound` if several mean the same words. */
export function codesText(
  explanations: readonly Explanation[],
  screen: Screen,
  isFound = false,
): string {
  const {bold} = theme(screen);
  const titles = [...new Set(explanations.map(({topic}) => topic.title))];
  const width = Math.max(...explanations.map(({code}) => code.length)) + 2;
  const blocks = titles.map((title) => {
    const own = explanations.filter(({topic}) => topic.title === title);
    const rows = own.map(
      (each) =>
        quoted('  ', each, screen) +
        paragraph(`  ${each.code.padEnd(width)}`, withoutMarks(each.title), screen),
    );
    return `${bold(title)}\n${rows.join('')}`;
  });
  const isCause = isFound && explanations.some(({topic}) => topic.page === CAUSES);
  const which = isCause ? 'Show which one applies: scalr-agent status\n' : '';
  return `${blocks.join('\n')}\n${which}Explain one of them: scalr-agent explain CODE\n`;
}

/** The line of a log above its code. */
const quoted = (indent: string, {line}: Explanation, screen: Screen): string =>
  line === undefined ? '' : paragraph(`${indent}> `, theme(screen).dim(line), screen);

/** The catalog marks code as Markdown does. */
const withoutMarks = (text: string): string => text.replaceAll('`', '');
