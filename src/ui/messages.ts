import type {Reason, Recommendation} from '../charts/recommend.ts';
import type {ExpectedError, Warning} from '../errors.ts';
import type {Explained} from '../values/generate.ts';
import type {Sizing} from '../values/sizing.ts';
import {theme} from './theme.ts';

/** A failure with its next steps. */
export function errorText({message, suggestions}: Pick<ExpectedError, 'message' | 'suggestions'>, hasColor: boolean): string {
  const {red, bold} = theme(hasColor);
  const steps = suggestions.length === 0 ? '' : `\n${bold('Next steps:')}\n${suggestions.map((each) => `  - ${each}`).join('\n')}`;
  return `${red.bold('Error:')} ${message}${steps}\n`;
}

export const warningText = ({message}: Warning, hasColor: boolean): string => `${theme(hasColor).yellow.bold('Warning:')} ${message}\n`;

const MARKS: Readonly<Record<Reason['verdict'], string>> = {for: '+', against: '-', excluded: '×'};

const reasonLines = (reasons: readonly Reason[], hasColor: boolean): string =>
  reasons.map(({verdict, message, source}) => `  ${MARKS[verdict]} ${message} ${theme(hasColor).dim(`[${source}]`)}\n`).join('');

/** The chosen chart and why. */
export const choiceText = ({chart, reasons}: Recommendation, hasColor: boolean): string =>
  `${theme(hasColor).bold(chart)} is recommended\n${reasonLines(reasons, hasColor)}`;

/** The chosen chart and the arguments about all three. */
export const recommendationText = (recommendation: Recommendation, hasColor: boolean): string =>
  [
    choiceText(recommendation, hasColor),
    ...recommendation.rejected.map(({chart, reasons}) => `${theme(hasColor).bold(chart)}\n${reasonLines(reasons, hasColor)}`),
  ].join('\n');

/** The setting, its value and who said so, in columns. */
export function explainText(settings: readonly Explained[]): string {
  const rows = settings.map(({id, value, source, because}) => [id, shown(value), because ? `${source}: ${because}` : source]);
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => (row[column] as string).length)));
  return rows
    .map(([id, value, source]) => `${id?.padEnd(widths[0] as number)}  ${value?.padEnd(widths[1] as number)}  ${source}\n`)
    .join('');
}

const LONGEST = 60;

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const line = text.split('\n')[0] as string;
  return line.length > LONGEST || line !== text ? `${line.slice(0, LONGEST - 1)}…` : line;
}

/** What the cluster has to have. */
export function sizingText({concurrency, cpuRequested, memoryRequested, memoryLimit, notes}: Sizing): string {
  const first = `${concurrency} ${concurrency === 1 ? 'run' : 'runs'} at the same time: ${cpuRequested} CPU and ${memoryRequested} memory requested, ${memoryLimit} memory at most\n`;
  return first + notes.map(({message, source}) => `  ${message} [${source}]\n`).join('');
}
