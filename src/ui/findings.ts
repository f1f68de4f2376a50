import type {Target} from '../charts/define.ts';
import type {Finding} from '../values/validate/finding.ts';
import {paragraph, type Screen, theme} from './theme.ts';

/** Findings as a compiler shows them: place, message, the line with a caret, what to write instead; then the sum. */
export function findingsText(file: string, text: string, findings: readonly Finding[], {chart, version}: Target, screen: Screen): string {
  const lines = text.split(/\r?\n/);
  const errors = findings.filter(({severity}) => severity === 'error').length;
  const sum = findings.length === 0 ? 'nothing to report' : `${count(errors, 'error')}, ${count(findings.length - errors, 'warning')}`;
  return `${findings.map((finding) => findingText(file, lines, finding, screen)).join('\n')}${findings.length > 0 ? '\n' : ''}${file}: ${sum} (${chart} ${version})\n`;
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

function findingText(file: string, lines: readonly string[], finding: Finding, screen: Screen): string {
  const {severity, code, path, line, column, message, suggestion} = finding;
  const {bold, dim, red, yellow} = theme(screen);
  const label = severity === 'error' ? red.bold('error') : yellow.bold('warning');
  const place = line === undefined ? file : `${file}:${line}:${column}`;
  const head = paragraph('', `${bold(place)} ${label} ${path === '' ? '' : `${path}: `}${message} ${dim(code)}`, screen);
  const source = line === undefined ? '' : `    ${lines[line - 1] ?? ''}\n    ${' '.repeat((column ?? 1) - 1)}^\n`;
  return head + source + (suggestion === undefined ? '' : paragraph('    → ', suggestion, screen));
}
